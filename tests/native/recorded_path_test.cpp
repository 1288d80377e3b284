#include "replay/native/waits/recorded_path.hpp"

#include <gtest/gtest.h>

#include "program_story.hpp"
#include "replay/native/split/analysis.hpp"

namespace logpost::replay {
namespace {

using tests::AccessStory;
using tests::ProgramStory;

struct Stretch {
    std::int32_t location;
    std::int64_t begin_ps;
    std::int64_t end_ps;
    bool operator==(const Stretch&) const = default;
};

void PrintTo(const Stretch& s, std::ostream* out) {
    *out << s.location << ": " << s.begin_ps << ".." << s.end_ps;
}

/// The path of a story; it has no gap, and is as long as the execution.
std::vector<Stretch> path(const Program& program) {
    std::vector<Stretch> found;
    std::int64_t at = 0;
    for (const auto& stretch : recorded_path(program, Waits(program, CollectiveWaits(program), {}, 1))) {
        EXPECT_EQ(stretch.begin_ps, at);
        at = stretch.end_ps;
        if (stretch.begin_ps < stretch.end_ps) {
            found.push_back({number(stretch.location), stretch.begin_ps, stretch.end_ps});
        }
    }
    EXPECT_EQ(at, program.length_ps);
    return found;
}

TEST(RecordedPath, LeadsFromAReceiveThatWaitedToTheLateSender) {
    ProgramStory story;
    story.rank(0, 320);
    story.rank(1, 1000);
    const auto send = story.call(0, CallKind::send, 300, 310);
    const auto receive = story.call(1, CallKind::receive, 50, 400);
    story.message(0, send, 1, receive, 8);
    // Rank 1 is last; it waited from 50 until rank 0 entered its send at 300.
    EXPECT_EQ(path(story.program()), (std::vector<Stretch>{{0, 0, 300}, {1, 300, 1000}}));
}

TEST(RecordedPath, FollowsAChainOfLateSendersToTheRankThatComputed) {
    ProgramStory story;
    story.rank(0, 1000);
    story.rank(1, 1000);
    story.rank(2, 1001);
    const auto first = story.call(0, CallKind::send, 500, 510);
    const auto second = story.call(1, CallKind::receive, 100, 560);
    const auto third = story.call(1, CallKind::send, 600, 610);
    const auto fourth = story.call(2, CallKind::receive, 50, 700);
    story.message(0, first, 1, second, 8);
    story.message(1, third, 2, fourth, 8);
    EXPECT_EQ(path(story.program()), (std::vector<Stretch>{{0, 0, 500}, {1, 500, 600}, {2, 600, 1001}}));
}

TEST(RecordedPath, LeadsFromASendThatWaitedToTheLateReceiver) {
    ProgramStory story;
    story.rank(0, 1000);
    story.rank(1, 900);
    const auto send = story.call(0, CallKind::send, 100, 450);
    const auto receive = story.call(1, CallKind::receive, 400, 500);
    story.message(0, send, 1, receive, 8);
    EXPECT_EQ(path(story.program()), (std::vector<Stretch>{{1, 0, 400}, {0, 400, 1000}}));
}

TEST(RecordedPath, LeadsFromABarrierToItsLastMember) {
    ProgramStory story;
    for (const auto& [enter, last] : {std::pair{100, 1000}, {700, 900}, {250, 800}}) {
        const auto rank = story.rank(0, last);
        story.collective(rank, story.call(rank, CallKind::barrier, enter, 720), Operation::barrier);
    }
    EXPECT_EQ(path(story.program()), (std::vector<Stretch>{{1, 0, 700}, {0, 700, 1000}}));
}

TEST(RecordedPath, LeadsFromABroadcastToItsRootAndFromAReductionsRootToItsLastMember) {
    ProgramStory story;
    // Broadcast from rank 0, begun at 200 by the root; reduction to rank 2, which waits for rank 1 until 600.
    for (const auto& [first, second, last] : {std::tuple{200, 400, 700}, {50, 600, 800}, {60, 300, 1000}}) {
        const auto rank = story.rank(0, last);
        const auto leave = rank == 2 ? 650 : second + 20;
        story.collective(rank, story.call(rank, CallKind::collective, first, 220), Operation::bcast, 0, 0);
        story.collective(rank, story.call(rank, CallKind::collective, second, leave), Operation::reduce, 2, 1);
    }
    EXPECT_EQ(path(story.program()), (std::vector<Stretch>{{0, 0, 200}, {1, 200, 600}, {2, 600, 1000}}));
}

TEST(RecordedPath, StaysOnTheRankThatNobodyHeldUp) {
    ProgramStory story;
    story.rank(0, 500);
    story.rank(1, 1000);
    const auto send = story.call(0, CallKind::send, 100, 110);
    const auto receive = story.call(1, CallKind::receive, 400, 420);
    story.message(0, send, 1, receive, 8);
    EXPECT_EQ(path(story.program()), (std::vector<Stretch>{{1, 0, 1000}}));
}

TEST(RecordedPath, ClocksThatContradictEachOtherDoNotLeadItInACircle) {
    ProgramStory story;
    story.rank(0, 1000);
    story.rank(1, 1000);
    // Each receives, until 300, what the other sends after it at 300.
    const auto receive_0 = story.call(0, CallKind::receive, 100, 300);
    const auto send_0 = story.call(0, CallKind::send, 300, 310);
    const auto receive_1 = story.call(1, CallKind::receive, 50, 300);
    const auto send_1 = story.call(1, CallKind::send, 300, 310);
    story.message(0, send_0, 1, receive_1, 8);
    story.message(1, send_1, 0, receive_0, 8);
    const auto found = path(story.program());
    EXPECT_FALSE(found.empty());
}

TEST(RecordedPath, EveryPicosecondOfItHasACallpathAndACategory) {
    ProgramStory story;
    story.rank(0, 320);
    story.rank(1, 1000);
    const auto send = story.call(0, CallKind::send, 300, 310);
    const auto receive = story.call(1, CallKind::receive, 50, 400);
    story.message(0, send, 1, receive, 8);
    const auto machine = tests::plain_machine();
    Analysis analysis(story.program(), machine, {}, 1);
    std::int64_t compute = 0;
    std::int64_t late = 0;
    std::int64_t all = 0;
    for (std::size_t rank = 0; rank < 2; ++rank) {
        for (const auto& row : analysis.callpaths(rank)) {
            compute += row.on_path[kCompute];
            late += row.on_path[category_of(Part::late_sender)];
            for (const auto length : row.on_path) {
                all += length;
            }
        }
    }
    EXPECT_EQ(all, 1000);
    EXPECT_EQ(compute, 300 + 600);  // before the send on rank 0, after the receive on rank 1
    EXPECT_EQ(late, 0);
}

TEST(RecordedPath, LeadsFromTheEndOfAnExposureToTheOriginAndFromThereToTheLatePost) {
    // Rank 1's Wait lasts until rank 0 enters its Complete at 600.
    EXPECT_EQ(path(AccessStory(50, 600, 900).program()), (std::vector<Stretch>{{0, 0, 600}, {1, 600, 1000}}));
    // It enters its Complete at 120, and waits there until the post at 400: rank 1 waited for no rank.
    EXPECT_EQ(path(AccessStory(400, 120, 900).program()), (std::vector<Stretch>{{1, 0, 1000}}));
}

TEST(RecordedPath, APostThatNoCallWaitedForLeadsNowhere) {
    // Posted at 130, while rank 0 computes: neither Start nor Put nor Complete lasted until then.
    AccessStory story(130, 600, 900);
    const Waits waits(story.program(), CollectiveWaits(story.program()), {}, 1);
    EXPECT_TRUE(waits.of(0).empty());
    ASSERT_EQ(waits.of(1).size(), 1U);
    EXPECT_EQ(waits.of(1)[0].kind, WaitKind::late_complete);
}

TEST(RecordedPath, LeadsFromALockToWhoeverHadIt) {
    ProgramStory story;
    story.rank(0, 500);
    story.rank(0, 1000);
    story.rank(0, 400);
    const auto take = [&](std::int32_t rank, std::int64_t requests, std::int64_t has, std::int64_t gives) {
        const auto lock = story.call(rank, CallKind::one_sided, requests, has);
        const auto unlock = story.call(rank, CallKind::one_sided, gives, gives + 10);
        story.epoch(rank, Epoch::Kind::lock_exclusive, lock, unlock, 2);
    };
    take(0, 10, 20, 300);
    take(1, 50, 320, 600);
    const Waits waits(story.program(), CollectiveWaits(story.program()), {}, 1);
    ASSERT_EQ(waits.of(1).size(), 1U);
    EXPECT_EQ(waits.of(1)[0].kind, WaitKind::lock);
    EXPECT_EQ(path(story.program()), (std::vector<Stretch>{{0, 0, 310}, {1, 310, 1000}}));
}

TEST(RecordedPath, LeadsFromAChangeOfItsMemoryToTheTransferThatWasStartedLast) {
    ProgramStory story;
    story.rank(0, 800);
    story.rank(0, 1000);
    const auto put = [&](std::int64_t begin) {
        const auto start = story.call(0, CallKind::one_sided, begin, begin + 20);
        story.put(0, start, start, 1, 8);
    };
    put(100);
    put(400);
    put(700);  // changed nothing for it
    const auto wait = story.call(1, CallKind::one_sided, 50, 500);
    story.epoch(1, Epoch::Kind::change, wait, wait, kUndefined);
    EXPECT_EQ(path(story.program()), (std::vector<Stretch>{{0, 0, 400}, {1, 400, 1000}}));
}

TEST(RecordedPath, LeadsFromACreationToItsLastMember) {
    ProgramStory story;
    for (const auto& [enter, last] : {std::pair{100, 1000}, {700, 900}, {250, 800}}) {
        const auto rank = story.rank(0, last);
        story.collective(rank, story.call(rank, CallKind::other, enter, 720), Operation::create_handle);
    }
    EXPECT_EQ(path(story.program()), (std::vector<Stretch>{{1, 0, 700}, {0, 700, 1000}}));
}

}  // namespace
}  // namespace logpost::replay
