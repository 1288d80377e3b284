/// Collective operations, divided along the way that their messages went.

#include "replay/native/split/collective_split.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "program_story.hpp"
#include "replay/native/cost/model.hpp"
#include "replay/native/program/shape.hpp"
#include "replay/native/split/analysis.hpp"

namespace logpost::replay {
namespace {

using enum CollectivePart;
using tests::plain_machine;

/// A collective operation of ranks that enter and leave at the given times, in picoseconds.
struct Together : tests::ProgramStory {
    Together(Operation operation, const std::vector<std::pair<std::int64_t, std::int64_t>>& times,
             std::int32_t root = -1, std::int32_t ranks_per_node = 1) {
        for (std::size_t i = 0; i < times.size(); ++i) {
            rank(static_cast<std::int32_t>(i) / ranks_per_node, 1'000'000);
        }
        add(operation, times, root);
    }
    void add(Operation operation, const std::vector<std::pair<std::int64_t, std::int64_t>>& times,
             std::int32_t root = -1) {
        const auto kind = operation == Operation::barrier ? CallKind::barrier : CallKind::collective;
        for (std::int32_t id = 0; const auto& [begin, end] : times) {
            collective(id, call(id, kind, begin, end), operation, root, operations_);
            ++id;
        }
        ++operations_;
    }

