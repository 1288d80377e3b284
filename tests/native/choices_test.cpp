// Waitany in what-if replays: on another machine requests complete in another order. o_s = 10, L = 100, o_r = 20.

#include "replay/native/graph/choices.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "program_story.hpp"
#include "replay/native/graph/outcomes.hpp"
#include "replay/native/graph/reordered.hpp"
#include "replay/native/graph/replay.hpp"

namespace logpost::replay {
namespace {

using tests::plain_machine;
using tests::ProgramStory;

/// Rank 0 waits for a byte each of ranks 1, 2 and 3, and replies to each at once. Rank 1 sends at 20, rank 2 at 50,
/// rank 3 at 900.
const Program& three_arrivals(ProgramStory& story) {
    for (int rank = 0; rank < 4; ++rank) {
        story.rank(rank, 5000);
    }
    // They arrive at 10 + L 100 and cost o_r 20: 150, 180, 1030; each reply costs o_s 10, and is there 120 later.
    const std::vector<std::uint32_t> sends{story.call(1, CallKind::send, 20, 30), story.call(2, CallKind::send, 50, 60),
                                           story.call(3, CallKind::send, 900, 910)};
    const std::vector<std::int64_t> sent{30, 60, 910}, arrived{150, 180, 1030};
    std::vector<std::uint32_t> posts, waits, replies;
    for (int i = 0; i < 3; ++i) {
        posts.push_back(story.call(0, CallKind::receive_nonblocking, 0, 0));
    }
    std::int64_t since = 0;
    for (const auto at : arrived) {
        const auto callpath = static_cast<std::int32_t>(kCallKinds - 1 - waits.size());  // a separate one
        waits.push_back(story.call(0, CallKind::wait_multi, since, at, callpath));
        replies.push_back(story.call(0, CallKind::send, at, at + 10));
        since = at + 10;
    }
    for (std::size_t i = 0; i < 3; ++i) {
        const auto rank = static_cast<std::int32_t>(i + 1);
        story.message(rank, sends[i], 0, posts[i], 1, {}, waits[i]);
        const auto back = story.call(rank, CallKind::receive, sent[i], arrived[i] + 130);
        story.message(0, replies[i], rank, back, 1);
    }
    return story.program();
}

std::vector<std::int64_t> answered(const Program& program, const Graph& graph, const Setting& setting) {
    const auto machine = plain_machine();
    const std::vector<Setting> settings{setting};
    const auto times = Weights(graph, machine, settings).times();
    std::vector<std::int64_t> found;
    for (std::size_t l = 1; l < 4; ++l) {
        found.push_back(times[graph.leaves[graph.first_call[l] + program.timelines[l].calls.size() - 1]]);
    }
    return found;
}

TEST(Choices, AreTakenInTheOrderInWhichRequestsComplete) {
    ProgramStory story;
    const auto& program = three_arrivals(story);
    const auto machine = plain_machine();
    const auto graph = build_graph(program, machine, machine);
    ASSERT_TRUE(chooses(program));
    const auto found = choices_of(program, graph, sources_of(graph));
    ASSERT_EQ(found.rows.size(), 1U);
    EXPECT_EQ(found.all.size(), 3U);
    const Setting same{.machine = machine};
    EXPECT_EQ(answered(program, graph, same), (std::vector<std::int64_t>{280, 310, 1160}));
    EXPECT_FALSE(reordered(program, graph, machine, same).has_value());
    // Rank 1 computes ten times as long: it sends at 200, and its message has arrived at 330. In recorded order rank 2
    // waits for that: taken at 350, answered 130 later.
    const Setting late{.machine = machine, .by_location = {1, 10, 1, 1}};
    EXPECT_EQ(answered(program, graph, late), (std::vector<std::int64_t>{460, 490, 1160}));
    // Rank 0 takes rank 2's message when it arrives.
    const auto other = reordered(program, graph, machine, late);
    ASSERT_TRUE(other.has_value());
    EXPECT_EQ(answered(program, *other, late), (std::vector<std::int64_t>{460, 310, 1160}));
    // Between calls ranks only compute, whatever follows what: 200 on rank 1, 50 on rank 2 and 900 on rank 3.
    const std::vector<Setting> settings{late};
    const auto found_there = outcomes(*other, Weights(*other, machine, settings), settings).front();
    WidePs between = 0;
    for (const auto ps : found_there.between_calls_ps) {
        EXPECT_GE(ps, 0);
        between += ps;
    }
    EXPECT_EQ(between, 200 + 50 + 900);
}

TEST(Choices, TakeOfASendAndAReceiveThatAreCompleteTheOneThatTheyTookInTheTrace) {
    // Rank 0 sends a byte to rank 1, and computes until 300: then the send and two messages are complete. It takes the
    // messages first; rank 3's arrives at 1010.
    ProgramStory story;
    for (int rank = 0; rank < 4; ++rank) {
        story.rank(rank, 5000);
    }
    std::vector<std::uint32_t> posts;
    for (int i = 0; i < 3; ++i) {
        posts.push_back(story.call(0, CallKind::receive_nonblocking, 0, 0));
    }
    const auto sent = story.call(0, CallKind::send_nonblocking, 0, 10);
    const auto first = story.call(0, CallKind::wait_multi, 300, 320);
    const auto second = story.call(0, CallKind::wait_multi, 320, 340);
    const auto left = story.call(0, CallKind::wait_multi, 340, 340);
    const auto last = story.call(0, CallKind::wait_multi, 340, 1030);
    story.message(1, story.call(1, CallKind::send, 20, 30), 0, posts[0], 1, {}, first);
    story.message(2, story.call(2, CallKind::send, 30, 40), 0, posts[1], 1, {}, second);
    story.message(3, story.call(3, CallKind::send, 900, 910), 0, posts[2], 1, {}, last);
    story.message(0, sent, 1, story.call(1, CallKind::receive, 30, 130), 1, left);
    const auto& program = story.program();
    const auto machine = plain_machine();
    const auto graph = build_graph(program, machine, machine);
    const Setting same{.machine = machine};
    EXPECT_FALSE(reordered(program, graph, machine, same).has_value());
    // Rank 1 sends at 200, and its message arrives at 310: it is taken behind the one of rank 2, and before the send.
    const Setting late{.machine = machine, .by_location = {1, 10, 1, 1}};
    const auto other = reordered(program, graph, machine, late);
    ASSERT_TRUE(other.has_value());
    const std::vector<Setting> settings{late};
    const auto times = Weights(*other, machine, settings).times();
    EXPECT_EQ(times[other->leaves[second]], 320);
    EXPECT_EQ(times[other->leaves[first]], 340);
    EXPECT_EQ(times[other->leaves[left]], 340);
}

TEST(Choices, AreNoneOfCallsThatCompleteSeveral) {
    ProgramStory story;
    story.rank(0, 1000);
    story.rank(1, 1000);
    const auto send = story.call(0, CallKind::send, 0, 10);
    const auto also = story.call(0, CallKind::send, 10, 20);
    const auto post = story.call(1, CallKind::receive_nonblocking, 0, 0);
    const auto next = story.call(1, CallKind::receive_nonblocking, 0, 0);
    const auto wait = story.call(1, CallKind::wait_multi, 0, 160);
    story.message(0, send, 1, post, 1, {}, wait);
    story.message(0, also, 1, next, 1, {}, wait);
    EXPECT_FALSE(chooses(story.program()));
}

}  // namespace
}  // namespace logpost::replay
