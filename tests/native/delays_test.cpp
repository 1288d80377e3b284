#include "replay/native/waits/delays.hpp"

#include <gtest/gtest.h>

#include "program_story.hpp"

namespace logpost::replay {
namespace {

using tests::ProgramStory;

/// A cost in short form. A story's callpaths are the kinds of its calls.
struct DelayRow {
    std::int32_t location;
    std::uint32_t place;
    std::int32_t waits_in;
    std::int64_t short_term_ps;
    std::int64_t long_term_ps;
    bool operator==(const DelayRow&) const = default;
};

void PrintTo(const DelayRow& t, std::ostream* out) {
    *out << t.location << " in place " << t.place << ", waited for in " << t.waits_in << ": " << t.short_term_ps
         << " + " << t.long_term_ps;
}

std::vector<DelayRow> costs(const Program& program, Span interest = {}, unsigned threads = 1) {
    const CollectiveWaits collectives(program);
    const Waits waits(program, collectives, {}, threads);
    std::vector<DelayRow> found;
    for (const auto& cost :
         delay_costs(program, collectives, waits, std::vector<Span>(program.timelines.size(), interest), threads)) {
        found.push_back({number(cost.location), cost.place.code(), cost.wait_callpath,
                         static_cast<std::int64_t>(cost.short_term_ps), static_cast<std::int64_t>(cost.long_term_ps)});
    }
    return found;
}

std::uint32_t before(CallKind kind) {
    return CodePlace{static_cast<std::int32_t>(kind), false}.code();
}
std::uint32_t in(CallKind kind) {
    return CodePlace{static_cast<std::int32_t>(kind), true}.code();
}
std::uint32_t nowhere() {
    return CodePlace{kUndefined, false}.code();
}
constexpr auto kReceive = static_cast<std::int32_t>(CallKind::receive);
constexpr auto kBarrier = static_cast<std::int32_t>(CallKind::barrier);
constexpr auto kCollective = static_cast<std::int32_t>(CallKind::collective);

TEST(Delays, TheComputationOfALateSenderIsWhatItsReceiverWaitsFor) {
    ProgramStory story;
    story.rank(0, 1000);
    story.rank(1, 1000);
    const auto send = story.call(0, CallKind::send, 300, 310);
    const auto receive = story.call(1, CallKind::receive, 50, 500);
    story.message(0, send, 1, receive, 8);
    // Rank 0 computed 300, rank 1 50: a delay of 250, as long as the wait from 50 to 300.
    EXPECT_EQ(costs(story.program()), (std::vector<DelayRow>{{0, before(CallKind::send), kReceive, 250, 0}}));
    // A wait that begins before the region of interest is none of its.
    EXPECT_TRUE(costs(story.program(), Span{60, 1000}).empty());
}

TEST(Delays, AWaitThatIsPassedOnIsPaidWhereItBegan) {
    ProgramStory story;
    for (int rank = 0; rank < 3; ++rank) {
        story.rank(rank, 1000);
    }
    const auto first = story.call(0, CallKind::send, 500, 510);
    const auto second = story.call(1, CallKind::receive, 100, 560);
    const auto third = story.call(1, CallKind::send, 600, 610);
    const auto fourth = story.call(2, CallKind::receive, 50, 700);
    story.message(0, first, 1, second, 8);
    story.message(1, third, 2, fourth, 8);
    // Rank 2 waits 550 for rank 1, which computed 100 + 40 (rank 2: 50), was 60 in its receive after its wait, and
    // waited 400: 90 and 60 are its own delay, 400 are passed on. Rank 1 waited 400 for rank 0, which computed 500
    // (rank 1: 100): it pays for both waits. 400 + 400 + 150 = 400 + 550.
    EXPECT_EQ(costs(story.program()), (std::vector<DelayRow>{{0, before(CallKind::send), kReceive, 400, 400},
                                                             {1, before(CallKind::send), kReceive, 40, 0},
                                                             {1, before(CallKind::receive), kReceive, 50, 0},
                                                             {1, in(CallKind::receive), kReceive, 60, 0}}));
}

TEST(Delays, TheLastMemberOfABarrierPaysForAllWhoWait) {
    ProgramStory story;
    for (const auto enter : {100, 700, 250}) {
        const auto rank = story.rank(0, 1000);
        story.collective(rank, story.call(rank, CallKind::barrier, enter, 720), Operation::barrier);
    }
    EXPECT_EQ(costs(story.program()), (std::vector<DelayRow>{{1, before(CallKind::barrier), kBarrier, 1050, 0}}));
}

TEST(Delays, OnlyWhatWasDoneSinceTheLastSynchronizationCounts) {
    ProgramStory story;
    // Rank 0 computes 400 before a barrier, then both compute 100 and 250 before the next one.
    for (const auto& [first, second] : {std::pair{400, 520}, {100, 670}}) {
        const auto rank = story.rank(0, 1000);
        story.collective(rank, story.call(rank, CallKind::barrier, first, 420), Operation::barrier, -1, 0);
        story.collective(rank, story.call(rank, CallKind::collective, second, 690), Operation::allreduce, -1, 1);
    }
    EXPECT_EQ(costs(story.program()), (std::vector<DelayRow>{{0, before(CallKind::barrier), kBarrier, 300, 0},
                                                             {1, before(CallKind::collective), kCollective, 150, 0}}));
}

TEST(Delays, AnInterCommunicatorSynchronizesEachGroupWithTheOther) {
    // Ranks 0 and 1 are a group, 2 the other one. Then rank 1 waits for a message, of 2 or of 0.
    for (const auto sender : {2, 0}) {
        ProgramStory story;
        for (const auto& [enter, leave] : {std::pair{60, 210}, {100, 210}, {200, 210}}) {
            const auto rank = story.rank(0, 1000);
            story.collective(rank, story.call(rank, CallKind::barrier, enter, leave), Operation::barrier);
        }
        story.first_group(2);
        const auto send = story.call(sender, CallKind::send, 500, 510);
        const auto receive = story.call(1, CallKind::receive, 250, 600);
        story.message(sender, send, 1, receive, 8);
        // For rank 2 both others wait in the barrier, 140 and 100.
        const auto waited = DelayRow{2, before(CallKind::barrier), kBarrier, 240, 0};
        const auto found = costs(story.program());
        if (sender == 2) {
            // Since the barrier it computes 290, rank 1 40: 250, as long as the wait.
            EXPECT_EQ(found, (std::vector<DelayRow>{{2, before(CallKind::send), kReceive, 250, 0}, waited}));
        } else {
            // No barrier was between them. Since the begin rank 0 computes 60 + 290, 210 more than rank 1, and waits
            // 140 for rank 2, which pays for its part of the 250.
            EXPECT_EQ(found, (std::vector<DelayRow>{{0, before(CallKind::send), kReceive, 150, 0},
                                                    {2, before(CallKind::barrier), kBarrier, 0, 100},
                                                    waited}));
        }
    }
}

TEST(Delays, AWaitThatNoDelayExplainsIsToldAsSuch) {
    ProgramStory story;
    story.rank(0, 1000, 240);
    story.rank(1, 1000);
    const auto send = story.call(0, CallKind::send, 300, 310);
    const auto receive = story.call(1, CallKind::receive, 50, 500);
    story.message(0, send, 1, receive, 8);
    // Rank 0 begins at 240 and computes 60, 10 more than rank 1, which waits 250.
    EXPECT_EQ(costs(story.program()), (std::vector<DelayRow>{{0, before(CallKind::send), kReceive, 10, 0},
                                                             {kUndefined, nowhere(), kUndefined, 240, 0}}));
}

TEST(Delays, LongProgramsAreReadFromSums) {
    // 3,000 pairs of calls in which no rank waits, then one wait: rank 0 computes 2 longer before every call.
    ProgramStory story;
    story.rank(0, 100'000);
    story.rank(1, 100'000);
    for (int i = 0; i < 3000; ++i) {
        story.call(0, CallKind::other, 12 * i + 10, 12 * i + 12);
        story.call(1, CallKind::other, 10 * i + 8, 10 * i + 10);
    }
    const auto send = story.call(0, CallKind::send, 36'000, 36'010);
    const auto receive = story.call(1, CallKind::receive, 30'000, 36'020);
    story.message(0, send, 1, receive, 8);
    EXPECT_EQ(costs(story.program()), (std::vector<DelayRow>{{0, before(CallKind::other), kReceive, 6000, 0}}));
}

TEST(Delays, WhoTookNoPartInASynchronizationIsComparedFromFurtherBack) {
    ProgramStory story;
    for (int rank = 0; rank < 3; ++rank) {
        story.rank(rank, 1000);
    }
    for (const auto rank : {0, 2}) {
        story.collective(rank, story.call(rank, CallKind::barrier, 140, 160), Operation::barrier);
    }
    const auto send = story.call(0, CallKind::send, 300, 310);
    const auto receive = story.call(1, CallKind::receive, 50, 500);
    story.message(0, send, 1, receive, 8);
    story.members({0, kUndefined, kUndefined, 2});
    // Since the begin: rank 0 computes 140 + 140, 230 more than rank 1, and is in the barrier for 20.
    EXPECT_EQ(costs(story.program()), (std::vector<DelayRow>{{0, before(CallKind::send), kReceive, 115, 0},
                                                             {0, before(CallKind::barrier), kReceive, 115, 0},
                                                             {0, in(CallKind::barrier), kReceive, 20, 0}}));
}

TEST(Delays, ManyWaitsCostTheSameOnAnyNumberOfThreads) {
    // 40,000 times, rank 0 computes 80 and sends, while rank 1 computes 50 and waits 30; more than are compared at
    // once.
    constexpr int kTimes = 40'000;
    ProgramStory story;
    story.rank(0, 100 * kTimes);
    story.rank(1, 100 * kTimes);
    for (int i = 0; i < kTimes; ++i) {
        const auto send = story.call(0, CallKind::send, 100 * i + 80, 100 * i + 100);
        const auto receive = story.call(1, CallKind::receive, 100 * i + 50, 100 * i + 100);
        story.message(0, send, 1, receive, 8);
    }
    const auto& program = story.program();
    const std::vector<DelayRow> expected{{0, before(CallKind::send), kReceive, 30 * kTimes, 0}};
    for (const auto threads : {1U, 2U, 5U}) {
        EXPECT_EQ(costs(program, {}, threads), expected) << threads << " threads";
    }
}

TEST(Delays, TheLastMemberOfACreationPaysAsThatOfABarrierDoes) {
    // Before the creation rank 1 computes 700, the others 100 and 250; after it, rank 0 computes 80 longer than the
    // others, to which its excess of before, -600, is nothing: the creation synchronized them.
    ProgramStory story;
    for (const auto& [enter, next] : {std::pair{100, 820}, {700, 740}, {250, 740}}) {
        const auto rank = story.rank(0, 1000);
        story.collective(rank, story.call(rank, CallKind::other, enter, 720), Operation::create_handle, -1, 0);
        story.collective(rank, story.call(rank, CallKind::barrier, next, 830), Operation::barrier, -1, 1);
    }
    constexpr auto kOther = static_cast<std::int32_t>(CallKind::other);
    EXPECT_EQ(costs(story.program()),
              (std::vector<DelayRow>{{0, before(CallKind::barrier), kBarrier, 160, 0},  // 2 x 80
                                     {1, before(CallKind::other), kOther, 1050, 0}}));  // 600 + 450
}

}  // namespace
}  // namespace logpost::replay
