// One-sided communication in what-if replays: o_s = 10, L = 100, o_r = 20, G = 1 ps/B, o_control = o_s. Transfers have
// 51 B: 50 for serialization.
#include <gtest/gtest.h>

#include <vector>

#include "program_story.hpp"
#include "replay/native/graph/replay.hpp"

namespace logpost::replay {
namespace {

using tests::plain_machine;
using tests::ProgramStory;
using tests::Times;

Parameters progressing(bool asynchronous, double L = 100) {
    auto parameters = plain_machine();
    parameters.asynchronous_progress = asynchronous;
    for (auto& locality : parameters.localities) {
        locality.ranges[0].L = L;
    }
    return parameters;
}

/// A graph and the machine that it was built on; its replays are the leaves of all calls, by location.
struct Replayed {
    Replayed(const Program& program, const Parameters& of, const Parameters& planned)
        : ran_on(of), graph(build_graph(program, of, planned)) {}
    Replayed(const Program& program, const Parameters& of) : Replayed(program, of, of) {}

    [[nodiscard]] Times leaves(const Setting& setting) const {
        const std::vector<Setting> settings{setting};
        const auto times = Weights(graph, ran_on, settings).times();
        Times found;
        for (const auto leave : graph.leaves) {
            found.push_back(times[leave]);
        }
        return found;
    }
    [[nodiscard]] Times unchanged() const { return leaves({.machine = ran_on}); }
    [[nodiscard]] Times with_latency(double L) const {
        return leaves({.machine = progressing(ran_on.asynchronous_progress, L)});
    }

