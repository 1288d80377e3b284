// Recorded programs written in code: without a transformation they repeat the run; under one, the times follow by hand.
// o_s = 10, L = 100, o_r = 20.

#include "replay/native/graph/cure.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "program_story.hpp"

namespace logpost::replay {
namespace {

using tests::plain_machine;
using tests::ProgramStory;
using tests::Times;

/// A program's graph on the plain machine, and its cures.
struct Curable {
    explicit Curable(ProgramStory& story)
        : graph(build_graph(story.program(), machine, machine, nullptr, nullptr, false, false, true)),
          cures(graph, machine) {}

    [[nodiscard]] Times leaves(const Transformation& change) const { return cures.replay(change).value().leave_ps; }

    Parameters machine = plain_machine();
    Graph graph;
    Cures cures;
};

/// Calls 0 and 1: rank 0 receives a byte of rank 1, then one of rank 2. Call 2: rank 1 sends at 100; it is there at
/// 210. Call 3: rank 2 sends at 20; it is there at 130, before it is waited for.
struct FixedOrder : ProgramStory {
    FixedOrder() {
        for (int i = 0; i < 3; ++i) {
            rank(i, 1000);
        }
        const auto first = call(0, CallKind::receive, 0, 230);
        const auto second = call(0, CallKind::receive, 230, 250);
        message(1, call(1, CallKind::send, 100, 110), 0, first, 1);
        message(2, call(2, CallKind::send, 20, 30), 0, second, 1);
    }
};

TEST(Cures, WithoutATransformationTheRunIsRepeated) {
    FixedOrder story;
    const Curable program(story);
    const auto times = program.cures.replay({}).value();
    EXPECT_EQ(times.enter_ps, (Times{0, 230, 100, 20}));
    EXPECT_EQ(times.leave_ps, (Times{230, 250, 110, 30}));
    EXPECT_EQ(times.program_ps, 1000);
}

TEST(Cures, CodeBeforeACallMovesWhatFollows) {
    FixedOrder story;
    const Curable program(story);
    const std::vector<std::int64_t> longer{0, 0, -50, 0};
    EXPECT_EQ(program.leaves({.longer_ps = longer}), (Times{180, 200, 60, 30}));
}

TEST(Cures, CodeBehindTheLastCallMovesTheEndOfItsProgram) {
    FixedOrder story;
    const Curable program(story);
    const auto lasts = [&](const Transformation& change) { return program.cures.replay(change).value().program_ps; };
    const std::vector<std::int64_t> one{-300, 0, 0}, all{-300, -200, -100};
    EXPECT_EQ(lasts({.longer_at_end_ps = one}), 1000);  // ranks 1 and 2 last as long as they did
    EXPECT_EQ(lasts({.longer_at_end_ps = all}), 900);
    const std::vector<std::int64_t> too_few{-300, -200};
    EXPECT_THROW(lasts({.longer_at_end_ps = too_few}), std::invalid_argument);
}

TEST(Cures, ALockIsGrantedAtOnce) {
    // Rank 0 holds rank 1's memory until 480. Rank 2 requests it at 50, and has it 2 L later; it puts at 690, and is
    // acknowledged 2 L and the byte's 50 later.
    ProgramStory story;
    for (int i = 0; i < 3; ++i) {
        story.rank(0, 1000);
    }
    const auto locked = story.call(0, CallKind::one_sided, 0, 200);
    story.epoch(0, Epoch::Kind::lock_exclusive, locked, story.call(0, CallKind::one_sided, 210, 480), 1);
    const auto second = story.call(2, CallKind::one_sided, 50, 680);
    const auto put = story.call(2, CallKind::one_sided, 680, 690);
    const auto released = story.call(2, CallKind::one_sided, 690, 960);
    story.put(2, put, released, 1, 51);
    story.epoch(2, Epoch::Kind::lock_exclusive, second, released, 1);
    const Curable program(story);
    EXPECT_EQ(program.leaves({}), (Times{200, 480, 680, 690, 960}));
    const std::vector<std::uint8_t> permitted{0, 0, 1, 0, 0};
    EXPECT_EQ(program.leaves({.permitted = permitted}), (Times{200, 480, 50, 60, 330}));
}

TEST(Cures, ACallLastsWhateverArrives) {
    FixedOrder story;
    const Curable program(story);
    const std::vector<std::int64_t> lasts{5, Transformation::kAsRecorded, Transformation::kAsRecorded,
                                          Transformation::kAsRecorded};
    EXPECT_EQ(program.leaves({.lasts_ps = lasts}), (Times{5, 150, 110, 30}));  // the second one is there at 130
}

TEST(Cures, NoneWaitsForAMessageThatIsNotSent) {
    FixedOrder story;
    const Curable program(story);
    const std::vector<std::uint8_t> sent{static_cast<std::uint8_t>(Sent::never), 0};
    EXPECT_EQ(program.leaves({.sent = sent}), (Times{0, 150, 110, 30}));
}

TEST(Cures, ProcessorsHandleAMessageSooner) {
    FixedOrder story;
    const Curable program(story);
    const std::vector<std::int64_t> send{10, 0}, receive{15, 0};
    // Sent at 100 and there at 200, it is received in 5; the second one in 20 behind it.
    EXPECT_EQ(program.leaves({.shorter_send_ps = send, .shorter_receive_ps = receive}), (Times{205, 225, 100, 30}));
}

/// Rank 0 posts two receives at 0 and waits for both until 300. Ranks 1 and 2 send a byte each at 0: both are there at
/// 110 and received by 150, after which the call lasts 150 more than the model has.
struct BothInOneCall : ProgramStory {
    BothInOneCall() {
        for (int i = 0; i < 3; ++i) {
            rank(i, 1000);
        }
        const auto first = call(0, CallKind::receive_nonblocking, 0, 0);
        const auto second = call(0, CallKind::receive_nonblocking, 0, 0);
        const auto wait = call(0, CallKind::wait_multi, 0, 300);
        message(1, call(1, CallKind::send, 0, 10), 0, first, 1, {}, wait);
        message(2, call(2, CallKind::send, 0, 10), 0, second, 1, {}, wait);
    }
};

TEST(Cures, AModelledMessageKeepsNothingBeyondTheModel) {
    BothInOneCall story;
    const Curable program(story);
    EXPECT_EQ(program.leaves({})[2], 300);
    const std::vector<std::uint8_t> both{1, 1};
    EXPECT_EQ(program.leaves({.as_modelled = both})[2], 150);
}

TEST(Cures, MessagesTradeTheCallsThatReceiveThem) {
    FixedOrder story;
    const Curable program(story);
    const std::vector<std::int32_t> receive_as{1, 0};
    // The first call has what is there at 130, the second one what is there at 210, after its own overhead.
    EXPECT_EQ(program.leaves({.receive_as = receive_as}), (Times{150, 230, 110, 30}));
}

TEST(Cures, ThePathLeadsFromAProgramsBeginToItsEnd) {
    FixedOrder story;
    const Curable program(story);
    const auto path = program.cures.replay({}, true).value().path;
    ASSERT_FALSE(path.empty());
    EXPECT_EQ(path.front().begin_ps, 0);
    for (std::size_t i = 1; i < path.size(); ++i) {
        EXPECT_EQ(path[i].begin_ps, path[i - 1].end_ps);
    }
}

/// Rank 0 sends a byte synchronously at 0; rank 1 posts at 500. The clear-to-send is there at 600, the byte at 700.
struct SynchronousSend : ProgramStory {
    SynchronousSend() {
        rank(0, 1000);
        rank(1, 1000);
        const auto send = call(0, CallKind::send_synchronous, 0, 600);
        message(0, send, 1, call(1, CallKind::receive, 500, 720), 1);
    }
};

TEST(Cures, AnEagerSendWaitsForNoReceive) {
    SynchronousSend story;
    const Curable program(story);
    EXPECT_EQ(program.leaves({}), (Times{600, 720}));
    const std::vector<std::uint8_t> sent{static_cast<std::uint8_t>(Sent::eager)};
    EXPECT_EQ(program.leaves({.sent = sent}), (Times{10, 520}));  // it is there at 110; its receiver takes 20
}

/// Call 0: rank 0 sends a byte, until `left`. Call 1: rank 1 computes until 500, and receives it until 530.
struct SendToABusyRank : ProgramStory {
    explicit SendToABusyRank(std::int64_t left) {
        rank(0, 1000);
        rank(1, 1000);
        message(0, call(0, CallKind::send, 0, left), 1, call(1, CallKind::receive, 500, 530), 1);
    }
};

TEST(Cures, AnEagerSendThatEndedWhenItsReceiverCalledWaitsForThat) {
    SendToABusyRank story(510);
    const Curable program(story);
    EXPECT_EQ(program.leaves({}), (Times{510, 530}));
    const std::vector<std::int64_t> longer{0, -200};
    EXPECT_EQ(program.leaves({.longer_ps = longer}), (Times{310, 330}));
    // Without that wait, its overhead remains.
    const std::vector<std::uint8_t> sent{static_cast<std::uint8_t>(Sent::eager)};
    EXPECT_EQ(program.leaves({.sent = sent}), (Times{10, 530}));
}

TEST(Cures, AnEagerSendThatEndedEarlierWaitsForNoCallOfItsReceiver) {
    const std::vector<std::int64_t> longer{0, -200};
    for (const std::int64_t left : {490, 999}) {  // the second one is nearer to nothing that is known
        SendToABusyRank story(left);
        const Curable program(story);
        EXPECT_EQ(program.leaves({.longer_ps = longer}), (Times{left, 330}));
    }
}

TEST(Cures, AReceiveIsPostedElsewhere) {
    SynchronousSend story;
    const Curable program(story);
    const std::vector<std::int32_t> posted_by{0};  // at the send's own enter
    // The request is there at 110, the clear-to-send at 210, the byte at 310.
    EXPECT_EQ(program.leaves({.posted_by = posted_by}), (Times{210, 520}));
}

TEST(Cures, AnotherProcessorHandlesAMessage) {
    FixedOrder story;
    const Curable program(story);
    const std::vector<std::int64_t> handled{0, -20};
    EXPECT_EQ(program.leaves({.more_handled_ps = handled}), (Times{230, 230, 110, 30}));
    const std::vector<std::int64_t> all{0, -500};  // it did no more than 20
    EXPECT_EQ(program.leaves({.more_handled_ps = all}), (Times{230, 230, 110, 30}));
}

/// Calls 0 and 1: rank 0 receives 501 bytes of rank 1, then of rank 2, both sent at 0 by calls 2 and 3. Their first
/// bytes are there at 110; the second message is behind the 501 of the first one.
struct CrowdedReceiver : ProgramStory {
    CrowdedReceiver() {
        for (int i = 0; i < 3; ++i) {
            rank(i, 2000);
        }
        const auto first = call(0, CallKind::receive, 0, 630);
        const auto second = call(0, CallKind::receive, 630, 1131);
        message(1, call(1, CallKind::send, 0, 10), 0, first, 501);
        message(2, call(2, CallKind::send, 0, 10), 0, second, 501);
    }
};

TEST(Cures, AMessageArrivesThroughAnotherServer) {
    CrowdedReceiver story;
    const Curable program(story);
    EXPECT_EQ(program.leaves({}), (Times{630, 1131, 10, 10}));
    const std::vector<std::int32_t> through{-1, 0};
    // The second one is there at 110 + 500, before it is waited for: 20 for its receiver.
    EXPECT_EQ(program.leaves({.arrives_through = through}), (Times{630, 650, 10, 10}));
    const std::vector<std::int32_t> together{4, 4};  // one behind the other again
    EXPECT_EQ(program.leaves({.arrives_through = together}), (Times{630, 1131, 10, 10}));
    const std::vector<std::int32_t> like_the_first{4, -2};
    EXPECT_EQ(program.leaves({.arrives_through = like_the_first}), (Times{630, 650, 10, 10}));
}

TEST(Cures, AFurtherEdgeLeadsBetweenCalls) {
    FixedOrder story;
    const Curable program(story);
    const std::array<std::uint32_t, 2> from{2 * 0 + 1, 2 * 4}, to{2 * 4, 2 * 3 + 1};  // by one further node
    const std::array<std::int64_t, 2> weight{100, 5};
    // The leave of rank 2's send is 105 behind that of rank 0's first receive.
    EXPECT_EQ(program.leaves({.from = from, .to = to, .weight_ps = weight, .further_nodes = 1}),
              (Times{230, 250, 110, 335}));
}

TEST(Cures, EventsBeforeThemselvesAreNoProgram) {
    FixedOrder story;
    const Curable program(story);
    const std::array<std::uint32_t, 1> from{2 * 1 + 1}, to{2 * 2};  // the send waits for the second receive
    const std::array<std::int64_t, 1> weight{0};
    EXPECT_FALSE(program.cures.replay({.from = from, .to = to, .weight_ps = weight}).has_value());
}

TEST(Cures, AColumnThatDoesNotFitIsRefused) {
    FixedOrder story;
    const Curable program(story);
    const std::vector<std::int64_t> longer{1};
    EXPECT_THROW(static_cast<void>(program.cures.replay({.longer_ps = longer})), std::invalid_argument);
    const std::vector<std::int32_t> received_by{9, 0};
    EXPECT_THROW(static_cast<void>(program.cures.replay({.received_by = received_by})), std::invalid_argument);
}

}  // namespace
}  // namespace logpost::replay
