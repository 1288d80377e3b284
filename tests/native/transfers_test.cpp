// One-sided transfers as labelled partitions, and the accounts of the calls around them.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <utility>

#include "program_story.hpp"
#include "replay/native/split/analysis.hpp"

namespace logpost::replay {
namespace {

using tests::AccessStory;
using tests::plain_machine;
using tests::ProgramStory;

using Parts = std::map<std::uint8_t, std::int64_t>;

constexpr auto kSend = category_of(Part::send_overhead);
constexpr auto kGaps = category_of(Part::middleware);
constexpr auto kWire = category_of(Part::latency);
constexpr auto kBytes = category_of(Part::serialization);
constexpr auto kAway = category_of(Part::processor_queueing);
constexpr auto kAnswer = category_of(Part::recv_overhead);
constexpr auto kLatePost = category_of(Part::late_receiver);
constexpr auto kLatePut = category_of(Part::late_sender);

/// The parts of a rank's only transfer.
Parts parts(const Analysis& analysis, std::size_t rank = 0) {
    Parts times;
    const auto partition = analysis.transfers().partition(rank, 0);
    std::int64_t cursor = partition.begin();
    for (const auto* segment = partition.begin_segment(); segment != partition.end_segment(); ++segment) {
        EXPECT_EQ(segment->begin, cursor);
        EXPECT_LT(segment->begin, segment->end);
        times[segment->category] += segment->end - segment->begin;
        cursor = segment->end;
    }
    return times;
}

/// What a rank's calls were; its compute time is left out.
Parts exposed(Analysis& analysis, std::size_t rank) {
    Parts times;
    for (const auto& row : analysis.accounts()[rank]) {
        if (row.category != kCompute) {
            times[row.category] += row.exposed_ps;
        }
    }
    return times;
}

/// Machine: o_s = 10, L = 100, G = 1 per byte, o_control = 10 (o_s). All puts have 51 B: 50 for serialization.
Parameters machine(bool asynchronous) {
    auto parameters = plain_machine();
    parameters.asynchronous_progress = asynchronous;
    return parameters;
}

/// Rank 0: Put 0..20, flush 20..flushed. Rank 1, on `node`, computes, and enters a barrier at `attends`.
struct Flush : ProgramStory {
    Flush(std::int64_t flushed, std::int64_t attends, int node = 0) {
        rank(0, 1000);
        rank(node, 1000);
        const auto start = call(0, CallKind::one_sided, 0, 20);
        const auto flush = call(0, CallKind::one_sided, 20, flushed);
        call(1, CallKind::barrier, attends, 1000);
        put(0, start, flush, 1, 51);
    }
};

TEST(Transfers, APutIsCompleteWhenItsTargetHasAcknowledgedIt) {
    // 0 o_s 10 L 110 serialization 160 L 260; the flush lasts until 400.
    Flush story(400, 0);
    const auto parameters = machine(true);
    const Analysis analysis(story.program(), parameters, {}, 1);
    EXPECT_EQ(parts(analysis), (Parts{{kSend, 10}, {kWire, 200}, {kBytes, 50}, {kResidual, 140}}));
    EXPECT_EQ(analysis.transfers().partition(0, 0).planned_end, 260);
}

TEST(Transfers, ATargetThatMustProgressIsWaitedFor) {
    // There at 160, the target inside at 300: 140 of its processor; answer 310, acknowledged 410, flush until 450.
    Flush story(450, 300);
    const auto parameters = machine(false);
    Analysis analysis(story.program(), parameters, {}, 1);
    EXPECT_FALSE(analysis.transfers().asynchronous());
    EXPECT_EQ(parts(analysis),
              (Parts{{kSend, 10}, {kWire, 200}, {kBytes, 50}, {kAway, 140}, {kAnswer, 10}, {kResidual, 40}}));
    // All of it is in the calls: 0..20 and 20..450.
    EXPECT_EQ(exposed(analysis, 0), parts(analysis));
}

TEST(Transfers, WhatIsMeasuredOfPutsHoldsForPutsWithinANode) {
    // 40 for one byte, out and back, and 50 more for the others; nothing of what a message costs.
    auto parameters = machine(true);
    parameters.put = {.x = {1, 51}, .y = {40, 90}};
    Flush near(400, 0);
    const Analysis analysis(near.program(), parameters, {}, 1);
    EXPECT_EQ(parts(analysis), (Parts{{kWire, 40}, {kBytes, 50}, {kResidual, 310}}));
    Flush far(400, 0, 1);
    const Analysis between_nodes(far.program(), parameters, {}, 1);
    EXPECT_EQ(parts(between_nodes), (Parts{{kSend, 10}, {kWire, 200}, {kBytes, 50}, {kResidual, 140}}));
    parameters.get = std::exchange(parameters.put, {});
    const Analysis of_gets(near.program(), parameters, {}, 1);
    EXPECT_EQ(parts(of_gets), parts(between_nodes));
}

/// l_mw of 51 B in 3 blocks of 17 B, one every 64 B, is 60: 30 at each end that has such data.
Parameters with_gaps(bool asynchronous) {
    auto parameters = machine(asynchronous);
    parameters.middleware =
        middleware_tables({.tables = {}, .alone = {{.bytes = 51, .block_bytes = 17, .stride_bytes = 64, .l_mw = 60}}});
    return parameters;
}

/// A put as in Flush, of data with gaps at its origin, its target or both.
struct Gaps : Flush {
    Gaps(bool origin, bool target, std::int64_t attends) : Flush(400, attends) { has_gaps(0, origin, target); }
};

TEST(Transfers, DataWithGapsArePackedWhereTheyAreAndUnpackedWhereTheyGo) {
    const auto parameters = with_gaps(true);
    for (const bool origin : {false, true}) {
        for (const bool target : {false, true}) {
            Gaps story(origin, target, 0);
            const Analysis analysis(story.program(), parameters, {}, 1);
            const std::int64_t l_mw = (origin ? 30 : 0) + (target ? 30 : 0);
            Parts expected{{kSend, 10}, {kWire, 200}, {kBytes, 50}, {kResidual, 140 - l_mw}};
            if (l_mw > 0) {
                expected[kGaps] = l_mw;
            }
            EXPECT_EQ(parts(analysis), expected);
            EXPECT_EQ(analysis.transfers().partition(0, 0).planned_end, 260 + l_mw);
        }
    }
}

TEST(Transfers, APackedPutIsAtItsTargetLater) {
    // 0 o_s 10 pack 40 L 140 serialization 190: there. The target is inside at 250, and replies by 260, 290 with its
    // own gaps; the acknowledgement is back 100 later.
    Gaps story(true, true, 250);
    const auto parameters = with_gaps(false);
    const Analysis analysis(story.program(), parameters, {}, 1);
    EXPECT_EQ(
        parts(analysis),
        (Parts{{kSend, 10}, {kGaps, 60}, {kWire, 200}, {kBytes, 50}, {kAway, 60}, {kAnswer, 10}, {kResidual, 10}}));
    EXPECT_EQ(analysis.transfers().partition(0, 0).planned_end, 390);
}

TEST(Transfers, AGetIsUnpackedAtItsOrigin) {
    // 0 o_s 10 L 110 pack 140 L 240 serialization 290 unpack 320 o_r 340; the call lasts until 400.
    ProgramStory story;
    story.rank(0, 1000);
    story.rank(0, 1000);
    story.get(0, story.call(0, CallKind::one_sided, 0, 400), 1, 51);
    story.has_gaps(0, true, true);
    const auto parameters = with_gaps(true);
    const Analysis analysis(story.program(), parameters, {}, 1);
    EXPECT_EQ(parts(analysis),
              (Parts{{kSend, 10}, {kGaps, 60}, {kWire, 200}, {kBytes, 50}, {kAnswer, 20}, {kResidual, 60}}));
}

/// The target is inside 0..`left`, and again from `back`.
struct Left : ProgramStory {
    Left(std::int64_t flushed, std::int64_t left, std::int64_t back) {
        rank(0, 3000);
        rank(0, 3000);
        const auto start = call(0, CallKind::one_sided, 0, 20);
        const auto flush = call(0, CallKind::one_sided, 20, flushed);
        call(1, CallKind::one_sided, 0, left);
        call(1, CallKind::one_sided, back, back + 300);
        put(0, start, flush, 1, 51);
    }
};

TEST(Transfers, WhatATargetLeavesUndoneWaitsUntilItIsBack) {
    // There at 160, the target inside until 200 and from 900: away for 700. Then 10 + 100, and 130 of residual.
    Left story(1100, 200, 900);
    const auto parameters = machine(false);
    Analysis analysis(story.program(), parameters, {}, 1);
    EXPECT_EQ(parts(analysis),
              (Parts{{kSend, 10}, {kWire, 200}, {kBytes, 50}, {kAway, 700}, {kAnswer, 10}, {kResidual, 130}}));
    EXPECT_EQ(exposed(analysis, 0), parts(analysis));
}

TEST(Transfers, WhatIsNotOverAsTheTargetIsBackDoesNotWaitForIt) {
    // The reply takes 10 + 100: over before the target is back; longer after it than it was away; away for no longer
    // than 110.
    for (const auto& [flushed, left, back] :
         {std::array<std::int64_t, 3>{890, 200, 900}, {1601, 200, 900}, {500, 200, 310}}) {
        Left story(flushed, left, back);
        const auto parameters = machine(false);
        const Analysis analysis(story.program(), parameters, {}, 1);
        EXPECT_EQ(parts(analysis),
                  (Parts{{kSend, 10}, {kWire, 200}, {kBytes, 50}, {kAnswer, 10}, {kResidual, flushed - 270}}));
    }
}

TEST(Transfers, ATransferThatIsOverBeforeItsTargetLooksProvesThatNobodyNeedsTo) {
    // Flushed at 290, and the target inside at 300: planned until 260.
    Flush story(290, 300);
    const auto parameters = machine(false);
    const Analysis analysis(story.program(), parameters, {}, 1);
    EXPECT_TRUE(analysis.transfers().asynchronous());
    EXPECT_EQ(parts(analysis), (Parts{{kSend, 10}, {kWire, 200}, {kBytes, 50}, {kResidual, 30}}));
}

TEST(Transfers, WhatTheModelWantsBeyondTheMeasuredTimeIsDeficit) {
    // 250 after o_s are wanted, and 200 - 10 there: 2 L and the bytes share them; 60 are missing.
    Flush story(200, 0);
    const auto parameters = machine(true);
    const Analysis analysis(story.program(), parameters, {}, 1);
    const auto found = parts(analysis);
    EXPECT_EQ(found.at(kSend) + found.at(kWire) + found.at(kBytes), 200);
    EXPECT_FALSE(found.contains(kResidual));
    EXPECT_EQ(analysis.transfers().partition(0, 0).deficit_ps, 60);
}

TEST(Transfers, ACompleteTransferIsNoWaitOfAnOriginThatComputes) {
    // Planned until 260 of a Put that lasts until 300; the origin computes until 350, and its flush takes 50.
    ProgramStory story;
    story.rank(0, 1000);
    story.rank(0, 1000);
    const auto start = story.call(0, CallKind::one_sided, 0, 300);
    const auto flush = story.call(0, CallKind::one_sided, 350, 400);
    story.put(0, start, flush, 1, 51);
    const auto parameters = machine(true);
    Analysis analysis(story.program(), parameters, {}, 1);
    EXPECT_EQ(parts(analysis), (Parts{{kSend, 10}, {kWire, 200}, {kBytes, 50}, {kAway, 50}, {kResidual, 90}}));
    EXPECT_EQ(exposed(analysis, 0), (Parts{{kSend, 10}, {kWire, 200}, {kBytes, 50}, {kResidual, 90}}));
}

TEST(Transfers, PutsLeaveTheirOriginOneAfterTheOther) {
    // Two puts of 51 B (51 at the NIC), ready at 10 and 30: the second waits from 30 until 61, and then takes L more.
    ProgramStory story;
    story.rank(0, 1000);
    story.rank(0, 1000);
    const auto first = story.call(0, CallKind::one_sided, 0, 20);
    const auto second = story.call(0, CallKind::one_sided, 20, 40);
    const auto flush = story.call(0, CallKind::one_sided, 40, 500);
    story.put(0, first, flush, 1, 51);
    story.put(0, second, flush, 1, 51);
    const auto parameters = machine(true);
    const Analysis analysis(story.program(), parameters, {}, 1);
    EXPECT_EQ(analysis.transfers().partition(0, 0).planned_end, 260);
    EXPECT_EQ(analysis.transfers().partition(0, 1).planned_end, 61 + 250);
}

/// Rank 0: Put 50..60, fence 100..600. Rank 1: fence `late`..600.
struct Fence : ProgramStory {
    explicit Fence(std::int64_t late) {
        rank(0, 1000);
        rank(0, 1000);
        const auto start = call(0, CallKind::one_sided, 50, 60);
        const auto fence = call(0, CallKind::one_sided, 100, 600);
        collective(0, fence, Operation::fence);
        collective(1, call(1, CallKind::one_sided, late, 600), Operation::fence);
        put(0, start, fence, 1, 51);
    }
};

TEST(Transfers, WaitingAtAFenceIsForItsLastMember) {
    // 50 o_s 60 L 160 bytes 210 L 310; the last one enters at 500, and the fence itself takes until 600.
    Fence story(500);
    const auto parameters = machine(true);
    Analysis analysis(story.program(), parameters, {}, 1);
    EXPECT_EQ(parts(analysis),
              (Parts{{kSend, 10}, {kWire, 200}, {kBytes, 50}, {kCollectiveWait, 190}, {kCollective, 100}}));
    // In the account the fact has precedence: 400 of the fence are waiting for rank 1, whatever is in flight.
    EXPECT_EQ(exposed(analysis, 0), (Parts{{kSend, 10}, {kCollectiveWait, 400}, {kCollective, 100}}));
    EXPECT_EQ(exposed(analysis, 1), (Parts{{kCollective, 100}}));
}

TEST(Transfers, AfterTheLastMemberAFenceWaitsForTransfers) {
    // Rank 1 enters at 80: rank 0 waits for no rank from 100 on. Until 310 its transfer is in flight.
    Fence story(80);
    const auto parameters = machine(true);
    Analysis analysis(story.program(), parameters, {}, 1);
    EXPECT_EQ(exposed(analysis, 0), (Parts{{kSend, 10}, {kWire, 160}, {kBytes, 50}, {kCollective, 290}}));
}

TEST(Transfers, AnAccessWaitsForALatePost) {
    // Start and Put return at once; Complete waits from 120 to the post at 400; at 450 the bytes have left.
    AccessStory story(400, 120);
    const auto parameters = machine(true);
    Analysis analysis(story.program(), parameters, {}, 1);
    EXPECT_EQ(parts(analysis), (Parts{{kSend, 10}, {kLatePost, 280}, {kBytes, 50}, {kResidual, 250}}));
    const auto found = exposed(analysis, 0);
    EXPECT_EQ(found.at(kLatePost), 280);
    EXPECT_EQ(found.at(kBytes), 50);
    // The rank waits behind its own late post: Complete was entered long before, and its notice takes L.
    EXPECT_FALSE(exposed(analysis, 1).contains(kLatePut));
}

TEST(Transfers, AnEarlyPostIsNotWaitedFor) {
    AccessStory story(50, 120);
    const auto parameters = machine(true);
    Analysis analysis(story.program(), parameters, {}, 1);
    EXPECT_FALSE(parts(analysis).contains(kLatePost));
    EXPECT_FALSE(exposed(analysis, 0).contains(kLatePost));
}

TEST(Transfers, AnExposureWaitsForALateComplete) {
    // Wait from 500 on, Complete at 650, and L until the target knows; then no rank knows.
    AccessStory story(50, 650);
    const auto parameters = machine(true);
    Analysis analysis(story.program(), parameters, {}, 1);
    const auto found = exposed(analysis, 1);
    EXPECT_EQ(found.at(kLatePut), 150);
    EXPECT_EQ(found.at(kWire), 100);
}

/// Ranks 1 and 2 lock the memory of rank 0: rank 1 from 100 to 400, rank 2 from 150 to 600, in unlock from 200.
struct Locks : ProgramStory {
    explicit Locks(Epoch::Kind kind) {
        for (int i = 0; i < 3; ++i) {
            rank(0, 1000);
        }
        const auto first = call(1, CallKind::one_sided, 100, 110);
        epoch(1, kind, first, call(1, CallKind::one_sided, 300, 400), 0);
        const auto second = call(2, CallKind::one_sided, 150, 160);
        epoch(2, kind, second, call(2, CallKind::one_sided, 200, 600), 0);
    }
};

TEST(Transfers, ALockWaitsForWhoeverHeldItBefore) {
    Locks story(Epoch::Kind::lock_exclusive);
    const auto parameters = machine(true);
    Analysis analysis(story.program(), parameters, {}, 1);
    EXPECT_EQ(exposed(analysis, 2).at(kLockWait), 200);  // of the unlock, from 200 until rank 1 is out at 400
    EXPECT_FALSE(exposed(analysis, 1).contains(kLockWait));
    EXPECT_EQ(analysis.transfers().permission(2, 0).by, Location{1});
}

TEST(Transfers, AReleaseThatReturnsLateIsStillTheEarlierOne) {
    // Rank 1 has put under its lock by 140. Its unlock returns at 700, when rank 2 has long got the lock and left it.
    ProgramStory story;
    for (int i = 0; i < 3; ++i) {
        story.rank(0, 1000);
    }
    const auto locked = story.call(1, CallKind::one_sided, 100, 110);
    const auto put = story.call(1, CallKind::one_sided, 120, 130);
    story.put(1, put, story.call(1, CallKind::one_sided, 135, 140), 0, 1);
    story.epoch(1, Epoch::Kind::lock_exclusive, locked, story.call(1, CallKind::one_sided, 300, 700), 0);
    const auto second = story.call(2, CallKind::one_sided, 150, 400);
    story.epoch(2, Epoch::Kind::lock_exclusive, second, story.call(2, CallKind::one_sided, 420, 500), 0);
    const auto parameters = machine(true);
    Analysis analysis(story.program(), parameters, {}, 1);
    EXPECT_EQ(analysis.transfers().permission(2, 0).by, Location{1});
    EXPECT_EQ(exposed(analysis, 2).at(kLockWait), 250);  // of its lock, which returned after rank 1 began to unlock
    EXPECT_FALSE(exposed(analysis, 1).contains(kLockWait));
}

TEST(Transfers, SharedLocksWaitForNobody) {
    Locks story(Epoch::Kind::lock_shared);
    const auto parameters = machine(true);
    Analysis analysis(story.program(), parameters, {}, 1);
    EXPECT_FALSE(exposed(analysis, 1).contains(kLockWait));
    EXPECT_FALSE(exposed(analysis, 2).contains(kLockWait));
}

TEST(Transfers, AChangeIsMadeByTheLastTransferThatArrivesBefore) {
    // Rank 1 waits from 0 to 500. The put of 300 is there at 460, that of 450 at 610: the first one it was.
    ProgramStory story;
    story.rank(0, 1000);
    story.rank(0, 1000);
    for (const std::int64_t t : {300, 450}) {
        const auto start = story.call(0, CallKind::one_sided, t, t + 20);
        story.put(0, start, start, 1, 51);
    }
    const auto wait = story.call(1, CallKind::one_sided, 0, 500);
    story.epoch(1, Epoch::Kind::change, wait, wait, kUndefined);
    const auto parameters = machine(true);
    Analysis analysis(story.program(), parameters, {}, 1);
    EXPECT_EQ(exposed(analysis, 1), (Parts{{kLatePut, 300}, {kWire, 100}, {kResidual, 100}}));
}

}  // namespace
}  // namespace logpost::replay
