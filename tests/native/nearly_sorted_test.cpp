#include "replay/native/memory/nearly_sorted.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace logpost::replay {
namespace {

using Item = std::pair<int, std::size_t>;  // its key, and its place before

bool earlier(const Item& a, const Item& b) {
    return a.first < b.first;
}

std::vector<Item> items(std::size_t n, int keys, std::mt19937& random) {
    std::vector<Item> result;
    std::uniform_int_distribution<int> key(0, keys);
    for (std::size_t i = 0; i < n; ++i) {
        result.emplace_back(key(random), i);
    }
    return result;
}

TEST(SortNearlySorted, IsAStableSortOfWhateverItGets) {
    std::mt19937 random(1);
    for (const std::size_t n : {0, 1, 2, 17, 400}) {
        auto mine = items(n, 30, random);
        auto expected = mine;
        sort_nearly_sorted(mine, earlier);
        std::ranges::stable_sort(expected, earlier);
        EXPECT_EQ(mine, expected);
    }
}

TEST(MergeRuns, OfAnyLengthAreAStableSortOfThemAll) {
    std::mt19937 random(2);
    for (const std::size_t runs : {0, 1, 2, 3, 5, 8, 13}) {
        std::vector<Item> mine;
        std::vector<std::size_t> ends;
        for (std::size_t run = 0; run < runs; ++run) {
            for (const auto& item : items(run * 7 % 5 * 3, 6, random)) {
                mine.emplace_back(item.first, mine.size());
            }
            const auto begin = ends.empty() ? 0 : ends.back();
            std::stable_sort(mine.begin() + static_cast<std::ptrdiff_t>(begin), mine.end(), earlier);
            ends.push_back(mine.size());
        }
        auto expected = mine;
        std::ranges::stable_sort(expected, earlier);
        merge_runs(mine, ends, earlier);
        EXPECT_EQ(mine, expected);
        EXPECT_LE(ends.size(), 1U);
    }
}

}  // namespace
}  // namespace logpost::replay
