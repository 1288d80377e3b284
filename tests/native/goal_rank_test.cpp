/// A rank of a GOAL schedule, written from columns.

#include "analyzer/archive/native/export/goal_rank.hpp"

#include <gtest/gtest.h>

#include <array>

namespace logpost::analyzer {
namespace {

/// A nonblocking receive posted in call 0, a blocking send in call 1, the wait for the receive in call 2, and in call 3
/// an operation of which no messages are known. Rank 0 begins at 0 and ends at 10,000 ps.
struct Story {
    std::array<std::int32_t, 4> call{0, 1, 2, 3};
    std::array<std::int64_t, 4> enter{1000, 2000, 3000, 6000};
    std::array<std::int64_t, 4> leave{1500, 2500, 5000, 9000};
    std::array<std::int64_t, 4> own{500, 500, 2000, 3000};
    std::array<std::int32_t, 1> posted{0};
    std::array<std::int32_t, 1> sent{1};
    std::array<std::int32_t, 1> waited{2};
    std::array<std::int32_t, 1> met{3};
    std::array<std::int64_t, 1> row{7};
    std::array<std::int32_t, 1> peer{1};
    std::array<std::int32_t, 1> tag{0};
    std::array<std::uint64_t, 1> bytes{0};
    std::array<std::uint8_t, 1> blocking{1};
    std::array<std::int64_t, 1> of{0};
    std::array<std::int32_t, 1> instance{4};
    std::array<std::int64_t, 1> latest{8000};
    std::array<std::int32_t, 1> shape{-1};
    std::array<std::int64_t, 1> begin{0};

    [[nodiscard]] GoalRankColumns columns() const {
        GoalRankColumns found;
        found.last_ps = 10000;
        found.calls = {call, enter, leave, own};
        found.sends = {sent, row, peer, tag, bytes, blocking};
        found.receives = {posted, row, peer, tag, bytes, {}};
        found.sent = {sent, of};
        found.received = {waited, of};
        found.collectives = {met, instance, enter, latest, tag, shape};
        found.collectives.entered_ps = std::span(enter).subspan(3);
        found.shapes.begin = begin;
        return found;
    }
};

TEST(GoalRank, TellsWhatWaitsForWhat) {
    const Story story;
    GoalRank rank(story.columns(), 1);
    const auto part = rank.next(100);
    EXPECT_TRUE(rank.ended());
    // The receive need only have begun before what follows it; the wait requires it done. No rank entered the operation
    // later than at 8000 ps: 1000 ps are its own.
    EXPECT_EQ(part.text,
              "l0: calc 1000\n"
              "l1: recv 1b from 1 tag 0\nl1 requires l0\n"
              "l2: calc 500\nl2 irequires l1\n"
              "l3: send 1b to 1 tag 0\nl3 requires l2\n"
              "l4: calc 500\nl4 requires l3\n"
              "l5: calc 0\nl5 requires l4\nl5 requires l1\n"
              "l6: calc 1000\nl6 requires l5\n"
              "l7: calc 1000\nl7 requires l6\n"
              "l8: calc 1000\nl8 requires l7\n");
    EXPECT_EQ(part.empty, 2);
    EXPECT_EQ(part.calls, 4);
    EXPECT_EQ(part.call, (std::vector<std::int32_t>{-1, 0, -1, 1, -1, 2, -1, 3, -1}));
    EXPECT_EQ(part.message, (std::vector<std::int64_t>{-1, 7, -1, 7, -1, -1, -1, -1, -1}));
}

TEST(GoalRank, PartsMakeTheSameText) {
    const Story story;
    GoalRank whole(story.columns(), 1000);
    GoalRank parts(story.columns(), 1000);
    const auto expected = whole.next(100);
    std::string text;
    std::int64_t operations = 0;
    while (!parts.ended()) {
        const auto part = parts.next(1);
        EXPECT_EQ(part.first, operations);
        operations += static_cast<std::int64_t>(part.kind.size());
        text += part.text;
    }
    EXPECT_EQ(text, expected.text);
}

}  // namespace
}  // namespace logpost::analyzer
