#include "analyzer/archive/native/trace/callpaths.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace logpost::analyzer {
namespace {

TEST(CallpathTree, FindsTheSameChildAgain) {
    CallpathTree tree;
    const auto main = tree.child(CallpathTree::kRoot, 3);
    const auto a = tree.child(main, 1);
    const auto b = tree.child(main, 2);
    const auto recursive = tree.child(a, 1);
    EXPECT_NE(a, b);
    EXPECT_NE(a, recursive);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(tree.child(main, 1), a);
        EXPECT_EQ(tree.child(main, 2), b);
    }
    EXPECT_EQ(tree.parent(recursive), a);
    EXPECT_EQ(tree.size(), 5U);
}

TEST(CallpathTree, TellsCallsFromTwoPlacesApart) {
    CallpathTree tree;
    const auto main = tree.child(CallpathTree::kRoot, 3);
    const auto first = tree.child(main, 1, 7);
    const auto second = tree.child(main, 1, 8);
    const auto unknown = tree.child(main, 1);
    EXPECT_NE(first, second);
    EXPECT_NE(first, unknown);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(tree.child(main, 1, 7), first);
        EXPECT_EQ(tree.child(main, 1, 8), second);
        EXPECT_EQ(tree.child(main, 1), unknown);
    }
    EXPECT_EQ(tree.site(second), 8);
    std::vector<std::vector<std::int32_t>> renumber;
    const auto merged = merge_callpaths({&tree}, renumber);
    ASSERT_EQ(merged.size(), 4U);
    EXPECT_EQ(merged[1].site, 0);  // in the order of sites
    EXPECT_EQ(merged[2].site, 7);
    EXPECT_EQ(merged[3].site, 8);
}

TEST(CallpathTree, AgreesWithAMapUnderRandomCalls) {
    CallpathTree tree;
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> model;
    std::mt19937 random(1);
    for (int i = 0; i < 100000; ++i) {
        const auto parent = static_cast<std::int32_t>(random() % std::min<std::size_t>(tree.size(), 200));
        const auto region = static_cast<std::int32_t>(random() % 20);
        const auto child = tree.child(parent, region);
        const auto [known, fresh] = model.emplace(std::pair{parent, region}, child);
        ASSERT_EQ(known->second, child);
    }
    EXPECT_EQ(tree.size(), model.size() + 1);
}

TEST(MergeCallpaths, GivesOneOrderHoweverTheTreesGrew) {
    // main(0) -> a(1) -> b(2), main -> b, grown in different orders by two threads; the second alone saw a -> a.
    CallpathTree one;
    const auto m1 = one.child(CallpathTree::kRoot, 0);
    const auto b1 = one.child(m1, 2);
    const auto a1 = one.child(m1, 1);
    const auto ab1 = one.child(a1, 2);
    CallpathTree two;
    const auto m2 = two.child(CallpathTree::kRoot, 0);
    const auto a2 = two.child(m2, 1);
    const auto aa2 = two.child(a2, 1);
    const auto ab2 = two.child(a2, 2);

    std::vector<std::vector<std::int32_t>> renumber;
    const auto merged = merge_callpaths({&one, &two}, renumber);
    std::vector<std::vector<std::int32_t>> swapped;
    const auto again = merge_callpaths({&two, &one}, swapped);

    // Depth first, children by region: main, main/a, main/a/a, main/a/b, main/b.
    const std::vector<std::pair<std::int32_t, std::int32_t>> expected = {{-1, 0}, {0, 1}, {1, 1}, {1, 2}, {0, 2}};
    ASSERT_EQ(merged.size(), expected.size());
    for (std::size_t i = 0; i < merged.size(); ++i) {
        EXPECT_EQ(merged[i].parent, expected[i].first) << i;
        EXPECT_EQ(merged[i].region, expected[i].second) << i;
        EXPECT_EQ(again[i].parent, merged[i].parent);
        EXPECT_EQ(again[i].region, merged[i].region);
    }
    EXPECT_EQ(renumber[0][static_cast<std::size_t>(b1)], 4);
    EXPECT_EQ(renumber[0][static_cast<std::size_t>(ab1)], 3);
    EXPECT_EQ(renumber[1][static_cast<std::size_t>(ab2)], 3);
    EXPECT_EQ(renumber[1][static_cast<std::size_t>(aa2)], 2);
    EXPECT_EQ(renumber, (std::vector{swapped[1], swapped[0]}));
}

}  // namespace
}  // namespace logpost::analyzer
