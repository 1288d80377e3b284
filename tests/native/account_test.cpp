#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "program_story.hpp"
#include "replay/native/split/analysis.hpp"

namespace logpost::replay {
namespace {

using tests::plain_machine;
using tests::ProgramStory;

/// Time by phase and category on one location.
std::map<std::pair<Phase, std::uint8_t>, std::int64_t> sums(Analysis& analysis, std::size_t place) {
    std::map<std::pair<Phase, std::uint8_t>, std::int64_t> result;
    for (const auto& row : analysis.accounts()[place]) {
        result[{row.phase, row.category}] += row.exposed_ps;
    }
    return result;
}

/// Rank 0: Init 0..100, Send 200..210, Finalize 900..1000. Rank 1: Init 0..150, Recv 150..480, Finalize 900..1000.
///
/// The 51 B leave at 210, arrive at 210 + L + 50 G = 360; the receive could have ended at 360 + o_r = 380 and ends 100
/// later. It waited from 150 to the send's enter at 200.
struct InitToFinalize : ProgramStory {
    InitToFinalize() {
        rank(0, 1000);
        rank(1, 1000);
        call(0, CallKind::initialize, 0, 100);
        const auto send = call(0, CallKind::send, 200, 210);
        call(0, CallKind::finalize, 900, 1000);
        call(1, CallKind::initialize, 0, 150);
        const auto receive = call(1, CallKind::receive, 150, 480);
        call(1, CallKind::finalize, 900, 1000);
        message(0, send, 1, receive, 51);
    }
};

TEST(Account, EveryInstantHasAPhaseAndACategory) {
    InitToFinalize story;
    const auto machine = plain_machine();
    Analysis analysis(story.program(), machine, {}, 1);
    const auto found = sums(analysis, 1);
    const std::map<std::pair<Phase, std::uint8_t>, std::int64_t> wanted = {
        {{Phase::start_up, kMpiOther}, 150},
        {{Phase::program, kCompute}, 420},                         // 480..900
        {{Phase::program, category_of(Part::late_sender)}, 50},    // 150..200
        {{Phase::program, category_of(Part::send_overhead)}, 10},  // 200..210, the sender's
        {{Phase::program, category_of(Part::latency)}, 100},       // 210..310
        {{Phase::program, category_of(Part::serialization)}, 50},  // 310..360
        {{Phase::program, category_of(Part::residual)}, 100},      // 360..460
        {{Phase::program, category_of(Part::recv_overhead)}, 20},  // 460..480
        {{Phase::shut_down, kMpiOther}, 100},
    };
    EXPECT_EQ(found, wanted);
}

TEST(Account, InitializationAndFinalizationWaitForTheirLastMember) {
    // Rank 1 enters MPI_Init at 200 and MPI_Finalize at 900, rank 0 at 50 and 600; each call is left by both after
    // that.
    ProgramStory story;
    for (const auto& [init, finalize] : {std::pair{50, 600}, {200, 900}}) {
        const auto rank = story.rank(0, 1000, init);
        story.call(rank, CallKind::initialize, init, 250);
        story.call(rank, CallKind::finalize, finalize, 950);
    }
    const auto machine = plain_machine();
    Analysis analysis(story.program(), machine, {}, 1);
    const auto found = sums(analysis, 0);
    EXPECT_EQ(found.at({Phase::start_up, kCollectiveWait}), 150);   // 50..200
    EXPECT_EQ(found.at({Phase::start_up, kMpiOther}), 50);          // 200..250
    EXPECT_EQ(found.at({Phase::shut_down, kCollectiveWait}), 300);  // 600..900
    EXPECT_EQ(found.at({Phase::shut_down, kMpiOther}), 50);         // 900..950
}

TEST(Account, WhatAThreadCommunicatesIsNoStartUpOfItsProcess) {
    // The first thread: Init 0..100, off 200..300 and 500..600, Finalize 900..1000. The other one, which is off then as
    // well, sends at 150 and at 700.
    ProgramStory story;
    const auto rank = story.rank(0, 1000);
    const auto thread = story.thread(rank, 720, 150);
    story.call(rank, CallKind::initialize, 0, 100);
    for (const auto location : {rank, thread}) {
        const bool sends = location == thread;
        if (sends) {
            story.lost_send(thread, story.call(thread, CallKind::send, 150, 160), 8);
        }
        story.call(location, CallKind::not_recorded, 200, 300);
        story.call(location, CallKind::not_recorded, 500, 600);
        if (sends) {
            story.lost_send(thread, story.call(thread, CallKind::send, 700, 720), 8);
        }
    }
    story.call(rank, CallKind::finalize, 900, 1000);
    const auto machine = plain_machine();
    Analysis analysis(story.program(), machine, {}, 1);
    const std::map<std::pair<Phase, std::uint8_t>, std::int64_t> first = {
        {{Phase::start_up, kMpiOther}, 100},
        {{Phase::program, kCompute}, 100 + 200 + 300},  // 100..200, 300..500, 600..900
        {{Phase::outside, kMpiOther}, 200},
        {{Phase::shut_down, kMpiOther}, 100},
    };
    EXPECT_EQ(sums(analysis, 0), first);
    const std::map<std::pair<Phase, std::uint8_t>, std::int64_t> other = {
        {{Phase::program, kResidual}, 10 + 20},
        {{Phase::program, kCompute}, 40 + 200 + 100},  // 160..200, 300..500, 600..700
        {{Phase::outside, kMpiOther}, 200},
    };
    EXPECT_EQ(sums(analysis, 1), other);
}

TEST(Account, TimeOfTheProgramOutsideOfTheRegionOfInterestIsOutside) {
    InitToFinalize story;
    const auto machine = plain_machine();
    // From the middle of the latency to the middle of the computation after the receive.
    Analysis analysis(story.program(), machine, std::vector<Span>(2, Span{260, 600}), 1);
    const auto found = sums(analysis, 1);
    EXPECT_EQ(found.at({Phase::outside, category_of(Part::late_sender)}), 50);
    EXPECT_EQ(found.at({Phase::outside, category_of(Part::latency)}), 50);
    EXPECT_EQ(found.at({Phase::program, category_of(Part::latency)}), 50);
    EXPECT_EQ(found.at({Phase::program, kCompute}), 120);
    EXPECT_EQ(found.at({Phase::outside, kCompute}), 300);
    EXPECT_EQ(found.at({Phase::start_up, kMpiOther}), 150);
    EXPECT_EQ(analysis.interest(1).begin_ps, 260);
    // The receive was entered before the region: its message is none of it.
    EXPECT_TRUE(analysis.pairs()[1].empty());
}

TEST(Account, RowsThatNobodyAskedForAreAccountedAllTheSame) {
    InitToFinalize story;
    const auto machine = plain_machine();
    Analysis some(story.program(), machine, {}, 1);
    Analysis none(story.program(), machine, {}, 1);
    CallRows rows;
    ASSERT_TRUE(some.next_calls(0, 2, rows));
    EXPECT_EQ(sums(some, 0), sums(none, 0));
    EXPECT_EQ(sums(some, 1), sums(none, 1));
    EXPECT_EQ(some.call_blocks(), 1U);
    EXPECT_FALSE(some.next_calls(0, 2, rows));
    EXPECT_EQ(none.pairs()[1].at(0).bytes, 51U);
}

TEST(Account, BatchesOfABlockAreOfEqualSize) {
    InitToFinalize story;
    const auto machine = plain_machine();
    Analysis analysis(story.program(), machine, {}, 1);
    CallRows rows;
    std::vector<std::size_t> sizes;
    while (analysis.next_calls(0, 4, rows)) {
        sizes.push_back(rows.call.size());
    }
    EXPECT_EQ(sizes, (std::vector<std::size_t>{3, 3}));  // not 4 and 2
}

TEST(Account, ColumnsOfCategoriesInWhichNoCallHasTimeAreLeftOut) {
    InitToFinalize story;
    const auto machine = plain_machine();
    Analysis analysis(story.program(), machine, {}, 2);
    CallRows rows;
    ASSERT_TRUE(analysis.next_calls(0, 16, rows));
    ASSERT_EQ(rows.call.size(), 6U);
    const auto of = [&](Part part) { return rows.exposed[category_of(part) - 1]; };
    EXPECT_EQ(of(Part::late_sender), (std::vector<std::int64_t>{0, 0, 0, 0, 50, 0}));
    EXPECT_EQ(of(Part::send_overhead), (std::vector<std::int64_t>{0, 10, 0, 0, 10, 0}));
    EXPECT_EQ(rows.exposed[kMpiOther - 1], (std::vector<std::int64_t>{100, 0, 100, 150, 0, 100}));
    EXPECT_TRUE(of(Part::middleware).empty());
    EXPECT_TRUE(of(Part::late_receiver).empty());
}

TEST(Account, OneSetOfCausesServesAnalysesUnderSeveralMachines) {
    InitToFinalize story;
    const auto machine = plain_machine();
    auto slower = machine;
    for (auto& of : slower.localities) {
        for (auto& range : of.ranges) {
            range.L *= 1.5;
        }
    }
    const auto causes = std::make_shared<Causes>(story.program(), std::vector<Span>{}, 1);
    ASSERT_FALSE(causes->delays().empty());  // found before either machine is known
    Analysis shared(story.program(), machine, 1, causes);
    Analysis other(story.program(), slower, 1, causes);
    Analysis alone(story.program(), machine, {}, 1);
    EXPECT_EQ(sums(shared, 1), sums(alone, 1));
    EXPECT_NE(sums(other, 1), sums(alone, 1));
    EXPECT_EQ(shared.delays().size(), alone.delays().size());
    EXPECT_EQ(other.path().size(), alone.path().size());
}

TEST(Account, CallsAreNumberedOverTheWholeRun) {
    InitToFinalize story;
    const auto machine = plain_machine();
    const Analysis analysis(story.program(), machine, {}, 1);
    EXPECT_EQ(analysis.call_id(0, 2), 2);
    EXPECT_EQ(analysis.call_id(1, 0), 3);
    EXPECT_EQ(analysis.call_id(1, kNone), kUndefined);
}

}  // namespace
}  // namespace logpost::replay
