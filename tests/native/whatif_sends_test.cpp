// Sends in what-if replays: those that wait in their calls for their turn at the NIC, the sender's part in a handshake,
// and Waits whose following work is before them. o_s = 10, L = 100, o_r = 20, G = 1 ps/B.

#include <gtest/gtest.h>

#include <vector>

#include "program_story.hpp"
#include "replay/native/graph/replay.hpp"

namespace logpost::replay {
namespace {

using tests::plain_machine;
using tests::ProgramStory;
using tests::Times;

/// The leaves of all calls, by location.
Times leaves(const Graph& graph, const Parameters& machine, const Setting& setting) {
    const std::vector<Setting> settings{setting};
    const auto times = Weights(graph, machine, settings).times();
    Times found;
    for (const auto leave : graph.leaves) {
        found.push_back(times[leave]);
    }
    return found;
}

Parameters with_gap(double G) {
    auto machine = plain_machine();
    for (auto& locality : machine.localities) {
        locality.ranges[0].G = G;
    }
    return machine;
}

/// Rank 0 sends three messages of 100 bytes to rank 1, whose second and third calls end at `second` and `third`.
const Program& three_sends(ProgramStory& story, std::int64_t second, std::int64_t third) {
    story.rank(0, 500);
    story.rank(1, 500);
    const Times sent{0, 10, second, third};
    // The NIC takes a message for 100: they leave at 10, 110 and 210, and have arrived L + 99 + o_r = 219 later.
    const Times received{0, 229, 329, 429};
    for (std::size_t i = 0; i < 3; ++i) {
        const auto send = story.call(0, CallKind::send, sent[i], sent[i + 1]);
        story.message(0, send, 1, story.call(1, CallKind::receive, received[i], received[i + 1]), 100);
    }
    return story.program();
}

TEST(WhatIfSends, WaitForTheirTurnWhereTheTraceShowsThatTheyDo) {
    ProgramStory story;
    const auto& program = three_sends(story, 110, 210);
    const auto machine = plain_machine();
    const auto graph = build_graph(program, machine, machine);
    EXPECT_EQ(leaves(graph, machine, {.machine = machine}), (Times{10, 110, 210, 229, 329, 429}));
    // A tenth of G: the NIC is free after 10, when the overhead is over, too. 10 + L 100 + 10 + o_r 20 = 140; each
    // later one is there when the receive before it ends, and costs o_r.
    EXPECT_EQ(leaves(graph, machine, {.machine = with_gap(0.1)}), (Times{10, 20, 30, 140, 160, 180}));
    // Twice: 200 apart; 10 + 100 + 198 + 20 = 328.
    EXPECT_EQ(leaves(graph, machine, {.machine = with_gap(2)}), (Times{10, 210, 410, 328, 528, 728}));
}

TEST(WhatIfSends, ThatReturnKeepReturning) {
    ProgramStory story;
    const auto& program = three_sends(story, 20, 30);
    const auto machine = plain_machine();
    const auto graph = build_graph(program, machine, machine);
    EXPECT_EQ(leaves(graph, machine, {.machine = machine}), (Times{10, 20, 30, 229, 329, 429}));
    EXPECT_EQ(leaves(graph, machine, {.machine = with_gap(2)}), (Times{10, 20, 30, 328, 528, 728}));
}

/// The sends of `three_sends`, of which rank 0's second one waited for its turn and its third one returned.
Decided of_sends(const Graph& graph) {
    return graph.library[static_cast<std::size_t>(LibraryProperty::sends_between_nodes)];
}

TEST(WhatIfSends, ThatWaitedOnceAndReturnedOnceAreNotDecidedByTheTrace) {
    ProgramStory story;
    const auto& program = three_sends(story, 110, 120);
    auto machine = plain_machine();
    const auto open = build_graph(program, machine, machine);
    const auto found = of_sends(open);
    EXPECT_EQ(found.places, 2);
    EXPECT_EQ(found.observations, 2);
    EXPECT_EQ(found.agree, (std::array<std::uint64_t, kMostAlternatives>{1, 1}));
    // Either alternative reproduces what was recorded; only with waits does g hold the processor.
    const auto as_recorded = leaves(open, machine, {.machine = machine});
    Times of_twice_g[2];
    for (const auto value : {std::uint8_t{0}, std::uint8_t{1}}) {
        machine.library[static_cast<std::size_t>(LibraryProperty::sends_between_nodes)] = value;
        const auto graph = build_graph(program, machine, machine);
        EXPECT_TRUE(of_sends(graph).stated);
        EXPECT_EQ(of_sends(graph).value, value);
        EXPECT_EQ(leaves(graph, machine, {.machine = machine}), as_recorded);
        of_twice_g[value] = leaves(graph, machine, {.machine = with_gap(2)});
    }
    EXPECT_LT(of_twice_g[0][2], of_twice_g[1][2]);
    EXPECT_EQ(leaves(open, plain_machine(), {.machine = with_gap(2)}), of_twice_g[0]);
}

TEST(WhatIfSends, AnsweredAHandshakeBeforeItsMessageHadCome) {
    ProgramStory story;
    // By the model rank 0's request is at rank 1 at 110, the answer back at 210, and rank 0 sees it in its Wait, at
    // 300. But rank 1 had the message at 60, and answered it before rank 0 entered its Wait: no rank waited for that.
    story.rank(0, 500);
    story.rank(1, 500);
    const auto send = story.call(0, CallKind::send_synchronous, 0, 10);
    const auto notice = story.call(0, CallKind::receive, 15, 199);
    const auto completes = story.call(0, CallKind::wait, 300, 310);
    const auto receive = story.call(1, CallKind::receive, 20, 60);
    story.message(0, send, 1, receive, 10, completes);
    story.message(1, story.call(1, CallKind::send, 60, 70), 0, notice, 10);
    auto machine = plain_machine();
    for (auto& locality : machine.localities) {
        locality.eager_limit = 5;  // its 10 bytes ask first
    }
    const auto graph = build_graph(story.program(), machine, machine);
    EXPECT_EQ(leaves(graph, machine, {.machine = machine}), (Times{10, 199, 310, 60, 70}));
}

/// Rank 1 waits for 10 synchronous bytes of rank 0 from 0 on, until `received`; rank 0 knows at `known`.
Times with_three_latencies(std::int64_t received, std::int64_t known) {
    ProgramStory story;
    story.rank(0, 900);
    story.rank(1, 900);
    const auto send = story.call(0, CallKind::send_synchronous, 0, known);
    story.message(0, send, 1, story.call(1, CallKind::receive, 0, received), 10);
    const auto machine = plain_machine();
    const auto graph = build_graph(story.program(), machine, machine);
    EXPECT_EQ(leaves(graph, machine, {.machine = machine}), (Times{known, received}));
    auto slower = machine;
    for (auto& locality : slower.localities) {
        locality.ranges[0].L = 300;
    }
    return leaves(graph, machine, {.machine = slower});
}

TEST(WhatIfSends, OfFewBytesGoAtOnceThoughTheyWaitForTheirMatch) {
    // 10 + L 100 + 9 + o_r 20 = 139, and the sender knows L after the match at 110. Three times L: 200 and 400 more.
    EXPECT_EQ(with_three_latencies(139, 210), (Times{610, 339}));
    // With a handshake the data leaves at 210, and has arrived at 339: three times L is 600 more. The sender is done at
    // 219.
    EXPECT_EQ(with_three_latencies(339, 219), (Times{619, 939}));
    // Both know at the same time: the network has matched them. The sender at 119.
    EXPECT_EQ(with_three_latencies(139, 119), (Times{319, 339}));
}

TEST(WhatIfSends, WhoseTransferBeginsAtTheMatchWaitForTheReceive) {
    ProgramStory story;
    // 10 + L 100 + 9: the sender knows at 119, the receiver has worked at 139. The second is sent at 130 and posted at
    // 500: it arrives at 609.
    story.rank(0, 2000);
    story.rank(1, 2000);
    const auto first = story.call(0, CallKind::send_synchronous, 0, 119);
    const auto second = story.call(0, CallKind::send_synchronous, 120, 609);
    story.message(0, first, 1, story.call(1, CallKind::receive, 0, 139), 10);
    story.message(0, second, 1, story.call(1, CallKind::receive, 500, 629), 10);
    const auto machine = plain_machine();
    const auto graph = build_graph(story.program(), machine, machine);
    EXPECT_EQ(leaves(graph, machine, {.machine = machine}), (Times{119, 609, 139, 629}));
    auto slower = machine;
    for (auto& locality : slower.localities) {
        locality.ranges[0].L = 300;
    }
    // 200 more each: the receive is posted 361 behind the first one, at 700, and its message arrives 300 and 9 later.
    EXPECT_EQ(leaves(graph, machine, {.machine = slower}), (Times{319, 1009, 339, 1029}));
}

TEST(WhatIfSends, SynchronousThatContradictEachOtherAreNotDecidedByTheTrace) {
    ProgramStory story;
    // The first one's data arrives at 119 without a handshake, its acknowledgement at 210; the second one has three
    // latencies: 300 + 10 + 300 + 9 + o_r 20 = 639.
    story.rank(0, 2000);
    story.rank(1, 2000);
    const auto first = story.call(0, CallKind::send_synchronous, 0, 210);
    const auto second = story.call(0, CallKind::send_synchronous, 300, 519);
    story.message(0, first, 1, story.call(1, CallKind::receive, 0, 139), 10);
    story.message(0, second, 1, story.call(1, CallKind::receive, 300, 639), 10);
    const auto& program = story.program();
    auto machine = plain_machine();
    constexpr auto kProperty = static_cast<std::size_t>(LibraryProperty::synchronous_sends);
    const auto found = build_graph(program, machine, machine).library[kProperty];
    EXPECT_EQ(found.places, 2);
    // The first receiver excludes a handshake, the second one all else; both senders exclude a match.
    EXPECT_EQ(found.observations, 4);
    EXPECT_EQ(found.agree, (std::array<std::uint64_t, kMostAlternatives>{3, 3, 1}));
    for (std::uint8_t value = 0; value < 3; ++value) {
        machine.library[kProperty] = value;
        const auto graph = build_graph(program, machine, machine);
        EXPECT_EQ(graph.library[kProperty].value, value);
        EXPECT_EQ(leaves(graph, machine, {.machine = machine}), (Times{210, 519, 139, 639}));
    }
}

TEST(WhatIfSends, WorkBehindWaitsStandsBeforeThemWhereTheyOverlap) {
    ProgramStory story;
    story.rank(0, 100);
    story.rank(1, 1000);
    const auto first = story.call(0, CallKind::send, 0, 10);
    const auto second = story.call(0, CallKind::send, 10, 20);
    // Posted at 0; they arrive at 10 + 100 + 9 + 20 = 139 and 149, but o_r follows o_r. Work: 50 behind the first Wait,
    // 200 behind the second.
    const auto posted = story.call(1, CallKind::receive_nonblocking, 0, 0);
    const auto also = story.call(1, CallKind::receive_nonblocking, 0, 0);
    const auto wait = story.call(1, CallKind::wait, 0, 139);
    const auto then = story.call(1, CallKind::wait, 189, 209);
    story.call(1, CallKind::other, 409, 409);
    story.message(0, first, 1, posted, 10, {}, wait);
    story.message(0, second, 1, also, 10, {}, then);
    const auto& program = story.program();
    const auto machine = plain_machine();
    const auto same = build_graph(program, machine, machine);
    EXPECT_EQ(leaves(same, machine, {.machine = machine}), (Times{10, 20, 0, 0, 139, 209, 409}));
    const auto graph = build_graph(program, machine, machine, nullptr, nullptr, true);
    // 250 of work, then o_r twice; the last call follows at once.
    EXPECT_EQ(leaves(graph, machine, {.machine = machine}), (Times{10, 20, 0, 0, 270, 290, 290}));
    // Half of the work: the first message is there at 139, whose o_r ends at 145 at the earliest.
    EXPECT_EQ(leaves(graph, machine, {.machine = machine, .compute = 0.5}), (Times{10, 20, 0, 0, 145, 165, 165}));
}

TEST(WhatIfPath, SumsWhatRecordedTimesContradict) {
    // o_s + L + o_r = 10 + 100 + 20: the receive is over 30 before that.
    ProgramStory story;
    story.rank(0, 90);
    story.rank(1, 100);
    const auto send = story.call(0, CallKind::send, 0, 10);
    story.message(0, send, 1, story.call(1, CallKind::receive, 50, 100), 1);
    const auto& program = story.program();
    const auto machine = plain_machine();
    const auto graph = build_graph(program, machine, machine);
    const std::vector<Setting> settings{{.machine = machine}};
    const Weights weights(graph, machine, settings);
    const auto path = critical_path(graph, sources_of(graph), weights, settings, weights.times(), 0);
    EXPECT_EQ(path.makespan_ps, 100);
    EXPECT_EQ(path.short_ps, 30);
    EXPECT_EQ(path.early_ps, 10);  // the first byte arrives at 110
}

}  // namespace
}  // namespace logpost::replay
