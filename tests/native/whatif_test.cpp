// What-if replays of tiny programs: unchanged they give back the measured times; changed, the times follow from the
// machine: o_s = 10, L = 100, o_r = 20, G = 1 ps/B.

#include <gtest/gtest.h>

#include <cmath>
#include <span>

#include <numeric>

#include "program_story.hpp"
#include "replay/native/graph/outcomes.hpp"
#include "replay/native/graph/reordered.hpp"
#include "replay/native/graph/replay.hpp"

namespace logpost::replay {
namespace {

using tests::plain_machine;
using tests::ProgramStory;
using tests::Times;

struct Outcome {
    std::int64_t makespan;
    std::vector<std::int64_t> leaves;  // of all calls, by location
    CriticalPath path;
};

Outcome replay(const Graph& graph, const Parameters& machine, const Setting& setting) {
    const std::vector<Setting> settings{setting};
    const Weights weights(graph, machine, settings);
    const auto times = weights.times();
    Outcome outcome;
    for (const auto leave : graph.leaves) {
        outcome.leaves.push_back(times[leave]);
    }
    outcome.path = critical_path(graph, replay::sources_of(graph), weights, settings, times, 0);
    outcome.makespan = outcome.path.makespan_ps;
    EXPECT_EQ(std::accumulate(outcome.path.parts.begin(), outcome.path.parts.end(), std::int64_t{0}), outcome.makespan);
    return outcome;
}

std::int64_t part(const CriticalPath& path, PathPart of) {
    return path.parts[static_cast<std::size_t>(of)];
}

Parameters with_latency(double L) {
    auto machine = plain_machine();
    for (auto& locality : machine.localities) {
        locality.ranges[0].L = L;
    }
    return machine;
}

/// Rank 0 computes until 100 and sends 10 bytes; rank 1 waits for them from 0 on, until `received`.
const Program& late_sender(ProgramStory& story, std::int64_t received) {
    story.rank(0, 200);
    story.rank(1, received + 11);
    story.message(0, story.call(0, CallKind::send, 100, 110), 1, story.call(1, CallKind::receive, 0, received), 10);
    return story.program();
}

/// Rank 0 starts up until `started`, sends 10 bytes 50 later and shuts down at 230; rank 1 starts up until 50, receives
/// them from 60 on, and shuts down 61 later.
const Program& started_up(ProgramStory& story, std::int64_t started) {
    // Sent at s: s + o_s 10 + L 100 + 9 B 9 + o_r 20 = s + 139.
    const auto sent = started + 50;
    story.rank(0, 240);
    story.rank(1, 400);
    story.call(0, CallKind::initialize, 10, started);
    story.call(1, CallKind::initialize, 10, 50);
    const auto send = story.call(0, CallKind::send, sent, sent + 10);
    const auto receive = story.call(1, CallKind::receive, 60, sent + 139);
    story.message(0, send, 1, receive, 10);
    story.call(0, CallKind::finalize, 230, 235);
    story.call(1, CallKind::finalize, sent + 200, 390);
    return story.program();
}

TEST(WhatIf, ALengthIsOfTheProgramWithoutStartUpAndShutDown) {
    ProgramStory story;
    const auto machine = plain_machine();
    const auto& program = started_up(story, 50);
    const auto graph = build_graph(program, machine, machine);
    const auto same = replay(graph, machine, {.machine = machine});
    // Rank 0: 230 - 50. Rank 1: 50 + 50 + 200 - 50.
    EXPECT_EQ(same.makespan, 250);
    EXPECT_EQ(part(same.path, PathPart::start), 0);
    EXPECT_EQ(part(same.path, PathPart::compute), 50 + 61);
    EXPECT_EQ(part(same.path, PathPart::other), 0);
    // Start-up stays as it was: only what follows it is faster. 25 + 139 + 61 / 2, rounded up.
    EXPECT_EQ(replay(graph, machine, {.machine = machine, .compute = 0.5}).makespan, 25 + 139 + 31);
}

TEST(WhatIf, AnotherRanksStartUpIsWaitedFor) {
    ProgramStory story;
    const auto machine = plain_machine();
    const auto& program = started_up(story, 80);
    const auto graph = build_graph(program, machine, machine);
    const auto same = replay(graph, machine, {.machine = machine});
    // Rank 1 began at 50, when rank 0 was to start up for another 30.
    EXPECT_EQ(same.makespan, 30 + 50 + 200);
    EXPECT_EQ(part(same.path, PathPart::start), 30);
    EXPECT_EQ(part(same.path, PathPart::compute), 50 + 61);
}

TEST(WhatIf, WhatARankDidBeforeAnotherOneBeganIsNoPartOfThatOnesProgram) {
    ProgramStory story;
    const auto machine = plain_machine();
    const auto& program = started_up(story, 20);
    const auto graph = build_graph(program, machine, machine);
    const auto same = replay(graph, machine, {.machine = machine});
    // Rank 0: 230 - 20 = 210. Rank 1: 20 + 50 + 200 - 50 = 220, of which rank 0 computes from 50 to 70.
    EXPECT_EQ(same.makespan, 220);
    EXPECT_EQ(part(same.path, PathPart::start), 0);
    EXPECT_EQ(part(same.path, PathPart::compute), 20 + 61);
    // It depends on all of that computation, nevertheless.
    EXPECT_EQ(same.path.compute_ps, 50 + 61);
}

TEST(WhatIf, WhatWasNotRecordedIsNoPartOfALength) {
    ProgramStory story;
    story.rank(0, 120);
    story.call(0, CallKind::initialize, 0, 10);
    story.call(0, CallKind::send, 12, 15);
    story.call(0, CallKind::not_recorded, 20, 50);
    story.call(0, CallKind::send, 60, 63);
    story.call(0, CallKind::finalize, 100, 110);
    const auto machine = plain_machine();
    const auto& program = story.program();
    const auto graph = build_graph(program, machine, machine);
    const auto same = replay(graph, machine, {.machine = machine});
    EXPECT_EQ(same.makespan, (100 - 10) - (50 - 20));
    EXPECT_EQ(part(same.path, PathPart::start), 0);
    EXPECT_EQ(part(same.path, PathPart::compute), 2 + 5 + 10 + 37);
    EXPECT_EQ(part(same.path, PathPart::other), 3 + 3);
}

TEST(WhatIf, AReceivesLeaveFollowsItsMessage) {
    ProgramStory story;
    // 100 + o_s 10 + L 100 + 9 B 9 + o_r 20 = 239
    const auto& program = late_sender(story, 239);
    const auto machine = plain_machine();
    const auto graph = build_graph(program, machine, machine);

    const auto same = replay(graph, machine, {.machine = machine});
    EXPECT_EQ(same.leaves, (Times{110, 239}));
    EXPECT_EQ(same.makespan, 250);
    EXPECT_EQ(part(same.path, PathPart::compute), 100 + 11);
    EXPECT_EQ(part(same.path, PathPart::send_overhead), 10);
    EXPECT_EQ(part(same.path, PathPart::latency), 100);
    EXPECT_EQ(part(same.path, PathPart::serialization), 9);
    EXPECT_EQ(part(same.path, PathPart::recv_overhead), 20);
    const auto& far = same.path.sensitivities[static_cast<std::size_t>(Locality::other_node)];
    EXPECT_EQ(far.L, 1);
    EXPECT_EQ(far.o_s, 1);
    EXPECT_EQ(far.o_r, 1);
    EXPECT_EQ(far.G, 9);
    EXPECT_EQ(same.path.compute_ps, 111);

    EXPECT_EQ(replay(graph, machine, {.machine = with_latency(200)}).leaves, (Times{110, 339}));
    // The computation before the send takes 50, that after the receive 5.5: 189 + 6.
    EXPECT_EQ(replay(graph, machine, {.machine = machine, .compute = 0.5}).makespan, 195);
    EXPECT_EQ(replay(graph, machine, {.machine = machine, .by_location = {0, 1}}).leaves, (Times{10, 139}));
    const std::vector<double> nothing(kCallKinds, 0.0);
    EXPECT_EQ(replay(graph, machine, {.machine = machine, .by_callpath = nothing}).leaves, (Times{10, 139}));
}

TEST(WhatIf, WhatTheModelDoesNotExplainStays) {
    ProgramStory story;
    const auto& program = late_sender(story, 300);  // 61 more than the model's 239
    const auto machine = plain_machine();
    const auto graph = build_graph(program, machine, machine);
    const auto same = replay(graph, machine, {.machine = machine});
    EXPECT_EQ(same.leaves, (Times{110, 300}));
    EXPECT_EQ(part(same.path, PathPart::residual), 61);
    EXPECT_EQ(replay(graph, machine, {.machine = with_latency(50)}).leaves, (Times{110, 250}));
}

TEST(WhatIf, AMessageFasterThanTheModelGivesItsMeasuredTimeToo) {
    ProgramStory story;
    const auto& program = late_sender(story, 189);  // 50 less than the model
    const auto machine = plain_machine();
    const auto graph = build_graph(program, machine, machine);
    EXPECT_EQ(replay(graph, machine, {.machine = machine}).leaves, (Times{110, 189}));
    EXPECT_EQ(replay(graph, machine, {.machine = with_latency(300)}).leaves, (Times{110, 389}));
}

/// Rank 0 sends 10 bytes by rendezvous at 0; rank 1 computes until 500, and receives.
/// Request there at 110, match at 500 + o_s 10, clear-to-send there at 610, sent from 620 until 629;
/// received at 620 + L 100 + 9 + o_r 20 = 749.
const Program& late_receiver(ProgramStory& story) {
    story.rank(0, 629);
    story.rank(1, 749);
    story.message(0, story.call(0, CallKind::send, 0, 629), 1, story.call(1, CallKind::receive, 500, 749), 10);
    return story.program();
}

Parameters with_handshake() {
    auto machine = plain_machine();
    for (auto& locality : machine.localities) {
        locality.eager_limit = 5;
    }
    return machine;
}

TEST(WhatIf, ARendezvousWaitsForItsReceiver) {
    ProgramStory story;
    const auto& program = late_receiver(story);
    const auto machine = with_handshake();
    const auto graph = build_graph(program, machine, machine);
    const auto same = replay(graph, machine, {.machine = machine});
    EXPECT_EQ(same.leaves, (Times{629, 749}));
    EXPECT_EQ(part(same.path, PathPart::residual), 0);
    EXPECT_EQ(part(same.path, PathPart::handshake), 20);
    // Rank 1 is there at once: match at 110 + 10, sent from 230 until 239, received at 230 + 100 + 9 + 20.
    EXPECT_EQ(replay(graph, machine, {.machine = machine, .by_location = {1, 0}}).leaves, (Times{239, 359}));
}

TEST(WhatIf, AnotherProtocolIsBuiltAsTheModelHasIt) {
    ProgramStory story;
    const auto& program = late_receiver(story);
    const auto machine = with_handshake();
    const auto eager = plain_machine();
    const auto graph = build_graph(program, machine, eager);
    EXPECT_EQ(graph.rebuilt, 1U);
    // The send takes o_s; the message is there at 119, long before the receive at 500, which takes o_r.
    EXPECT_EQ(replay(graph, machine, {.machine = eager}).leaves, (Times{10, 520}));
}

TEST(WhatIf, WithAsynchronousProgressAHandshakeNeedsNoProcessor) {
    ProgramStory story;
    const auto& program = late_receiver(story);
    const auto machine = with_handshake();
    auto asynchronous = machine;
    asynchronous.asynchronous_progress = true;
    const auto graph = build_graph(program, machine, asynchronous);
    EXPECT_EQ(graph.rebuilt, 1U);
    // Match at 500, clear-to-send at 600, sent until 609, received at 729.
    EXPECT_EQ(replay(graph, machine, {.machine = asynchronous}).leaves, (Times{609, 729}));
}

/// Rank 1 posts a receive at 0, computes 150 and `between` between Tests of 5, and finds the message of rank 0, sent at
/// 0, in the second one; it computes on until 1000, and enters a barrier.
Times tested(std::int64_t between, const Parameters& changed) {
    ProgramStory story;
    story.rank(0, 1130);
    story.rank(1, 1130);
    const auto send = story.call(0, CallKind::send, 0, 10);
    story.call(1, CallKind::receive_nonblocking, 0, 1);
    story.call(1, CallKind::test, 151, 156);
    const auto found = story.call(1, CallKind::test, 156 + between, 161 + between);
    story.message(0, send, 1, found, 10);
    story.collective(0, story.call(0, CallKind::barrier, 10, 1130), Operation::barrier);
    story.collective(1, story.call(1, CallKind::barrier, 1000, 1130), Operation::barrier);
    const auto& program = story.program();
    const auto machine = plain_machine();
    const auto graph = build_graph(program, machine, machine);
    EXPECT_EQ(replay(graph, machine, {.machine = machine}).leaves, (Times{10, 1130, 1, 156, 161 + between, 1130}));
    return replay(graph, machine, {.machine = changed}).leaves;
}

TEST(WhatIf, ATestBetweenComputationWaitsForNothing) {
    // With L = 400 the message is there at 439, when rank 1 computes: nothing changes but the barrier's own latency.
    EXPECT_EQ(tested(150, with_latency(400)), (Times{10, 1430, 1, 156, 311, 1130}));
    // With L = 2000 it is there at 10 + 2000 + 9 + 20, and rank 1 enters the barrier no earlier: it is the last one,
    // and its own round takes overheads alone; rank 0 has its message after o_s + L + o_r.
    const auto late = tested(150, with_latency(2000));
    EXPECT_EQ(late[4], 311);
    EXPECT_EQ(late[1], 2039 + 2030);
}

TEST(WhatIf, TestsInARowWaitAsTheirMessageDoes) {
    // 50 between them is less than a latency: the second Test lasts until its message is there, at 10 + 400 + 9 + 20.
    EXPECT_EQ(tested(50, with_latency(400))[4], 439);
}

TEST(WhatIf, MessagesQueueAtTheirNic) {
    auto machine = plain_machine();
    const auto with_gap = [&](double g) {
        auto changed = machine;
        for (auto& locality : changed.localities) {
            locality.ranges[0].g = g;
        }
        return changed;
    };
    machine = with_gap(50);
    ProgramStory story;
    story.rank(0, 20);
    story.rank(1, 180);
    // Injected at 10 and, one gap later, at 60: received at 10 + 100 + 20 and 60 + 100 + 20.
    story.message(0, story.call(0, CallKind::send, 0, 10), 1, story.call(1, CallKind::receive, 0, 130), 1);
    story.message(0, story.call(0, CallKind::send, 10, 20), 1, story.call(1, CallKind::receive, 130, 180), 1);
    const auto& program = story.program();
    const auto graph = build_graph(program, machine, machine);
    const auto same = replay(graph, machine, {.machine = machine});
    EXPECT_EQ(same.leaves, (Times{10, 20, 130, 180}));
    EXPECT_EQ(same.path.sensitivities[static_cast<std::size_t>(Locality::other_node)].g, 1);
    EXPECT_EQ(replay(graph, machine, {.machine = with_gap(100)}).leaves, (Times{10, 20, 130, 230}));
    // Without a gap the second one is injected at 20, and its receive is bound by its message: 20 + 100 + 20, but the
    // first receive takes until 130, and o_r 20.
    EXPECT_EQ(replay(graph, machine, {.machine = with_gap(0)}).leaves, (Times{10, 20, 130, 150}));
}

TEST(WhatIf, ANicTakesWhoComesFirstOnTheOtherMachine) {
    const auto with = [](double L) {
        auto machine = with_latency(L);
        for (auto& locality : machine.localities) {
            locality.ranges[0].g = 50;
        }
        return machine;
    };
    ProgramStory story;
    story.rank(0, 2000);  // queries 2, and queries again
    story.rank(0, 2000);  // on the same node: computes, and sends to 3
    story.rank(1, 2000);
    story.rank(2, 2000);
    // Injected at 10, 140 and 270: received 100 + 20 later.
    story.message(0, story.call(0, CallKind::send, 0, 10), 2, story.call(2, CallKind::receive, 0, 130), 1);
    story.message(2, story.call(2, CallKind::send, 130, 140), 0, story.call(0, CallKind::receive, 10, 260), 1);
    story.message(0, story.call(0, CallKind::send, 260, 270), 2, story.call(2, CallKind::receive, 140, 390), 1);
    // Injected at 330, a gap of 50 and 10 more behind the second question.
    story.message(1, story.call(1, CallKind::send, 320, 330), 3, story.call(3, CallKind::receive, 0, 450), 1);
    const auto& program = story.program();
    const auto graph = build_graph(program, with(100), with(100));
    // At L = 200 the second question is injected at 470. In recorded order the other message would wait until 520.
    EXPECT_EQ(replay(graph, with(100), {.machine = with(200)}).leaves, (Times{10, 460, 470, 330, 230, 240, 690, 740}));
    const auto other = reordered(program, graph, with(100), {.machine = with(200)});
    ASSERT_TRUE(other.has_value());
    EXPECT_EQ(replay(*other, with(100), {.machine = with(200)}).leaves, (Times{10, 460, 470, 330, 230, 240, 690, 550}));
    EXPECT_FALSE(reordered(program, graph, with(100), {.machine = with(100)}).has_value());
}

TEST(WhatIf, ABarrierWaitsForItsLastMember) {
    ProgramStory story;
    story.rank(0, 1200);
    story.rank(1, 1200);
    story.collective(0, story.call(0, CallKind::barrier, 0, 1200), Operation::barrier);
    story.collective(1, story.call(1, CallKind::barrier, 1000, 1200), Operation::barrier);
    const auto& program = story.program();
    const auto machine = plain_machine();
    const auto graph = build_graph(program, machine, machine);
    const auto same = replay(graph, machine, {.machine = machine});
    EXPECT_EQ(same.leaves, (Times{1200, 1200}));
    EXPECT_EQ(part(same.path, PathPart::compute), 1000);
    EXPECT_EQ(part(same.path, PathPart::collective), 130);  // one round
    EXPECT_EQ(part(same.path, PathPart::other), 70);        // what it does not explain
    // The last member finds the other's message there.
    EXPECT_EQ(replay(graph, machine, {.machine = with_latency(200)}).leaves, (Times{1300, 1200}));
    EXPECT_EQ(replay(graph, machine, {.machine = machine, .compute = 0.5}).leaves, (Times{700, 700}));
}

/// Every rank enters one operation and leaves it when the model has it do so: o_s 10, L 100, o_r 20, 7 for the other 7
/// of 8 bytes.
class Together : public ::testing::Test {
  protected:
    /// The leaves with L = 200 in place of 100.
    Times with_twice_the_latency(CallKind kind, Operation operation, const Times& enters, const Times& leaves,
                                 std::int32_t root = -1) {
        for (std::size_t l = 0; l < enters.size(); ++l) {
            const auto here = static_cast<std::int32_t>(l);
            story.rank(here, 3000);
            story.collective(here, story.call(here, kind, enters[l], leaves[l]), operation, root);
        }
        const auto& program = story.program();
        const auto machine = plain_machine();
        const auto graph = build_graph(program, machine, machine);
        EXPECT_EQ(replay(graph, machine, {.machine = machine}).leaves, leaves);
        return replay(graph, machine, {.machine = with_latency(200)}).leaves;
    }
    ProgramStory story;
};

TEST_F(Together, DisseminationIsFollowedRoundByRound) {
    // First round, from the one before: 0 gets the late member's message at 1130, which itself is at 1030.
    // Second round, from two before: 0 at 1160, 1 at 1030 + 130, 2 at 1130 + 130, 3 at 1060.
    // At L = 200: first 1230 and 1030; then 1260, 1030 + 230, 1230 + 230, 1060.
    EXPECT_EQ(with_twice_the_latency(CallKind::barrier, Operation::barrier, {0, 0, 0, 1000}, {1160, 1160, 1260, 1060}),
              (Times{1260, 1260, 1460, 1060}));
}

TEST_F(Together, RecursiveDoublingFoldsWhatIsBeyondAPowerOfTwo) {
    // 2 sends to 0: 137. Then 0 and 1 exchange: 0 has 1's message and is at 137 + 30, 1 at 137 + 137. 0 sends to 2: 167
    // + 10 for itself, 167 + 137 there. At L = 200: 237; 267 and 474; 277 and 267 + 237.
    EXPECT_EQ(with_twice_the_latency(CallKind::collective, Operation::allreduce, {0, 0, 0}, {177, 274, 304}),
              (Times{277, 474, 504}));
}

TEST_F(Together, AnAllToAllIsFollowedPairByPair) {
    // 2 bytes a message: 131 from the one before, or o_s and o_r where it is there. First round: 0 has the late
    // member's at 631, 1 has 0's at 131, and the late one finds 1's: 530. Second round, from two before: 0 finds 1's
    // and is done at 631 + 30, 1 has it at 530 + 131, 2 at 631 + 131. At L = 200: 731, 231, 530; 761, 761, 962.
    EXPECT_EQ(with_twice_the_latency(CallKind::collective, Operation::alltoall, {0, 0, 500}, {661, 661, 762}),
              (Times{761, 761, 962}));
}

TEST_F(Together, AnAllgatherSendsWhatItHasSoFar) {
    // Bruck: 2 bytes from the one before, then one block, as three members need no more, from two before: 131 each.
    EXPECT_EQ(with_twice_the_latency(CallKind::collective, Operation::allgather, {0, 0, 0}, {262, 262, 262}),
              (Times{462, 462, 462}));
}

TEST_F(Together, AReduceScatterHalvesWhatItExchanges) {
    // 2 bytes for each of 4: 4 bytes with the one two away, 2 with the next one: 133 and 131.
    EXPECT_EQ(with_twice_the_latency(CallKind::collective, Operation::reduce_scatter_block, {0, 0, 0, 0},
                                     {264, 264, 264, 264}),
              (Times{464, 464, 464, 464}));
}

TEST_F(Together, AMemberOfAScanNeedsThoseBeforeIt) {
    // 0 sends to 1, then to 2: 10 and 20. 1 sends to 2 at 10 and has 0's at 137. 2 has 1's at 147, and finds 0's, as
    // 0 sent it before the second round: at 147 + 20.
    EXPECT_EQ(with_twice_the_latency(CallKind::collective, Operation::scan, {0, 0, 0}, {20, 137, 167}),
              (Times{20, 237, 267}));
}

TEST_F(Together, ALateRootOfAReductionWaitsForNoLatency) {
    // 2 has 3's message at 137 and leaves at 147; the root receives those of 1 and 2 in 20 each.
    EXPECT_EQ(with_twice_the_latency(CallKind::collective, Operation::reduce, {1000, 0, 0, 0}, {1040, 10, 147, 10}, 0),
              (Times{1040, 10, 247, 10}));
}

TEST_F(Together, AReductionFollowsItsTreeFromALateLeaf) {
    // 3 enters at 1000: 2 has its message at 1137, the root 137 later.
    EXPECT_EQ(
        with_twice_the_latency(CallKind::collective, Operation::reduce, {0, 0, 0, 1000}, {1274, 10, 1147, 1010}, 0),
        (Times{1474, 10, 1247, 1010}));
}

TEST_F(Together, ABroadcastFollowsItsTree) {
    // The root sends to 2, then to 1: 137, and 10 + 137; 2 passes it on to 3 and leaves at 147.
    EXPECT_EQ(with_twice_the_latency(CallKind::collective, Operation::bcast, {0, 0, 0, 0}, {20, 147, 147, 274}, 0),
              (Times{20, 247, 247, 474}));
}

TEST_F(Together, WhoLeftBeforeAllBelowItEnteredDidNotWaitForThem) {
    // 2 leaves at 147, long before 3 enters: this reduction took another way, and 2's leave stays.
    EXPECT_EQ(
        with_twice_the_latency(CallKind::collective, Operation::reduce, {0, 0, 0, 1000}, {1274, 10, 147, 1010}, 0),
        (Times{1474, 10, 147, 1010}));
}

TEST(WhatIf, MessagesOfABarrierQueueAtTheNicOfTheirNode) {
    const auto with_gap = [](double g) {
        auto machine = plain_machine();
        for (auto& locality : machine.localities) {
            locality.ranges[0].g = g;
        }
        return machine;
    };
    ProgramStory story;
    // Two ranks on each of two nodes. After the first round, in which one message leaves each node, all are at
    // 10 + 100 + 20 = 130. In the second one both send to the other node at 140: one leaves a gap of 50 later
    // (which one, of two at the same time, is free: 2 before 3, and 1 before 0).
    const Times leaves{260, 310, 310, 260};
    for (std::int32_t l = 0; l < 4; ++l) {
        story.rank(l / 2, 1000);
        story.collective(l, story.call(l, CallKind::barrier, 0, leaves[static_cast<std::size_t>(l)]),
                         Operation::barrier);
    }
    const auto& program = story.program();
    const auto machine = with_gap(50);
    const auto graph = build_graph(program, machine, machine);
    EXPECT_EQ(replay(graph, machine, {.machine = machine}).leaves, leaves);
    EXPECT_EQ(replay(graph, machine, {.machine = with_gap(100)}).leaves, (Times{260, 360, 360, 260}));
}

TEST(WhatIf, MessagesOfAnAllToAllQueueAtTheNicOfTheirNode) {
    const auto with_gap = [](double g) {
        auto machine = plain_machine();
        for (auto& locality : machine.localities) {
            locality.ranges[0].g = g;
        }
        return machine;
    };
    ProgramStory story;
    // Two ranks on each of two nodes. In the second of three rounds both of a node send to the other node at the same
    // time: the second message leaves one gap behind the first one, at whatever time the operation ended.
    for (std::int32_t l = 0; l < 4; ++l) {
        story.rank(l / 2, 5000);
        story.collective(l, story.call(l, CallKind::collective, 0, 1000), Operation::alltoall);
    }
    const auto& program = story.program();
    const auto machine = with_gap(50);
    const auto graph = build_graph(program, machine, machine);
    EXPECT_EQ(replay(graph, machine, {.machine = machine}).leaves, (Times{1000, 1000, 1000, 1000}));
    const auto wider = replay(graph, machine, {.machine = with_gap(1000)}).leaves;
    EXPECT_GE(*std::ranges::max_element(wider), 1000 + 950);
}

TEST(WhatIf, RoundsOfALongAllToAllAreToldTogether) {
    // 2,047 rounds of 2,048 members are more messages than are listed one by one; all of them count, 130 each.
    constexpr std::int32_t kMembers = 2048;
    ProgramStory story;
    for (std::int32_t l = 0; l < kMembers; ++l) {
        story.rank(l, 1'000'000);
        story.collective(l, story.call(l, CallKind::collective, 0, 2047 * 130), Operation::alltoall);
    }
    const auto& program = story.program();
    const auto machine = plain_machine();
    const auto graph = build_graph(program, machine, machine);
    EXPECT_LT(graph.nodes(), 5U << 18U);
    EXPECT_EQ(replay(graph, machine, {.machine = machine}).leaves, Times(kMembers, 2047 * 130));
    EXPECT_EQ(replay(graph, machine, {.machine = with_latency(200)}).leaves, Times(kMembers, 2047 * 230));
}

/// 300 messages that one call waits for: more edges than a byte counts, of which the last message's binds.
TEST(WhatIf, OutcomesWithoutTimesAreThoseOfTimes) {
    constexpr int kMessages = 300;
    ProgramStory story;
    story.rank(0, 10'000);
    story.rank(1, 12'000);
    const auto wait = story.call(1, CallKind::wait_multi, 50, 11'000);
    for (int i = 0; i < kMessages; ++i) {
        story.message(0, story.call(0, CallKind::send, 100 + 30 * i, 110 + 30 * i), 1, wait, 10);
    }
    const auto& program = story.program();
    const auto machine = plain_machine();
    const auto graph = build_graph(program, machine, machine);
    std::vector<Setting> settings;
    for (int lane = 0; lane < 11; ++lane) {  // 8 + 2 + 1
        settings.push_back({.machine = with_latency(10.0 * lane), .compute = 1.0 / (1 + lane)});
    }
    const Weights weights(graph, machine, settings);
    const auto found = outcomes(graph, weights, settings);
    const auto sources = replay::sources_of(graph);
    ASSERT_EQ(found.size(), settings.size());
    std::uint32_t most = 0;
    for (std::size_t node = 0; node < graph.nodes(); ++node) {
        most = std::max(most, graph.first_edge[node + 1] - graph.first_edge[node]);
    }
    EXPECT_GE(most, kMessages);
    for (std::size_t lane = 0; lane < settings.size(); ++lane) {
        const auto alone = std::span(settings).subspan(lane, 1);
        const Weights own(graph, machine, alone);
        const auto expected = outcome_of(graph, sources, own, alone, own.times(), 0);
        const auto& path = found[lane].path;
        EXPECT_EQ(found[lane].ends_ps, expected.ends_ps);
        EXPECT_TRUE(found[lane].in_calls_ps == expected.in_calls_ps);
        EXPECT_TRUE(found[lane].between_calls_ps == expected.between_calls_ps);
        EXPECT_EQ(path.makespan_ps, expected.path.makespan_ps);
        EXPECT_EQ(path.parts, expected.path.parts);
        EXPECT_EQ(path.compute_by_location, expected.path.compute_by_location);
        EXPECT_EQ(path.edges, expected.path.edges);
        EXPECT_EQ(path.moved_ps, expected.path.moved_ps);
    }
    // As recorded: rank 0 is in 300 calls of 10 ps, rank 1 in one from 50 to 11,000.
    const std::vector<Setting> unchanged{{.machine = machine}};
    const Weights same(graph, machine, unchanged);
    const auto recorded = outcomes(graph, same, unchanged).front();
    const auto all = [](const std::vector<WidePs>& sums) {
        return static_cast<std::int64_t>(std::accumulate(sums.begin(), sums.end(), WidePs{0}));
    };
    EXPECT_EQ(all(recorded.in_calls_ps), 300 * 10 + (11'000 - 50));
    // Before the first call 100, between two 20 each; before the wait 50. What follows the last call is in no sum.
    EXPECT_EQ(all(recorded.between_calls_ps), 100 + 299 * 20 + 50);
}

TEST(WhatIf, LanesAreReplaysOfTheirOwn) {
    ProgramStory story;
    const auto& program = late_receiver(story);
    const auto machine = with_handshake();
    const auto graph = build_graph(program, machine, machine);
    std::vector<Setting> settings;
    for (int lane = 0; lane < 15; ++lane) {  // 8 + 4 + 2 + 1
        auto changed = with_handshake();
        for (auto& locality : changed.localities) {
            locality.ranges[0].L = 10.0 * lane;
        }
        settings.push_back({.machine = changed, .compute = 1.0 / (1 + lane)});
    }
    const Weights together(graph, machine, settings);
    const auto times = together.times();
    for (std::size_t lane = 0; lane < settings.size(); ++lane) {
        std::vector<std::int64_t> own;
        for (std::size_t node = 0; node < graph.nodes(); ++node) {
            own.push_back(times[node * settings.size() + lane]);
        }
        EXPECT_EQ(critical_path(graph, replay::sources_of(graph), together, settings, own, lane).makespan_ps,
                  replay(graph, machine, settings[lane]).makespan);
    }
    const auto makespans = together.makespans(1);  // keeps few times
    const auto released = together.makespans(1, true);
    for (std::size_t lane = 0; lane < settings.size(); ++lane) {
        const Weights alone(graph, machine, std::span(settings).subspan(lane, 1));
        EXPECT_EQ(makespans[lane], replay(graph, machine, settings[lane]).makespan);
        EXPECT_EQ(released[lane], alone.makespans(1, true).front());
    }
}

TEST(WhatIf, ScaledTimesAreRoundedHalvesAwayFromZero) {
    EXPECT_EQ(scaled(5, 0.5), 3);    // 2.5
    EXPECT_EQ(scaled(-5, 0.5), -3);  // -2.5
    EXPECT_EQ(scaled(7, 0.2), 1);    // 1.4
    // 2^53 + 1 is no double: only a factor of 1 leaves it as it is.
    EXPECT_EQ(scaled(9'007'199'254'740'993, 1.0), 9'007'199'254'740'993);
    for (const std::int64_t weight : {1LL, -3LL, 499'999LL, 123'456'789'123LL, -4'503'599'627'370'497LL}) {
        for (const double factor : {0.0, 0.3, 0.5, 0.999999999999, 1.5, 64.25}) {
            EXPECT_EQ(scaled(weight, factor), std::llround(static_cast<double>(weight) * factor));
        }
    }
}

TEST(WhatIf, ACircleIsAnErrorThatNamesIt) {
    ProgramStory story;
    story.rank(0, 300);
    story.rank(1, 300);
    const auto first = story.call(0, CallKind::receive, 0, 100);
    const auto then = story.call(0, CallKind::send, 110, 120);
    const auto other_first = story.call(1, CallKind::receive, 5, 105);
    const auto other_then = story.call(1, CallKind::send, 115, 125);
    story.message(0, then, 1, other_first, 10);
    story.message(1, other_then, 0, first, 10);
    const auto& program = story.program();
    const auto machine = plain_machine();
    try {
        build_graph(program, machine, machine);
        FAIL() << "no error";
    } catch (const CycleError& error) {
        EXPECT_NE(std::string(error.what()).find("location 0, call 1"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("location 1, calls 0 to 1"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace logpost::replay