    Parameters ran_on;
    Graph graph;
};

/// Rank 0: Put 0..20, flush 20..flushed. Rank 1 computes, and receives messages from `attends` on.
struct TwoRankFlush : ProgramStory {
    TwoRankFlush(std::int64_t flushed, std::int64_t attends) {
        rank(0, 1000);
        rank(0, 1000);
        const auto start = call(0, CallKind::one_sided, 0, 20);
        put(0, start, call(0, CallKind::one_sided, 20, flushed), 1, 51);
        call(1, CallKind::probe, attends, 1000);
    }
};

TEST(OneSidedWhatIf, AFlushWaitsForTwoLatencies) {
    // 0 o_s 10 L 110 bytes 160 L 260, and 140 that no model explains.
    TwoRankFlush story(400, 0);
    const Replayed replayed(story.program(), progressing(true));
    EXPECT_EQ(replayed.unchanged(), (Times{20, 400, 1000}));
    EXPECT_EQ(replayed.with_latency(200), (Times{20, 600, 1000}));
    EXPECT_EQ(replayed.with_latency(50), (Times{20, 300, 1000}));
    const std::vector<Setting> settings{{.machine = progressing(true)}};
    const Weights weights(replayed.graph, progressing(true), settings);
    // Rank 0 computes from 400 until 1000, and its path passes the flush.
    const auto path =
        critical_path(replayed.graph, replay::sources_of(replayed.graph), weights, settings, weights.times(), 0);
    const auto& near = path.sensitivities[static_cast<std::size_t>(Locality::same_node)];
    EXPECT_EQ(near.L, 2);
    EXPECT_EQ(near.o_s, 1);
    EXPECT_EQ(near.G, 50);
}

TEST(OneSidedWhatIf, WhatIsMeasuredOfTransfersDoesNotFollowMessages) {
    // 90 of 400 are the put's; another machine's messages have 10 + 200 + 50, the 10 in the call that starts it.
    TwoRankFlush story(400, 0);
    auto measured = progressing(true);
    measured.put = {.x = {1, 51}, .y = {40, 90}};
    const Replayed replayed(story.program(), measured);
    EXPECT_EQ(replayed.unchanged(), (Times{20, 400, 1000}));
    auto slower = progressing(true, 200);
    slower.put = measured.put;
    EXPECT_EQ(replayed.leaves({.machine = slower}), replayed.unchanged());
    EXPECT_EQ(replayed.leaves({.machine = progressing(true)}), (Times{30, 570, 1000}));
    const std::vector<Setting> settings{{.machine = measured}};
    const Weights weights(replayed.graph, measured, settings);
    const auto path =
        critical_path(replayed.graph, replay::sources_of(replayed.graph), weights, settings, weights.times(), 0);
    EXPECT_EQ(path.sensitivities[static_cast<std::size_t>(Locality::same_node)].L, 0);
}

TEST(OneSidedWhatIf, ATargetThatMustProgressIsFollowed) {
    // There at 160, the target inside at 300: answered 310, acknowledged 410; the flush lasts 40 longer.
    TwoRankFlush story(450, 300);
    const Replayed replayed(story.program(), progressing(false));
    EXPECT_EQ(replayed.unchanged()[1], 450);
    EXPECT_EQ(replayed.with_latency(200)[1], 300 + 10 + 200 + 40);  // there at 260, and still before the target
    // A target that computes half as long is inside at 150, before the bytes are there at 160.
    EXPECT_EQ(replayed.leaves({.machine = progressing(false), .by_location = {1, 0.5}})[1], 160 + 110 + 40);
}

TEST(OneSidedWhatIf, HardwareAnswersInPlaceOfTheProcessor) {
    // There at 160, and acknowledged at 260; 40 that no model explains stay.
    TwoRankFlush story(450, 300);
    const Replayed replayed(story.program(), progressing(false), progressing(true));
    EXPECT_EQ(replayed.leaves({.machine = progressing(true)})[1], 260 + 40);
}

TEST(OneSidedWhatIf, AGetIsOneCallWithARequestAndAnAnswer) {
    // o_s 10 L 110 L 210 bytes 260 o_r 280; 20 more were measured.
    ProgramStory story;
    story.rank(0, 1000);
    story.rank(0, 1000);
    story.get(0, story.call(0, CallKind::one_sided, 0, 300), 1, 51);
    const Replayed replayed(story.program(), progressing(true));
    EXPECT_EQ(replayed.unchanged(), (Times{300}));
    EXPECT_EQ(replayed.with_latency(200), (Times{500}));
}

TEST(OneSidedWhatIf, PutsLeaveTheirOriginOneAfterTheOther) {
    // Injected at 10 and, after 51 B, at 61: complete 250 later, at 311. Twice the gap per byte: 112, 100 B, 2 L: 412.
    ProgramStory story;
    story.rank(0, 1000);
    story.rank(0, 1000);
    const auto first = story.call(0, CallKind::one_sided, 0, 20);
    const auto second = story.call(0, CallKind::one_sided, 20, 40);
    const auto flush = story.call(0, CallKind::one_sided, 40, 311);
    story.put(0, first, flush, 1, 51);
    story.put(0, second, flush, 1, 51);
    const Replayed replayed(story.program(), progressing(true));
    EXPECT_EQ(replayed.unchanged(), (Times{20, 40, 311}));
    auto slower = progressing(true);
    for (auto& locality : slower.localities) {
        locality.ranges[0].G = 2;
    }
    EXPECT_EQ(replayed.leaves({.machine = slower}), (Times{20, 40, 112 + 100 + 200}));
}

/// Rank 0: Start 100..`started`, Put, Complete. Rank 1: Post `posted`.., Wait until `waited`.
struct TwoRankAccess : ProgramStory {
    TwoRankAccess() {
        rank(0, 1000);
        rank(0, 1000);
        const auto start = call(0, CallKind::one_sided, 100, 310);
        const auto transfer = call(0, CallKind::one_sided, 310, 320);
        const auto complete = call(0, CallKind::one_sided, 320, 370);
        const auto post = call(1, CallKind::one_sided, 200, 210);
        const auto wait = call(1, CallKind::one_sided, 210, 480);
        put(0, transfer, complete, 1, 51, false);  // Complete says nothing of the target
        match(0, epoch(0, Epoch::Kind::access, start, complete, 1), 1, epoch(1, Epoch::Kind::exposure, post, wait, 0));
    }
};

TEST(OneSidedWhatIf, AnAccessFollowsItsExposureAndTheExposureItsAccess) {
    // Post 200, known at 300, Start until 310. Injected at 320, out at 370, there at 470; Wait until 480.
    TwoRankAccess story;
    const Replayed replayed(story.program(), progressing(true));
    EXPECT_EQ(replayed.unchanged(), (Times{310, 320, 370, 210, 480}));
    // Post at 100 of half the computation: all is 100 earlier.
    EXPECT_EQ(replayed.leaves({.machine = progressing(true), .by_location = {1, 0.5}}),
              (Times{210, 220, 270, 110, 380}));
    // L once until Start, and once more until Wait.
    EXPECT_EQ(replayed.with_latency(200), (Times{410, 420, 470, 210, 680}));
}

TEST(OneSidedWhatIf, ALockGoesFromItsHolderToTheNext) {
    // Rank 0 locks rank 1's memory until 200 (2 L), puts at 210, is acknowledged at 460, and unlocks until 480. Rank 2
    // requests it at 50, and has the lock 2 L after rank 0's unlock, and 10 that no model explains.
    ProgramStory story;
    for (int i = 0; i < 3; ++i) {
        story.rank(0, 1000);
    }
    const auto locked = story.call(0, CallKind::one_sided, 0, 200);
    const auto start = story.call(0, CallKind::one_sided, 200, 210);
    const auto unlocked = story.call(0, CallKind::one_sided, 210, 480);
    story.put(0, start, unlocked, 1, 51);
    story.epoch(0, Epoch::Kind::lock_exclusive, locked, unlocked, 1);
    const auto second = story.call(2, CallKind::one_sided, 50, 690);
    story.epoch(2, Epoch::Kind::lock_exclusive, second, story.call(2, CallKind::one_sided, 690, 700), 1);
    const Replayed replayed(story.program(), progressing(true));
    EXPECT_EQ(replayed.unchanged(), (Times{200, 210, 480, 690, 700}));
    // Lock 400, Put 410, there 610, bytes 660, acknowledged 860, and 20; rank 2 after 400 and 10 more.
    EXPECT_EQ(replayed.with_latency(200), (Times{400, 410, 880, 1290, 1300}));
}

TEST(OneSidedWhatIf, ALockGrantedAsItsReleaseBeginsFollowsItWhicheverRankIsFirst) {
    // The holder computes 300, from 200 to 500, and unlocks 500..520; the other one has the lock at 500. With half the
    // computation the holder unlocks at 350, and the other one's code of 50 is before it all the same: it has it at
    // 350.
    for (const std::int32_t holder : {0, 2}) {
        ProgramStory story;
        for (int i = 0; i < 3; ++i) {
            story.rank(0, 1000);
        }
        const auto other = 2 - holder;
        const auto locked = story.call(holder, CallKind::one_sided, 0, 200);
        const auto unlocked = story.call(holder, CallKind::one_sided, 500, 520);
        story.epoch(holder, Epoch::Kind::lock_exclusive, locked, unlocked, 1);
        const auto second = story.call(other, CallKind::one_sided, 50, 500);
        story.epoch(other, Epoch::Kind::lock_exclusive, second, story.call(other, CallKind::one_sided, 900, 910), 1);
        std::vector<double> faster(3, 1.0);
        faster[static_cast<std::size_t>(holder)] = 0.5;
        const Replayed replayed(story.program(), progressing(true));
        const auto first = holder == 0 ? 2U : 0U;  // of the other one's calls
        EXPECT_EQ(replayed.unchanged()[first], 500);
        EXPECT_EQ(replayed.leaves({.machine = progressing(true), .by_location = faster})[first], 350);
    }
}

TEST(OneSidedWhatIf, AWaitForAChangeFollowsItsTransfer) {
    // The put of 300 is injected at 310, there at 410, its last byte at 460; the wait ends 40 later.
    ProgramStory story;
    story.rank(0, 1000);
    story.rank(0, 1000);
    const auto start = story.call(0, CallKind::one_sided, 300, 370);
    story.put(0, start, start, 1, 51, false);
    const auto wait = story.call(1, CallKind::one_sided, 0, 500);
    story.epoch(1, Epoch::Kind::change, wait, wait, kUndefined);
    const Replayed replayed(story.program(), progressing(true));
    EXPECT_EQ(replayed.unchanged(), (Times{370, 500}));
    EXPECT_EQ(replayed.with_latency(200), (Times{370, 600}));
    EXPECT_EQ(replayed.leaves({.machine = progressing(true), .compute = 0.5}), (Times{220, 350}));
}

TEST(OneSidedWhatIf, ThePathSaysWhatAWaitForAChangeTakesBeyondItsPut) {
    // Rank 0's only call ends at 60. Its put, of 0, is there at 160; rank 1 waits for it from 400 to 550 all the same,
    // and then receives messages until 700. It computes 400 before.
    ProgramStory story;
    story.rank(0, 60);
    story.rank(0, 700);
    const auto start = story.call(0, CallKind::one_sided, 0, 60);
    story.put(0, start, start, 1, 51, false);
    const auto wait = story.call(1, CallKind::one_sided, 400, 550);
    story.epoch(1, Epoch::Kind::change, wait, wait, kUndefined);
    story.call(1, CallKind::probe, 550, 700);
    const Replayed replayed(story.program(), progressing(true));
    const std::vector<Setting> settings{{.machine = progressing(true)}};
    const Weights weights(replayed.graph, progressing(true), settings);
    const auto path =
        critical_path(replayed.graph, replay::sources_of(replayed.graph), weights, settings, weights.times(), 0);
    const auto part = [&](PathPart of) { return path.parts[static_cast<std::size_t>(of)]; };
    EXPECT_EQ(path.makespan_ps, 700);
    EXPECT_EQ(part(PathPart::compute), 400);
    EXPECT_EQ(part(PathPart::synchronization), 150);
    EXPECT_EQ(part(PathPart::other), 150);
}

TEST(OneSidedWhatIf, AFenceWaitsForThePutsOfItsMembers) {
    // Both fences last from 100 to 600. The put is acknowledged at 310, and then rank 0 notifies rank 1: by the model
    // it is out at 310 + o_s + o_r = 340, rank 1 at 310 + o_s + L + o_r = 440; 260 and 160 are unexplained. With L =
    // 300 the put is acknowledged at 710.
    ProgramStory story;
    story.rank(0, 1000);
    story.rank(0, 1000);
    const auto start = story.call(0, CallKind::one_sided, 50, 60);
    const auto fence = story.call(0, CallKind::one_sided, 100, 600);
    story.collective(0, fence, Operation::fence);
    story.collective(1, story.call(1, CallKind::one_sided, 100, 600), Operation::fence);
    story.put(0, start, fence, 1, 51);
    const Replayed replayed(story.program(), progressing(true));
    EXPECT_EQ(replayed.unchanged(), (Times{60, 600, 600}));
    EXPECT_EQ(replayed.with_latency(300), (Times{60, 710 + 30 + 260, 710 + 330 + 160}));
}

TEST(OneSidedWhatIf, WhatWasOverBeforeItsCauseIsLeftAsMeasured) {
    // Clocks that disagree: the wait ended before the put began. Nothing is followed, and nothing is lost.
    ProgramStory story;
    story.rank(0, 1000);
    story.rank(0, 1000);
    const auto start = story.call(0, CallKind::one_sided, 300, 310);
    story.put(0, start, story.call(0, CallKind::one_sided, 310, 310), 1, 51);
    const auto post = story.call(1, CallKind::one_sided, 0, 10);
    const auto wait = story.call(1, CallKind::one_sided, 10, 200);
    story.match(0, story.epoch(0, Epoch::Kind::access, start, start + 1, 1), 1,
                story.epoch(1, Epoch::Kind::exposure, post, wait, 0));
    const Replayed replayed(story.program(), progressing(true));
    EXPECT_EQ(replayed.unchanged(), (Times{310, 310, 10, 200}));
}

TEST(OneSidedWhatIf, AnExposureIsOverBehindItsCompletionWhateverTheClocks) {
    // Rank 0 completes at 500, rank 1's clock has the wait for that over at 499. With half of rank 0's 480 of code
    // before that it completes at 260, and the wait is over at 259.
    ProgramStory story;
    story.rank(0, 1000);
    story.rank(0, 1000);
    const auto start = story.call(0, CallKind::one_sided, 0, 10);
    const auto transfer = story.call(0, CallKind::one_sided, 10, 20);
    const auto complete = story.call(0, CallKind::one_sided, 500, 510);
    story.put(0, transfer, complete, 1, 51, false);
    const auto post = story.call(1, CallKind::one_sided, 0, 10);
    const auto wait = story.call(1, CallKind::one_sided, 10, 499);
    story.match(0, story.epoch(0, Epoch::Kind::access, start, complete, 1), 1,
                story.epoch(1, Epoch::Kind::exposure, post, wait, 0));
    const Replayed replayed(story.program(), progressing(true));
    EXPECT_EQ(replayed.unchanged(), (Times{10, 20, 510, 10, 499}));
    EXPECT_EQ(replayed.leaves({.machine = progressing(true), .by_location = {0.5, 1}}), (Times{10, 20, 270, 10, 259}));
}

TEST(OneSidedWhatIf, WhatAKilledProgramDidNotEndIsLeftAsMeasured) {
    // An access that was ended, its exposure that was not; a put and a lock that were never completed.
    ProgramStory story;
    story.rank(0, 1000);
    story.rank(0, 1000);
    const auto start = story.call(0, CallKind::one_sided, 100, 110);
    const auto transfer = story.call(0, CallKind::one_sided, 110, 120);
    const auto complete = story.call(0, CallKind::one_sided, 120, 180);
    const auto lock = story.call(0, CallKind::one_sided, 200, 500);
    const auto post = story.call(1, CallKind::one_sided, 0, 10);
    story.put(0, transfer, complete, 1, 51, false);
    story.put(0, lock, kNone, 1, 51, false);
    story.match(0, story.epoch(0, Epoch::Kind::access, start, complete, 1), 1,
                story.epoch(1, Epoch::Kind::exposure, post, kNone, 0));
    story.epoch(0, Epoch::Kind::lock_exclusive, lock, kNone, 1);
    const Replayed replayed(story.program(), progressing(false));
    EXPECT_EQ(replayed.unchanged(), (Times{110, 120, 180, 500, 10}));
}

TEST(OneSidedWhatIf, BarriersSayWhatComesFirstWhereClocksDisagree) {
    // Rank 0's clock is 1000 ahead. By the clocks, rank 1's put of 300 changed what rank 0 waited for until 1050; but
    // it was after a barrier that rank 0 entered behind that wait.
    ProgramStory story;
    story.rank(0, 1300);
    story.rank(0, 400);
    const auto wait = story.call(0, CallKind::one_sided, 1000, 1050);
    story.epoch(0, Epoch::Kind::change, wait, wait, kUndefined);
    story.collective(0, story.call(0, CallKind::barrier, 1100, 1200), Operation::barrier);
    story.collective(1, story.call(1, CallKind::barrier, 100, 200), Operation::barrier);
    const auto start = story.call(1, CallKind::one_sided, 300, 310);
    story.put(1, start, start, 0, 51, false);
    const Replayed replayed(story.program(), progressing(true));
    EXPECT_EQ(replayed.unchanged(), (Times{1050, 1200, 200, 310}));
}

}  // namespace
}  // namespace logpost::replay
