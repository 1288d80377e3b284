// Edges by their targets, with room for those that queues add.

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "replay/native/graph/draft.hpp"

namespace logpost::replay {
namespace {

using Sources = std::vector<std::uint32_t>;

Sources sources_of(const Incoming& incoming, std::uint32_t node) {
    Sources found;
    for (auto i = incoming.first[node]; i < incoming.end(node); ++i) {
        found.push_back(incoming.edges[i].source);
    }
    return found;
}

// 0 -> 2, 1 -> 2, 2 -> 3, 0 -> 3, 3 -> 4
HugeColumn<DraftEdge> edges() {
    return {{0, 2, 7}, {2, 3, 7}, {1, 2, 7}, {0, 3, 7}, {3, 4, 7}};
}

TEST(Incoming, EdgesStandByTheirTargetsAsTheyWereAdded) {
    const Incoming incoming(edges(), 5, true);
    EXPECT_EQ(sources_of(incoming, 0), Sources());
    EXPECT_EQ(sources_of(incoming, 2), (Sources{0, 1}));
    EXPECT_EQ(sources_of(incoming, 3), (Sources{2, 0}));
    EXPECT_EQ(sources_of(incoming, 4), (Sources{3}));
    EXPECT_EQ(incoming.numbers, (HugeColumn<std::uint32_t>{0, 2, 1, 3, 4}));
}

TEST(Incoming, RoomIsBehindTheEdgesOfANode) {
    Incoming incoming(edges(), 5, true);
    incoming.make_room([](const auto& visit) {
        for (const std::uint32_t node : {4, 2, 0, 4}) {
            visit(node);
        }
    });
    EXPECT_EQ(incoming.count(), 5U);
    EXPECT_EQ(sources_of(incoming, 0), Sources());
    EXPECT_EQ(sources_of(incoming, 2), (Sources{0, 1}));
    EXPECT_EQ(sources_of(incoming, 4), (Sources{3}));
    incoming.put({2, 4, 8});
    incoming.put({0, 2, 9});
    incoming.put({1, 4, 9});
    EXPECT_EQ(sources_of(incoming, 0), Sources());
    EXPECT_EQ(sources_of(incoming, 2), (Sources{0, 1, 0}));
    EXPECT_EQ(sources_of(incoming, 3), (Sources{2, 0}));
    EXPECT_EQ(sources_of(incoming, 4), (Sources{3, 2, 1}));
    // Numbers continue behind those of the first edges.
    const auto last = incoming.end(4) - 1;
    EXPECT_EQ(incoming.numbers[last], 7U);
    EXPECT_EQ(incoming.edges[last].row(), 9U);
    EXPECT_EQ(incoming.count(), 8U);
}

}  // namespace
}  // namespace logpost::replay
