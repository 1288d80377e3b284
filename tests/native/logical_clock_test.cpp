#include "analyzer/archive/native/clocks/logical_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analyzer/archive/native/read/read_program.hpp"
#include "program_story.hpp"
#include "reader_fixture.hpp"
#include "replay/native/split/account.hpp"

namespace logpost::analyzer {
namespace {

using replay::Operation;
using tests::ProgramStory;

std::int64_t corrected(const LogicalClock& clock, std::size_t location, std::int64_t time) {
    return TimeMap::Cursor(clock.maps[clock.map_of[location]]).at(time);
}

TEST(TimeMap, IsLinearBetweenKnotsAndConstantOutside) {
    const TimeMap map({{100, 10}, {200, 30}, {300, 0}});
    TimeMap::Cursor at(map);
    EXPECT_EQ(at.at(0), 10);
    EXPECT_EQ(at.at(100), 110);
    EXPECT_EQ(at.at(150), 170);
    EXPECT_EQ(at.at(200), 230);
    EXPECT_EQ(at.at(250), 265);
    EXPECT_EQ(at.at(400), 400);
    EXPECT_EQ(TimeMap::Cursor(TimeMap()).at(7), 7);
}

TEST(LogicalClock, LeavesTheTimesOfATrueClockAlone) {
    ProgramStory s;
    const auto a = s.rank(0, 5000);
    const auto b = s.rank(0, 5000);
    s.message(a, s.call(a, CallKind::send, 1000, 1100), b, s.call(b, CallKind::receive, 500, 1000), 8);
    const auto clock = logical_clock(s.program());
    EXPECT_TRUE(clock.identity());
    EXPECT_EQ(clock.largest_ps, 0);
    EXPECT_EQ(corrected(clock, 1, 1000), 1000);
}

TEST(LogicalClock, MovesAReceiveBehindItsSend) {
    // b's clock is 200 behind: what it got at 900 was sent at 1000. No pair shows a transit, so it may be 0.
    ProgramStory s;
    const auto a = s.rank(0, 90000);
    const auto b = s.rank(0, 90000);
    const auto sent = s.call(a, CallKind::send, 1000, 1100);
    s.call(b, CallKind::barrier, 100, 200);
    const auto received = s.call(b, CallKind::receive, 400, 900);
    s.call(b, CallKind::barrier, 4900, 5900);
    s.call(b, CallKind::barrier, 20900, 30900);
    s.message(a, sent, b, received, 8);
    const auto clock = logical_clock(s.program());
    EXPECT_EQ(clock.processes, 1U);
    EXPECT_EQ(clock.largest_ps, 100);
    EXPECT_EQ(corrected(clock, 0, 1000), 1000);
    EXPECT_EQ(corrected(clock, 1, 900), 1000);
    // Before: 1 % fast. 500 before it, 5 less; at 100, 3 and 1 less again.
    EXPECT_EQ(corrected(clock, 1, 400), 495);
    EXPECT_EQ(corrected(clock, 1, 200), 293);
    EXPECT_EQ(corrected(clock, 1, 100), 192);
    // After: 1 % slow. 4000 later, 40 less; 5000 later, 50; then it is where it was recorded.
    EXPECT_EQ(corrected(clock, 1, 4900), 4960);
    EXPECT_EQ(corrected(clock, 1, 5900), 5950);
    EXPECT_EQ(corrected(clock, 1, 20900), 20900);
    EXPECT_EQ(corrected(clock, 1, 30900), 30900);
}

TEST(LogicalClock, MovesNoSendBehindItsReceive) {
    // b sends at 800, and a has it at 850: before its receive moves by 100, b's send may move by 50 only.
    ProgramStory s;
    const auto a = s.rank(0, 90000);
    const auto b = s.rank(0, 90000);
    const auto answered = s.call(a, CallKind::receive, 700, 850);
    const auto sent = s.call(a, CallKind::send, 1000, 1100);
    const auto request = s.call(b, CallKind::send, 800, 810);
    const auto received = s.call(b, CallKind::receive, 820, 900);
    s.message(b, request, a, answered, 8);
    s.message(a, sent, b, received, 8);
    const auto clock = logical_clock(s.program());
    // There and back the pair needs (850 − 800 + 900 − 1000) / 2 < 0: nothing is known about the transit.
    EXPECT_EQ(clock.least_transit_ps[0], 0);
    EXPECT_EQ(corrected(clock, 1, 900), 1000);
    EXPECT_EQ(corrected(clock, 1, 820), 920);
    EXPECT_EQ(corrected(clock, 1, 810), 910);
    EXPECT_EQ(corrected(clock, 1, 800), 850);
}

TEST(LogicalClock, ACorrectedMessageTakesWhatTheQuickestPairTakes) {
    // True transit 100 each way, c's clock 300 behind. a and b show the transit.
    ProgramStory s;
    const auto a = s.rank(0, 90000);
    const auto b = s.rank(0, 90000);
    const auto c = s.rank(0, 90000);
    const auto one = s.call(a, CallKind::send, 1000, 1010);
    const auto two = s.call(b, CallKind::receive, 900, 1110);
    const auto three = s.call(b, CallKind::send, 1200, 1210);
    const auto four = s.call(a, CallKind::receive, 1200, 1290);
    const auto five = s.call(a, CallKind::send, 2000, 2010);
    const auto six = s.call(c, CallKind::receive, 1500, 1800);
    s.message(a, one, b, two, 8);
    s.message(b, three, a, four, 8);
    s.message(a, five, c, six, 8);
    const auto clock = logical_clock(s.program());
    EXPECT_EQ(clock.least_transit_ps[0], 100);  // (110 + 90) / 2
    EXPECT_EQ(corrected(clock, 2, 1800), 2100);
    EXPECT_EQ(corrected(clock, 0, 1290), 1290);  // took less than 100, but was no violation
}

TEST(LogicalClock, NobodyLeavesAnAllreduceBeforeTheLastOneCame) {
    ProgramStory s;
    const auto a = s.rank(0, 90000);
    const auto b = s.rank(0, 90000);
    const auto c = s.rank(0, 90000);
    s.collective(a, s.call(a, CallKind::collective, 1000, 1200), Operation::allreduce);
    s.collective(b, s.call(b, CallKind::collective, 500, 700), Operation::allreduce);
    s.collective(c, s.call(c, CallKind::collective, 900, 1000), Operation::allreduce);
    EXPECT_EQ(replay::CollectiveWaits(s.program()).early_ends(), 1U);
    const auto clock = logical_clock(s.program());
    EXPECT_EQ(corrected(clock, 1, 700), 1000);
    EXPECT_EQ(corrected(clock, 1, 500), 798);
    EXPECT_EQ(clock.processes, 1U);
}

TEST(LogicalClock, AMemberOfAnInterCommunicatorIsHeldByTheOtherGroup) {
    // a and b are a group, c the other one: a left before c entered; before b entered, too, which is no violation.
    ProgramStory s;
    for (const auto& [enter, leave] : {std::pair{500, 700}, {2000, 2100}, {1000, 2100}}) {
        const auto rank = s.rank(0, 90000);
        s.collective(rank, s.call(rank, CallKind::collective, enter, leave), Operation::allreduce);
    }
    s.first_group(2);
    EXPECT_EQ(replay::CollectiveWaits(s.program()).early_ends(), 1U);
    const auto clock = logical_clock(s.program());
    EXPECT_EQ(corrected(clock, 0, 700), 1000);
    EXPECT_EQ(clock.processes, 1U);
}

TEST(LogicalClock, ABarrierOfAnInterCommunicatorHoldsNobody) {
    ProgramStory s;
    for (const auto& [enter, leave] : {std::pair{300, 420}, {200, 420}, {600, 620}}) {
        const auto rank = s.rank(0, 90000);
        s.collective(rank, s.call(rank, CallKind::barrier, enter, leave), Operation::barrier);
    }
    s.first_group(1);
    const auto clock = logical_clock(s.program());
    EXPECT_EQ(clock.processes, 0U);
    EXPECT_EQ(corrected(clock, 0, 420), 420);
}

TEST(LogicalClock, WhoExchangesNothingHoldsNobodyAndIsNotHeld) {
    // c gives nothing, d gets nothing, and b has left before a entered: b alone is moved.
    ProgramStory s;
    const auto give_and_get = [&](std::int64_t enter, std::int64_t leave, std::uint64_t gives, std::uint64_t gets) {
        const auto rank = s.rank(0, 90000);
        s.collective(rank, s.call(rank, CallKind::collective, enter, leave), Operation::allgatherv);
        s.gives_and_gets(rank, gives, gets);
    };
    give_and_get(1000, 1200, 8, 8);
    give_and_get(500, 700, 8, 8);
    give_and_get(3000, 3100, 0, 8);
    give_and_get(400, 410, 8, 0);
    const auto clock = logical_clock(s.program());
    EXPECT_EQ(corrected(clock, 0, 1200), 1200);
    EXPECT_EQ(corrected(clock, 1, 700), 1000);
    EXPECT_EQ(corrected(clock, 3, 410), 410);
    EXPECT_EQ(clock.processes, 1U);
}

TEST(LogicalClock, AnAlltoallvHoldsNobodyForWhoMayHaveSkippedIt) {
    // a and b give 8 each. a has left before b entered: 8 bytes may be its own, 12 cannot.
    for (const std::uint64_t got : {8, 12}) {
        ProgramStory s;
        const auto give_and_get = [&](std::int64_t enter, std::int64_t leave, std::uint64_t gives, std::uint64_t gets) {
            const auto rank = s.rank(0, 90000);
            s.collective(rank, s.call(rank, CallKind::collective, enter, leave), Operation::alltoallv);
            s.gives_and_gets(rank, gives, gets);
        };
        give_and_get(500, 700, 8, got);
        give_and_get(1000, 1200, 8, 8);
        const auto clock = logical_clock(s.program());
        EXPECT_EQ(corrected(clock, 0, 700), got == 8 ? 700 : 1000);
    }
}

TEST(LogicalClock, OnlyTheRootOfABroadcastIsWaitedFor) {
    ProgramStory s;
    const auto a = s.rank(0, 90000);
    const auto b = s.rank(0, 90000);
    const auto c = s.rank(0, 90000);
    s.collective(a, s.call(a, CallKind::collective, 1000, 1200), Operation::bcast, 0);
    s.collective(b, s.call(b, CallKind::collective, 500, 700), Operation::bcast, 0);
    s.collective(c, s.call(c, CallKind::collective, 3000, 3100), Operation::bcast, 0);
    const auto clock = logical_clock(s.program());
    EXPECT_EQ(corrected(clock, 1, 700), 1000);
    EXPECT_EQ(corrected(clock, 0, 1200), 1200);  // not held by c
}

TEST(LogicalClock, AScanWaitsForLowerRanksOnly) {
    ProgramStory s;
    const auto a = s.rank(0, 90000);
    const auto b = s.rank(0, 90000);
    const auto c = s.rank(0, 90000);
    s.collective(a, s.call(a, CallKind::collective, 1000, 1200), Operation::scan);
    s.collective(b, s.call(b, CallKind::collective, 2000, 2100), Operation::scan);
    s.collective(c, s.call(c, CallKind::collective, 1400, 1500), Operation::scan);
    const auto clock = logical_clock(s.program());
    EXPECT_EQ(corrected(clock, 0, 1200), 1200);
    EXPECT_EQ(corrected(clock, 2, 1500), 2000);
}

TEST(LogicalClock, ACircleIsCountedAndLeftAlone) {
    // Each receives, in its first call, what the other sends in its second: no clock makes this true.
    ProgramStory s;
    const auto a = s.rank(0, 9000);
    const auto b = s.rank(0, 9000);
    const auto ra = s.call(a, CallKind::receive, 100, 200);
    const auto sa = s.call(a, CallKind::send, 300, 400);
    const auto rb = s.call(b, CallKind::receive, 100, 200);
    const auto sb = s.call(b, CallKind::send, 300, 400);
    s.message(a, sa, b, rb, 8);
    s.message(b, sb, a, ra, 8);
    EXPECT_EQ(logical_clock(s.program()).unordered, 1U);
}

/// Random rounds of exchanges and barriers on true clocks, written to an archive under clocks that drift and jump.
class WrongClocks : public Reader, public ::testing::WithParamInterface<std::uint32_t> {
  protected:
    static constexpr std::uint32_t kRanks = 5;
    static constexpr int kRounds = 60;