  private:
    std::uint32_t operations_ = 0;
};

struct Divided {
    Divided(Together& story, Parameters of)
        : machine(std::move(of)), program(story.program()), waits(program), split(program, machine, waits, 1) {}
    [[nodiscard]] CollectiveSums of(std::size_t rank) const {
        const auto& one = program.timelines[rank].collectives[0];
        return split.parts(rank, 0, one.end_ps - one.begin_ps - waits.wait(one, rank));
    }
    [[nodiscard]] std::int64_t part(std::size_t rank, CollectivePart part) const {
        return of(rank)[static_cast<std::size_t>(part)];
    }
    const Parameters machine;
    const Program& program;
    CollectiveWaits waits;
    CollectiveSplit split;
};

std::int64_t total(const CollectiveSums& sums) {
    return std::accumulate(sums.begin(), sums.end(), std::int64_t{0});
}

// One round of a barrier of two: o_s + L + o_r = 10 + 100 + 20 after the last one, which finds the other's message
// there after its own: 10 + 20.
TEST(CollectiveSplit, ABarrierOfTwoTakesAMessageEachWay) {
    const auto machine = plain_machine();
    Together story(Operation::barrier, {{0, 630}, {500, 530}});
    const Divided divided(story, machine);
    EXPECT_EQ(divided.part(0, send_overhead), 10);
    EXPECT_EQ(divided.part(0, latency), 100);
    EXPECT_EQ(divided.part(0, recv_overhead), 20);
    EXPECT_EQ(total(divided.of(0)), 130);
    EXPECT_EQ(divided.part(1, send_overhead), 10);
    EXPECT_EQ(divided.part(1, recv_overhead), 20);
    EXPECT_EQ(divided.part(1, latency), 0);
    EXPECT_EQ(divided.split.kinds()[0].residual_ps, 0);
    EXPECT_EQ(divided.split.kinds()[0].deficit_ps, 0);
}

TEST(CollectiveSplit, WhatTheReplayDoesNotExplainIsResidualAndWhatItWantsTooMuchDeficit) {
    const auto machine = plain_machine();
    Together story(Operation::barrier, {{500, 730}, {500, 565}});
    const Divided divided(story, machine);
    EXPECT_EQ(divided.part(0, residual), 100);  // 230 - 130
    EXPECT_EQ(total(divided.of(0)), 230);
    EXPECT_EQ(divided.part(1, residual), 0);
    EXPECT_EQ(divided.part(1, latency), 50);  // 65 of 130, each half of what it wants
    EXPECT_EQ(total(divided.of(1)), 65);
    EXPECT_EQ(divided.split.kinds()[0].residual_ps, 100);
    EXPECT_EQ(divided.split.kinds()[0].deficit_ps, 65);
}

// Of four, rank 3 depends on rank 2, which enters 1000 after the root: that is no Late Broadcast, and no transport.
TEST(CollectiveSplit, ALateMemberOnTheWayIsNamedApartFromTheRoot) {
    const auto machine = plain_machine();
    // 8 B: the root sends to 2, then to 1; 2 has it at 1000 + o_r (it was there), sends to 3.
    Together story(Operation::bcast, {{0, 20}, {0, 147}, {1000, 1030}, {0, 1167}}, 0);
    const Divided divided(story, machine);
    EXPECT_EQ(divided.split.kinds()[0].algorithm, Algorithm::binomial);
    EXPECT_EQ(divided.part(3, late_members), 1000);
    EXPECT_EQ(divided.part(3, send_overhead), 10);
    EXPECT_EQ(divided.part(3, latency), 100);
    EXPECT_EQ(divided.part(3, serialization), 7);
    EXPECT_EQ(divided.part(3, recv_overhead), 40);  // of rank 2, and its own
    EXPECT_EQ(divided.part(3, residual), 10);
    EXPECT_EQ(total(divided.of(3)), 1167);
    EXPECT_EQ(divided.part(1, late_members), 0);
    EXPECT_EQ(divided.part(1, send_overhead), 20);  // the root's send to rank 2 first
}

/// l_mw of 51 B in 3 blocks of 17 B, one every 64 B, is 61: 30 for packing them and 31 for unpacking.
Parameters with_gaps() {
    auto machine = plain_machine();
    machine.middleware =
        middleware_tables({.tables = {}, .alone = {{.bytes = 51, .block_bytes = 17, .stride_bytes = 64, .l_mw = 61}}});
    return machine;
}

// The root's o_s 10, L 100, 50 of 51 bytes and o_r 20 make 180; 30 at the root and 31 at the other one where they have
// gaps. The root leaves when it has packed.
TEST(CollectiveSplit, MembersPackAndUnpackDataWithGaps) {
    for (const bool given : {false, true}) {
        for (const bool got : {false, true}) {
            const std::int64_t pack = given ? 30 : 0, unpack = got ? 31 : 0;
            Together story(Operation::bcast, {{0, 10 + pack}, {0, 190 + pack + unpack}}, 0);
            const auto gaps = story.layout();
            for (const std::int32_t rank : {0, 1}) {
                story.gives_and_gets(rank, 51, 51);
                story.gives_and_gets_gaps(rank, given ? gaps : kUndefined, got ? gaps : kUndefined);
            }
            const Divided divided(story, with_gaps());
            EXPECT_EQ(divided.part(0, middleware), pack);
            EXPECT_EQ(divided.part(0, send_overhead), 10);
            EXPECT_EQ(divided.part(0, residual), 0);
            EXPECT_EQ(divided.part(1, middleware), pack + unpack);
            EXPECT_EQ(divided.part(1, latency), 100);
            EXPECT_EQ(divided.part(1, serialization), 50);
            EXPECT_EQ(divided.part(1, recv_overhead), 20);
            EXPECT_EQ(divided.part(1, residual), 10);
            EXPECT_EQ(total(divided.of(1)), 190 + pack + unpack);
        }
    }
}

// Both pack for 30, and then both unpack: of 10 + 30 + 100 + 50 + 31 + 20 = 241 61 are middleware. What a member of an
// alltoall gives itself is packed and unpacked before: 61 more.
TEST(CollectiveSplit, BothEndsOfAnExchangePackAtOnce) {
    for (const auto& [operation, own] : {std::pair{Operation::alltoall, 61}, {Operation::allgather, 0}}) {
        Together story(operation, {{0, 241 + own}, {0, 241 + own}});
        const auto gaps = story.layout();
        for (const std::int32_t rank : {0, 1}) {
            story.gives_and_gets(rank, 102, 102);
            story.gives_and_gets_gaps(rank, gaps, gaps);
        }
        const Divided divided(story, with_gaps());
        for (const std::size_t rank : {0, 1}) {
            EXPECT_EQ(divided.part(rank, middleware), 61 + own);
            EXPECT_EQ(divided.part(rank, residual), 0);
            EXPECT_EQ(total(divided.of(rank)), 241 + own);
        }
    }
}

// One processor that packs and then unpacks the same needs 80, where two share the work in 61: both do so in an
// exchange.
TEST(CollectiveSplit, BothEndsOfAnExchangePackAndUnpackAlone) {
    auto machine = with_gaps();
    machine.middleware_self =
        middleware_tables({.tables = {}, .alone = {{.bytes = 51, .block_bytes = 17, .stride_bytes = 64, .l_mw = 80}}});
    for (const auto& [operation, own] : {std::pair{Operation::alltoall, 80}, {Operation::allgather, 0}}) {
        Together story(operation, {{0, 260 + own}, {0, 260 + own}});
        const auto gaps = story.layout();
        for (const std::int32_t rank : {0, 1}) {
            story.gives_and_gets(rank, 102, 102);
            story.gives_and_gets_gaps(rank, gaps, gaps);
        }
        const Divided divided(story, machine);
        EXPECT_EQ(divided.part(0, middleware), 80 + own);
        EXPECT_EQ(divided.part(0, residual), 0);
    }
}

// Beyond an eager limit of 4 the root is busy until its receiver has all: l_mw is 61, 30 of it before its data leave.
TEST(CollectiveSplit, TheRootOfALargeMessageWithGapsWaitsUntilItIsUnpacked) {
    auto machine = with_gaps();
    for (auto& locality : machine.localities) {
        locality.eager_limit = 4;
    }
    const std::int64_t cleared = 10 + 30 + 100 + 10 + 100 + 10;
    Together story(Operation::bcast, {{0, cleared + 50 + 31}, {0, cleared + 100 + 50 + 31 + 20}}, 0);
    const auto gaps = story.layout();
    for (const std::int32_t rank : {0, 1}) {
        story.gives_and_gets(rank, 51, 51);
        story.gives_and_gets_gaps(rank, gaps, gaps);
    }
    const Divided divided(story, machine);
    for (const std::size_t rank : {0, 1}) {
        EXPECT_EQ(divided.part(rank, middleware), 61);
        EXPECT_EQ(divided.part(rank, residual), 0);
    }
}

// The root sends 8 B each to 2 and to 1 and leaves at 20; with g = 500 its NIC is free at 10 + 2 * 500. Then it sends.
TEST(CollectiveSplit, ARootThatLeavesAtOnceLeavesItsNicBusy) {
    auto machine = plain_machine();
    for (auto& locality : machine.localities) {
        locality.ranges[0].g = 500;
    }
    for (const auto& [sends_at, uses] : {std::pair{900, 1U}, {1'100, 0U}}) {
        // Rank 1 has it at 510 + 100 + 7 + 20, rank 3 from rank 2, which leaves at 10 + 100 + 7 + 20 + 10.
        Together story(Operation::bcast, {{0, 20}, {0, 637}, {0, 147}, {0, 274}}, 0);
        const auto send = story.call(0, CallKind::send, sends_at, sends_at + 10);
        story.message(0, send, 3, story.call(3, CallKind::receive, 900, 2'000), 8);
        Divided divided(story, machine);
        const auto found = divided.split.take_nic_uses();
        ASSERT_EQ(found.of[0].size(), uses);
        if (uses > 0) {
            EXPECT_EQ(found.of[0][0], (NicUse{20, 990, true, false, false}));
        }
    }
}

// Rank 1 receives until 400; what rank 0 sends it in the barrier is at its NIC at 10 + L = 110.
TEST(CollectiveSplit, AMemberThatStillReceivesIsReachedByTheFirstRounds) {
    auto machine = plain_machine();
    for (auto& locality : machine.localities) {
        locality.ranges[0].g = 30;
    }
    Together late(Operation::barrier, {});
    const auto first = late.rank(0, 1'000'000);
    const auto second = late.rank(1, 1'000'000);
    const auto third = late.rank(2, 1'000'000);
    late.members({first, second});
    late.message(third, late.call(third, CallKind::send, 0, 10), second, late.call(second, CallKind::receive, 0, 400),
                 8);
    late.collective(first, late.call(first, CallKind::barrier, 0, 630), Operation::barrier, -1);
    late.collective(second, late.call(second, CallKind::barrier, 500, 530), Operation::barrier, -1);
    Divided divided(late, machine);
    const auto found = divided.split.take_nic_uses();
    ASSERT_EQ(found.of[1].size(), 2U);
    EXPECT_EQ(found.of[1][0], (NicUse{110, 30, true, true, true}));
    EXPECT_TRUE(found.of[1][1].processor);
    // It leaves at 530, behind its o_r.
    EXPECT_EQ(found.of[1][1].from_ps + found.of[1][1].service_ps, 530);
}

TEST(CollectiveSplit, TheAlgorithmIsTheOneThatFitsTheMeasuredEnds) {
    const auto machine = plain_machine();
    // From the root to one after another: 10, 20, 30 + L + 7 + o_r.
    Together linear(Operation::bcast, {{0, 30}, {0, 137}, {0, 147}, {0, 157}}, 0);
    const auto kind = Divided(linear, machine).split.kinds()[0];
    EXPECT_EQ(kind.algorithm, Algorithm::linear);
    EXPECT_LE(kind.error_ps, 1.5);  // a hundredth of its duration: no nearer is known
    EXPECT_EQ(kind.second, Algorithm::binomial);
    EXPECT_GT(kind.second_error_ps, 3);
}

TEST(CollectiveSplit, OperationsThatOtherTrafficDisturbsDoNotOutvoteOthers) {
    const auto machine = plain_machine();
    // Nothing disturbs the first, which is linear to the picosecond. The others arrive 1,000 late, in the order of a
    // binomial tree: their distances alone, 1,029 of linear and 1,000 of binomial, outweigh the first one's, 0 and 34.
    Together story(Operation::bcast, {{0, 30}, {0, 137}, {0, 147}, {0, 157}}, 0);
    for (const std::int64_t at : {2000, 5000}) {
        story.add(Operation::bcast, {{at, at + 1020}, {at, at + 1147}, {at, at + 1147}, {at, at + 1274}}, 0);
    }
    const auto kind = Divided(story, machine).split.kinds()[0];
    EXPECT_EQ(kind.operations, 3);
    EXPECT_EQ(kind.algorithm, Algorithm::linear);
}

// 8 B beyond an eager limit of 4: request and clear-to-send, L each, and o_control (o_s) at both ends.
TEST(CollectiveSplit, LargeMessagesAskFirst) {
    auto machine = plain_machine();
    for (auto& locality : machine.localities) {
        locality.eager_limit = 4;
    }
    const std::int64_t end = 10 + 100 + 10 + 100 + 10 + 100 + 7 + 20;
    Together story(Operation::bcast, {{0, 237}, {0, end}}, 0);
    const Divided divided(story, machine);
    EXPECT_EQ(divided.part(1, latency), 300);
    EXPECT_EQ(divided.part(1, send_overhead), 20);
    EXPECT_EQ(divided.part(1, recv_overhead), 30);
    EXPECT_EQ(divided.part(1, serialization), 7);
    EXPECT_EQ(divided.part(1, residual), 0);
    EXPECT_EQ(divided.part(0, residual), 0);  // until its last byte has left
    EXPECT_EQ(divided.split.kinds()[0].deficit_ps, 0);
}

// Where the network matches, the data leave when both ends have called: one latency.
TEST(CollectiveSplit, NoMessageAsksFirstWhereTheNetworkMatches) {
    auto machine = plain_machine();
    machine.library[static_cast<std::size_t>(LibraryProperty::synchronous_sends)] =
        static_cast<std::uint8_t>(Synchronous::match);
    for (auto& locality : machine.localities) {
        locality.eager_limit = 4;
    }
    Together story(Operation::bcast, {{0, 17}, {0, 10 + 100 + 7 + 20}}, 0);
    const Divided divided(story, machine);
    EXPECT_EQ(divided.part(1, latency), 100);
    EXPECT_EQ(divided.part(1, send_overhead), 10);
    EXPECT_EQ(divided.part(1, recv_overhead), 20);
    EXPECT_EQ(divided.part(1, residual), 0);
    EXPECT_EQ(divided.part(0, residual), 0);
}

// Two ranks of a node send to two of another at once: g = 50 apart.
TEST(CollectiveSplit, RanksOfANodeQueueAtItsNicWhereTheModelHasOne) {
    auto machine = plain_machine();
    for (auto& locality : machine.localities) {
        locality.ranges[0].g = 50;
    }
    const auto times = std::vector<std::pair<std::int64_t, std::int64_t>>(4, {0, 5000});
    Together story(Operation::alltoall, times, -1, 2);
    std::int64_t queued = 0;
    for (std::size_t rank = 0; rank < 4; ++rank) {
        queued += Divided(story, machine).part(rank, endpoint_contention);
    }
    EXPECT_GT(queued, 0);
    Together again(Operation::alltoall, times, -1, 2);
    machine.endpoints_queue = false;
    const Divided divided(again, machine);
    for (std::size_t rank = 0; rank < 4; ++rank) {
        EXPECT_EQ(divided.part(rank, endpoint_contention), 0);
    }
}

TEST(CollectiveSplit, LogPHasNoBytes) {
    const auto machine = reduced(plain_machine(), Model::logp);
    Together story(Operation::bcast, {{0, 10}, {0, 137}}, 0);
    const Divided divided(story, machine);
    EXPECT_EQ(divided.part(1, serialization), 0);
    EXPECT_EQ(divided.part(1, residual), 7);
}

TEST(CollectiveSplit, AloneAMemberSendsNothing) {
    const auto machine = plain_machine();
    Together story(Operation::allreduce, {{0, 130}});
    const Divided divided(story, machine);
    EXPECT_EQ(divided.part(0, residual), 130);
    EXPECT_EQ(divided.split.kinds()[0].algorithm, Algorithm::not_known);
}

// Ranks 0 and 1, and rank 2 alone. Rank 1 sends to 0, which enters at 100: its message is there at 110, taken at 130.
// Then 0 and 2 exchange: o_s, L, o_r from 500 on, when 2 enters, and 0 sends to 1.
TEST(CollectiveSplit, GroupsOfAnInterCommunicatorMeetInTheirLeaders) {
    Together story(Operation::barrier, {{100, 640}, {0, 760}, {500, 530}});
    story.first_group(2);
    const Divided divided(story, plain_machine());
    EXPECT_EQ(divided.split.kinds()[0].algorithm, Algorithm::leaders);
    EXPECT_EQ(divided.part(0, send_overhead), 20);
    EXPECT_EQ(divided.part(0, latency), 100);
    EXPECT_EQ(divided.part(0, recv_overhead), 20);
    EXPECT_EQ(divided.part(1, send_overhead), 20);
    EXPECT_EQ(divided.part(1, latency), 200);
    EXPECT_EQ(divided.part(1, recv_overhead), 40);
    EXPECT_EQ(divided.part(2, latency), 0);
    EXPECT_EQ(divided.split.kinds()[0].residual_ps, 0);
    EXPECT_EQ(divided.split.kinds()[0].deficit_ps, 0);
}

// Rank 3 gives to ranks 0 and 1 what rank 2, of its own group, does not get. It enters last: they wait for it.
TEST(CollectiveSplit, ARootGivesToTheOtherGroupOnly) {
    for (const std::int32_t root : {3, 0}) {
        // The root sends to the leader (10), which has it at 110 + 7 + 20 and sends it on: 10 + 100 + 7 + 20.
        const std::int64_t enter = 1'000;
        std::vector<std::pair<std::int64_t, std::int64_t>> times(4, {enter - 900, enter + 147});
        times[static_cast<std::size_t>(root)] = {enter, enter + 10};
        times[root == 3 ? 2 : 1] = {0, 5};
        const std::size_t last = root == 3 ? 1 : 3;
        times[last].second = enter + 274;
        Together story(Operation::bcast, times, root);
        story.first_group(2);
        const Divided divided(story, plain_machine());
        EXPECT_EQ(divided.split.kinds()[0].most_bytes, 8U);
        EXPECT_EQ(divided.part(last, send_overhead), 20);
        EXPECT_EQ(divided.part(last, latency), 200);
        EXPECT_EQ(divided.part(last, serialization), 14);
        EXPECT_EQ(divided.part(last, recv_overhead), 40);
        EXPECT_EQ(divided.split.kinds()[0].deficit_ps, 0);
        EXPECT_EQ(divided.split.kinds()[0].residual_ps, 5);  // of the one that only looks on
    }
}

TEST(CollectiveSplit, WhoLooksOnNeedsNoRecord) {
    Together story(Operation::gather, {{0, 5}, {100, 237}, {0, 10}}, 1);
    story.first_group(2);
    story.takes_no_part(0);
    const Divided divided(story, plain_machine());
    EXPECT_FALSE(divided.split.divides(0, 0));
    // Rank 2's 8 B leave at 10 and are there at 10 + 100 + 7; the root has entered at 100.
    EXPECT_EQ(divided.part(1, latency), 10);
    EXPECT_EQ(divided.part(1, serialization), 7);
    EXPECT_EQ(divided.part(1, recv_overhead), 20);
    EXPECT_EQ(divided.part(2, send_overhead), 10);
    EXPECT_EQ(divided.split.way(1, 0).size(), 3U);
}

TEST(CollectiveSplit, AGroupThatGivesNothingIsNotWaitedFor) {
    // Each of ranks 0 and 1 gives 8 B, rank 2 gets 16 B and enters late.
    Together story(Operation::allgather, {{0, 147}, {0, 10}, {1'000, 1'030}});
    for (std::int32_t rank = 0; rank < 3; ++rank) {
        story.gives_and_gets(rank, rank < 2 ? 8 : 0, rank < 2 ? 0 : 16);
    }
    story.first_group(2);
    const Divided divided(story, plain_machine());
    EXPECT_EQ(divided.part(0, late_members), 0);
    EXPECT_EQ(divided.part(0, latency), 100);  // of rank 1's message
    EXPECT_EQ(divided.part(2, latency), 0);    // it was there
    EXPECT_EQ(divided.part(2, recv_overhead), 20);
}

TEST(CollectiveSplit, AnOperationThatLacksAMemberIsNotDivided) {
    const auto machine = plain_machine();
    Together story(Operation::barrier, {{0, 130}, {0, 130}});
    story.rank(5, 1'000'000);  // in the communicator, and in no barrier
    const Divided divided(story, machine);
    EXPECT_FALSE(divided.split.divides(0, 0));
    EXPECT_TRUE(divided.split.kinds().empty());
}

// The root starts at 450, so that rank 1, which waits since 400, has its 8 B at 450 + 10 + 100 + 7 + 20.
TEST(CollectiveSplit, OfANonblockingOperationTheWaitIsDividedAndTheStartIsOverhead) {
    const auto machine = plain_machine();
    tests::ProgramStory story;
    for (const auto& [start, wait] : {std::pair{450, 470}, std::pair{0, 400}}) {
        const auto id = story.rank(start == 0 ? 1 : 0, 1000);
        const auto begun = story.call(id, CallKind::collective_nonblocking, start, start + 15);
        const auto completed = story.call(id, CallKind::wait, wait, 600);
        story.collective(id, begun, Operation::bcast, 0, 0, completed);
    }
    Analysis analysis(story.program(), machine, {}, 1);
    const auto rows = analysis.callpaths(1);
    const auto of = [&](CallKind kind) {
        return std::ranges::find(rows, static_cast<std::int32_t>(kind), &CallpathExposure::callpath)->in_collectives;
    };
    // Of the wait's 200, the first 50 are for the root to start. late members, o_s, L, NIC, bytes, o_r, middleware,
    // reduction, residual, not divided
    EXPECT_EQ(of(CallKind::collective_nonblocking), (CollectiveSums{0, 10, 0, 0, 0, 0, 0, 0, 5, 0}));
    EXPECT_EQ(of(CallKind::wait), (CollectiveSums{0, 10, 100, 0, 7, 20, 0, 0, 13, 0}));
}

TEST(CollectiveSplit, AccountsDivideTheCategoryCollectiveExactly) {
    const auto machine = plain_machine();
    Together story(Operation::allreduce, {{0, 900}, {300, 800}, {100, 1700}, {200, 700}, {50, 640}});
    Analysis analysis(story.program(), machine, {}, 2);
    for (std::size_t rank = 0; rank < 5; ++rank) {
        for (const auto& row : analysis.callpaths(rank)) {
            EXPECT_EQ(total(row.in_collectives), row.exposed[kCollective]);
            EXPECT_EQ(row.in_collectives[static_cast<std::size_t>(not_divided)], 0);
        }
    }
}

TEST(CollectiveSplit, TheWayIsWithoutGapAndAddsUpToTheParts) {
    const auto machine = plain_machine();
    Together story(Operation::allreduce, {{0, 2000}, {300, 2000}, {100, 2000}, {200, 2000}, {50, 2000}});
    const Divided divided(story, machine);
    for (std::size_t rank = 0; rank < 5; ++rank) {
        const auto way = divided.split.way(rank, 0);
        ASSERT_FALSE(way.empty());
        EXPECT_EQ(way.front().begin_ps, 300);  // the last one enters
        CollectiveSums sums{};
        for (std::size_t i = 0; i < way.size(); ++i) {
            EXPECT_TRUE(i == 0 || way[i].begin_ps == way[i - 1].end_ps);
            sums[static_cast<std::size_t>(way[i].part)] += way[i].end_ps - way[i].begin_ps;
        }
        auto parts = divided.of(rank);
        parts[static_cast<std::size_t>(residual)] = 0;
        EXPECT_EQ(parts, sums);
    }
}

// The parts fill the measured time for every operation and number of members.
TEST(CollectiveSplit, ThePartsFillTheMeasuredTimeOfEveryOperation) {
    const auto machine = plain_machine();
    for (const auto operation : {Operation::allgather, Operation::alltoall, Operation::reduce_scatter, Operation::scan,
                                 Operation::gather, Operation::scatter, Operation::reduce}) {
        for (const std::int32_t ranks : {2, 3, 7, 16}) {
            std::vector<std::pair<std::int64_t, std::int64_t>> times;
            for (std::int32_t i = 0; i < ranks; ++i) {
                times.emplace_back(37 * ((i * 5) % ranks), 100'000);
            }
            Together story(operation, times, shape(operation) == Shape::all_to_all ? -1 : 0);
            const Divided divided(story, machine);
            ASSERT_EQ(divided.split.kinds().size(), 1U);
            for (std::size_t rank = 0; rank < times.size(); ++rank) {
                EXPECT_EQ(total(divided.of(rank)),
                          100'000 - times[rank].first -
                              divided.waits.wait(divided.program.timelines[rank].collectives[0], rank));
            }
        }
    }
}

}  // namespace
}  // namespace logpost::replay