    void write(double wrong_by_ticks) {
        std::mt19937 random(GetParam());
        archive.world(kRanks);
        const auto send = archive.region("MPI_Send");
        const auto receive = archive.region("MPI_Recv");
        const auto barrier = archive.region("MPI_Barrier");
        struct Record {
            std::uint64_t begin, end;
            std::uint32_t what, peer;
        };
        std::vector<std::vector<Record>> records(kRanks);
        std::vector<std::uint64_t> now(kRanks, 1000);
        for (int round = 0; round < kRounds; ++round) {
            const auto from = static_cast<std::uint32_t>(random() % kRanks);
            const auto to = static_cast<std::uint32_t>((from + 1 + random() % (kRanks - 1)) % kRanks);
            for (auto& t : now) {
                t += random() % 500;
            }
            const auto sent = now[from];
            records[from].push_back({sent, sent + 10, send, to});
            now[from] += 10;
            const auto arrived = std::max(now[to], sent + 30) + 5;
            records[to].push_back({now[to], arrived, receive, from});
            now[to] = arrived;
            if (random() % 8 == 0) {
                const auto last = *std::ranges::max_element(now);
                for (std::uint32_t r = 0; r < kRanks; ++r) {
                    records[r].push_back({now[r], last + 20, barrier, 0});
                    now[r] = last + 20;
                }
            }
        }
        std::uniform_real_distribution<double> wrong(0, wrong_by_ticks);
        for (std::uint32_t r = 0; r < kRanks; ++r) {
            const auto ahead = static_cast<std::uint64_t>(wrong(random));
            const auto drift = wrong(random) * 1e-4;
            const auto clock = [&](std::uint64_t t) {
                return t + ahead + static_cast<std::uint64_t>(drift * static_cast<double>(t) / 100);
            };
            archive.events(r, [&](Events& e) {
                for (const auto& call : records[r]) {
                    e.enter(clock(call.begin), call.what);
                    if (call.what == send) {
                        e.send(clock(call.begin) + 1, call.peer, 0, 0, 8);
                    } else if (call.what == receive) {
                        e.recv(clock(call.end), call.peer, 0, 0, 8);
                    } else {
                        e.collective(clock(call.begin), clock(call.end), OTF2_COLLECTIVE_OP_BARRIER, 0);
                    }
                    e.leave(clock(call.end), call.what);
                }
            });
        }
    }
};

TEST_P(WrongClocks, AreRepairedWithoutAViolationLeft) {
    write(2000);
    const auto anchor = archive.finish();
    const auto before = read_program(anchor, {.threads = 1}, ClockMode::offsets);
    const auto after = read_program(anchor, {.threads = 2}, ClockMode::clc);
    ASSERT_GT(before.clocks.left.messages + before.clocks.left.collectives, 0U);
    EXPECT_EQ(before.clocks.largest_ps, 0);
    EXPECT_EQ(after.clocks.recorded.messages, before.clocks.left.messages);
    EXPECT_EQ(after.clocks.recorded.collectives, before.clocks.left.collectives);
    EXPECT_EQ(after.clocks.left.messages, 0U);
    EXPECT_EQ(after.clocks.left.collectives, 0U);
    EXPECT_GT(after.clocks.largest_ps, 0);

    // Every call stays a call, and only what ends at a moved effect, or follows a send held by its receive, changes by
    // more than 1 % (2 ps of rounding).
    std::size_t intervals = 0;
    std::size_t changed = 0;
    for (std::size_t l = 0; l < kRanks; ++l) {
        const auto& was = before.program.timelines[l].calls;
        const auto& is = after.program.timelines[l].calls;
        ASSERT_EQ(was.size(), is.size());
        for (std::size_t i = 0; i < was.size(); ++i) {
            EXPECT_LE(is[i].enter_ps, is[i].leave_ps);
            ++intervals;
            const auto old_length = was[i].leave_ps - was[i].enter_ps;
            const auto new_length = is[i].leave_ps - is[i].enter_ps;
            EXPECT_GE(new_length, old_length - old_length / 100 - 2);
            changed += new_length > old_length + old_length / 100 + 2 ? 1 : 0;
            if (i != 0) {
                ++intervals;
                const auto old_gap = was[i].enter_ps - was[i - 1].leave_ps;
                const auto new_gap = is[i].enter_ps - is[i - 1].leave_ps;
                EXPECT_GE(new_gap, old_gap - old_gap / 100 - 2);
                changed += new_gap > old_gap + old_gap / 100 + 2 ? 1 : 0;
            }
        }
    }
    const auto violations = before.clocks.left.messages + before.clocks.left.collectives;
    EXPECT_LE(changed, violations + intervals / 10);
}

TEST_P(WrongClocks, TrueOnesAreReadAsTheyAre) {
    write(0);
    const auto anchor = archive.finish();
    const auto before = read_program(anchor, {.threads = 1}, ClockMode::offsets);
    const auto after = read_program(anchor, {.threads = 1}, ClockMode::clc);
    EXPECT_EQ(after.clocks.processes, 0U);
    EXPECT_EQ(before.length_ps, after.length_ps);
}

INSTANTIATE_TEST_SUITE_P(Seeds, WrongClocks, ::testing::Range(1U, 21U));

class ClockModes : public Reader {};

TEST_F(ClockModes, NoneLeavesTheArchivesOffsetsAside) {
    // b's clock is 5000 ticks behind, and the archive says so.
    archive.world(2);
    const auto barrier = archive.region("MPI_Barrier");
    archive.local(1, {{0, 5000}});
    archive.events(0, [&](Events& e) {
        e.enter(6000, barrier).collective(6000, 6100, OTF2_COLLECTIVE_OP_BARRIER, 0).leave(6100, barrier);
    });
    archive.events(1, [&](Events& e) {
        e.enter(1000, barrier).collective(1000, 1100, OTF2_COLLECTIVE_OP_BARRIER, 0).leave(1100, barrier);
    });
    const auto anchor = archive.finish();
    const auto none = read_program(anchor, {.threads = 1}, ClockMode::none);
    EXPECT_EQ(none.clocks.left.collectives, 1U);
    EXPECT_EQ(counted(none, Quality::collective_ended_early), 1U);
    EXPECT_EQ(none.length_ps, 5100 * 1000);
    const auto offsets = read_program(anchor, {.threads = 1}, ClockMode::offsets);
    EXPECT_EQ(offsets.clocks.left.collectives, 0U);
    EXPECT_EQ(offsets.length_ps, 100 * 1000);
}

}  // namespace
}  // namespace logpost::analyzer
