// Recorded programs written in code: unchanged they repeat the run; under a hypothesis, the times follow by hand.

#include "replay/native/graph/hypothesis.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <string>

#include "program_story.hpp"

namespace logpost::replay {
namespace {

using tests::Times;

/// Calls by location and time, from 0 on; a call path is a number: 0 no query, 1 a query, 2 a blocking probe.
class Story {
  public:
    std::int32_t call(std::int32_t location, std::int64_t enter, std::int64_t leave, std::int64_t work,
                      std::int32_t callpath = 0) {
        location_.push_back(location);
        callpath_.push_back(callpath);
        enter_.push_back(enter);
        leave_.push_back(leave);
        begin_.push_back(0);
        work_.push_back(work);
        return static_cast<std::int32_t>(location_.size() - 1);
    }
    /// An eager message.
    void message(std::int32_t send, std::int32_t receive, std::int64_t transport) {
        rendezvous(send, send, receive, receive, transport, 0);
        rendezvous_.back() = 0;
    }
    /// Of a latency of 3 ways, and no serialization.
    void rendezvous(std::int32_t send, std::int32_t complete, std::int32_t post, std::int32_t receive,
                    std::int64_t transport, std::int64_t latency) {
        send_.push_back(send);
        complete_.push_back(complete);
        post_.push_back(post);
        receive_.push_back(receive);
        transport_.push_back(transport);
        latency_.push_back(latency);
        serialization_.push_back(0);
        received_.push_back(0);
        rendezvous_.push_back(1);
    }
    void meet(std::int32_t instance, Operation operation, std::initializer_list<std::int32_t> calls,
              std::int32_t root = -1) {
        for (const auto call : calls) {
            instance_.push_back(instance);
            member_.push_back(call);
            root_.push_back(call == root ? 1 : 0);
            operation_.push_back(static_cast<std::uint8_t>(operation));
        }
    }
    void epoch(std::int32_t call, std::int32_t source, bool leaves, Reason reason, std::int64_t rest, bool own = true) {
        epoch_.push_back(call);
        source_.push_back(source);
        leaves_.push_back(leaves ? 1 : 0);
        own_.push_back(own ? 1 : 0);
        reason_.push_back(static_cast<std::uint8_t>(reason));
        rest_.push_back(rest);
    }
    [[nodiscard]] RecordedGraph graph(std::int64_t spin = 0) const {
        return {{location_, callpath_, enter_, leave_, begin_, work_},
                {send_, complete_, post_, receive_, rendezvous_, transport_, latency_, serialization_, received_},
                {instance_, member_, completing_.empty() ? member_ : completing_, operation_, root_},
                {epoch_, source_, leaves_, own_, reason_, rest_},
                {query_, spin}};
    }
    [[nodiscard]] HypothesisOutcome replayed(const Hypothesis& hypothesis, std::int64_t spin = 0) const {
        return replay(graph(spin), hypothesis, send_.size());
    }
    /// Unchanged, every call is when it was.
    void repeats_itself(std::int64_t spin = 0) const {
        const auto same = replayed({}, spin);
        EXPECT_EQ(same.enter_ps, enter_);
        EXPECT_EQ(same.leave_ps, leave_);
    }

    std::vector<std::int32_t> location_, callpath_, send_, complete_, post_, receive_, instance_, member_, completing_,
        epoch_, source_;
    std::vector<std::int64_t> enter_, leave_, begin_, work_, transport_, latency_, serialization_, received_, rest_;
    std::vector<std::uint8_t> rendezvous_, operation_, root_, leaves_, own_, reason_;
    std::vector<std::uint8_t> query_{0, 1, 2};
};

std::string refusal(const auto& act) {
    try {
        act();
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

std::uint32_t dropping(Reason reason) {
    return 1U << static_cast<unsigned>(reason);
}

/// Rank 0 computes until 100, sends until 110, and computes until its last call at 150; rank 1 waits for the message
/// from 0 until 239, of which it works 20, and computes 11 until its own last call.
Story late_sender() {
    Story story;
    const auto send = story.call(0, 100, 110, 10);
    story.call(0, 150, 150, 0);
    const auto receive = story.call(1, 0, 239, 20);
    story.call(1, 250, 250, 0);
    story.message(send, receive, 139);
    return story;
}

TEST(Hypothesis, AnAccessWaitsForItsExposureAndALockForItsRelease) {
    // Rank 0 computes until 100, and is in a call until 120. Rank 1 enters two calls at 0: one that waits until the
    // first one's enter and 10 longer, of which 4 is its own work, and, after 5 of code, one that waits for its leave.
    Story story;
    const auto post = story.call(0, 100, 120, 20);
    const auto start = story.call(1, 0, 110, 4);
    const auto lock = story.call(1, 115, 123, 1);
    story.epoch(start, post, false, Reason::access, 10);
    story.epoch(lock, post, true, Reason::lock, 3);
    story.repeats_itself();
    EXPECT_EQ(story.graph().binding(1)->reason, Reason::access);
    // Without the exposure to wait for, the first takes 10; the second one still waits for the release.
    EXPECT_EQ(story.replayed({.dropped = dropping(Reason::access)}).leave_ps, (Times{120, 10, 123}));
    EXPECT_EQ(story.replayed({.dropped = dropping(Reason::lock)}).leave_ps, (Times{120, 110, 118}));
    const auto neither = story.replayed({.dropped = dropping(Reason::access) | dropping(Reason::lock)});
    EXPECT_EQ(neither.leave_ps, (Times{120, 10, 18}));
    EXPECT_EQ(neither.waited_ps, (Times{0, 6, 2}));
    // Rank 0 enters 40 earlier: both are as much earlier.
    const std::vector<std::int64_t> gaps{60, 0, 5};
    EXPECT_EQ(story.replayed({.gap_ps = gaps}).leave_ps, (Times{80, 70, 83}));

    story.epoch(lock, 7, true, Reason::lock, 3);
    EXPECT_THROW(static_cast<void>(story.graph()), std::invalid_argument);
}

TEST(Hypothesis, AnExposureIsOverBehindItsCompletionWhateverTheClocks) {
    // Rank 0 completes its access at 100; rank 1's clock has its wait from 10 over at 97.
    Story story;
    const auto complete = story.call(0, 100, 100, 0);
    const auto wait = story.call(1, 10, 97, 0);
    story.epoch(wait, complete, false, Reason::exposure, 0, false);
    story.repeats_itself();
    EXPECT_EQ(story.graph().binding(1)->reason, Reason::exposure);
    // An access that is completed at 60 has it over at 57.
    EXPECT_EQ(story.replayed({.gap_ps = std::vector<std::int64_t>{60, 10}}).leave_ps, (Times{60, 57}));
}

TEST(Hypothesis, WhatIsLeftOfAWaitMayBeTheOthersWordOnItsWay) {
    // Rank 0 posts at 100; rank 1 waits for that from 50 to 110: 10 for its notification, nothing for itself.
    Story story;
    const auto post = story.call(0, 100, 100, 0);
    const auto start = story.call(1, 50, 110, 0);
    story.epoch(start, post, false, Reason::access, 10, false);
    story.repeats_itself();
    // A post at 45 is known at 55, one at 20 before it is needed.
    EXPECT_EQ(story.replayed({.gap_ps = std::vector<std::int64_t>{45, 50}}).leave_ps, (Times{45, 55}));
    EXPECT_EQ(story.replayed({.gap_ps = std::vector<std::int64_t>{20, 50}}).leave_ps, (Times{20, 50}));
}

TEST(Hypothesis, ACallMayBeWaitedForWhereAnEarlierOneOfItsLocationEnds) {
    // Rank 0 is in a call from 20 to 30, computes until 100 and posts; rank 1 waits for that from 0 to 110, 4 of it
    // its own work.
    Story story;
    const auto before = story.call(0, 20, 30, 10);
    const auto post = story.call(0, 100, 100, 0);
    const auto start = story.call(1, 0, 110, 4);
    story.epoch(start, post, false, Reason::access, 10);
    story.repeats_itself();
    // The post could be where the call before it ends, and rank 0 computes all the same.
    const std::vector<std::int32_t> earlier{-1, before, -1};
    const auto moved = story.replayed({.earlier = earlier});
    EXPECT_EQ(moved.enter_ps, (Times{20, 100, 0}));
    EXPECT_EQ(moved.leave_ps, (Times{30, 100, 40}));
    const std::vector<std::int32_t> no_earlier{-1, -2, -1};
    EXPECT_EQ(story.replayed({.earlier = no_earlier}).leave_ps, (Times{30, 100, 10}));

    for (const auto& wrong : {std::vector<std::int32_t>{-1, -1, post}, {-1, post, -1}, {-3, -1, -1}, {-1, -1}}) {
        EXPECT_THROW(static_cast<void>(story.replayed({.earlier = wrong})), std::invalid_argument);
    }
}

TEST(Hypothesis, AReceiveWaitsForItsSender) {
    const auto story = late_sender();
    story.repeats_itself();
    const auto graph = story.graph();
    ASSERT_NE(graph.binding(2), nullptr);
    EXPECT_EQ(graph.binding(2)->reason, Reason::send);
    EXPECT_EQ(graph.call_of(graph.binding(2)->source), 0U);
    EXPECT_EQ(graph.binding(0), nullptr);

    const auto same = story.replayed({});
    EXPECT_EQ(same.length_ps, 250);
    EXPECT_EQ(same.waited_ps, (Times{0, 0, 219, 0}));
    // No rank waits for senders: 20 of work, 11 of code. Rank 0 takes its 150.
    const auto free = story.replayed({.dropped = dropping(Reason::send)});
    EXPECT_EQ(free.leave_ps, (Times{110, 150, 20, 31}));
    EXPECT_EQ(free.length_ps, 150);
    EXPECT_EQ(free.waited_ps, (Times{0, 0, 0, 0}));
    const std::vector<std::uint8_t> freed{0, 0, 1, 0};
    EXPECT_EQ(story.replayed({.freed = freed}).leave_ps, free.leave_ps);
}

TEST(Hypothesis, GapsWorkAndLagsAreReplaced) {
    const auto story = late_sender();
    // The sender computes 40 less.
    const Times gaps{60, 40, 0, 11};
    EXPECT_EQ(story.replayed({.gap_ps = gaps}).leave_ps, (Times{70, 110, 199, 210}));
    // It works 30 instead of 10 on sending; its message left at its begin.
    const Times work{30, 0, 20, 0};
    EXPECT_EQ(story.replayed({.work_ps = work}).leave_ps, (Times{130, 170, 239, 250}));
    // The message takes 39 less; 60 at most; never less than nothing.
    const Times less{39};
    EXPECT_EQ(story.replayed({.less_ps = less}).leave_ps, (Times{110, 150, 200, 211}));
    const Times most{60};
    EXPECT_EQ(story.replayed({.most_ps = most}).leave_ps, (Times{110, 150, 160, 171}));
    const Times all{1000};
    EXPECT_EQ(story.replayed({.less_ps = all}).leave_ps, (Times{110, 150, 100, 111}));
    // The send stays for 50, of which it works 10; the receive for 300.
    const Times stay{50, 0, 300, 0};
    EXPECT_EQ(story.replayed({.stay_ps = stay}).leave_ps, (Times{150, 190, 300, 311}));
    EXPECT_EQ(story.replayed({.stay_ps = stay}).waited_ps, (Times{40, 0, 280, 0}));
    const Times one{1};
    EXPECT_THROW(static_cast<void>(story.replayed({.stay_ps = one})), std::invalid_argument);
}

TEST(Hypothesis, ThePathLeadsFromTheProgramsBeginToItsEnd) {
    const auto story = late_sender();
    const auto graph = story.graph();
    const auto stretches = [&](const Hypothesis& hypothesis) {
        std::vector<Times> found;
        for (const auto& one : replay(graph, hypothesis, story.send_.size(), true).path) {
            found.push_back({one.call, static_cast<std::int64_t>(one.what), one.begin_ps, one.end_ps});
        }
        return found;
    };
    // Rank 0's code, the message from its send's begin on, rank 1's code behind the receive.
    EXPECT_EQ(stretches({}), (std::vector<Times>{{0, 0, 0, 100}, {2, 2, 100, 239}, {3, 0, 239, 250}}));
    // No rank waits for senders: rank 0 alone, its send's own work included.
    EXPECT_EQ(stretches({.dropped = dropping(Reason::send)}),
              (std::vector<Times>{{0, 0, 0, 100}, {0, 1, 100, 110}, {1, 0, 110, 150}}));
    EXPECT_TRUE(story.replayed({}).path.empty());  // not requested
}

TEST(Hypothesis, WhatArrivesLastTakesWhatWasMeasured) {
    auto story = late_sender();
    story.transport_[0] = 100;  // 39 less than it took
    story.repeats_itself();
    story.transport_[0] = 500;  // more than there was time for
    story.repeats_itself();
    story.send_.clear();  // a wait that nothing explains is work
    for (auto* column : {&story.complete_, &story.post_, &story.receive_}) {
        column->clear();
    }
    for (auto* column : {&story.transport_, &story.latency_, &story.serialization_, &story.received_}) {
        column->clear();
    }
    story.rendezvous_.clear();
    story.repeats_itself();
    EXPECT_EQ(story.graph().work_ps[2], 239);
}

TEST(Hypothesis, AReceiverWaitsForAnotherNodeInstead) {
    // Rank 0 sends to rank 1 from 100 to 110 and to rank 2 until 120; both wait from 0, until 150 and 170.
    Story story;
    const auto first = story.call(0, 100, 110, 10);
    const auto second = story.call(0, 110, 120, 10);
    const auto one = story.call(1, 0, 150, 0);
    const auto other = story.call(2, 40, 170, 0);
    story.message(first, one, 50);
    story.message(second, other, 60);
    story.repeats_itself();
    // Rank 2 has it 30 after rank 1 has.
    const std::vector<std::int32_t> behind{-1, 2 * one + 1};
    const Times lags{0, 30};
    EXPECT_EQ(story.replayed({.instead = behind, .lag_ps = lags}).leave_ps, (Times{110, 120, 150, 180}));
    // Each has it 5 after the other has begun to wait: rank 1 from 40, rank 2 from 0 on.
    const std::vector<std::int32_t> crossed{2 * other, 2 * one};
    const Times short_lags{5, 5};
    EXPECT_EQ(story.replayed({.instead = crossed, .lag_ps = short_lags}).leave_ps, (Times{110, 120, 45, 40}));
    // Each behind the other's end is a cycle: rank 1, which ended first, does not wait.
    const std::vector<std::int32_t> cycle{2 * other + 1, 2 * one + 1};
    EXPECT_EQ(story.replayed({.instead = cycle, .lag_ps = short_lags}).leave_ps, (Times{110, 120, 0, 40}));
    const std::vector<std::int32_t> nowhere{8, -1};
    EXPECT_EQ(refusal([&] { static_cast<void>(story.replayed({.instead = nowhere, .lag_ps = lags})); }),
              "a message can only wait for the enter or the leave of a call");
    EXPECT_EQ(refusal([&] { static_cast<void>(story.replayed({.instead = nowhere})); }),
              "a hypothesis needs a value for every call or message");
}

TEST(Hypothesis, MembersOfANonblockingOperationWaitWhereTheyCompleteIt) {
    // Both start a reduction and complete it behind work of 20; rank 1 starts at 100, and either takes 5 from then on.
    Story story;
    const auto first = story.call(0, 10, 12, 2);
    const auto second = story.call(0, 32, 105, 5);
    const auto late = story.call(1, 100, 102, 2);
    const auto last = story.call(1, 122, 127, 5);
    story.meet(0, Operation::allreduce, {first, late});
    story.completing_ = {second, last};
    story.repeats_itself();
    EXPECT_EQ(story.graph().binding(1)->reason, Reason::member);
    EXPECT_EQ(story.graph().binding(0), nullptr);
    // Started at 40 by rank 1, it is complete at 45.
    EXPECT_EQ(story.replayed({.gap_ps = std::vector<std::int64_t>{10, 20, 40, 20}}).leave_ps, (Times{12, 45, 42, 67}));
}

TEST(Hypothesis, AHandshakeWaitsForWhoAttendsToIt) {
    Story story;
    // Rank 0 sends at 0 and is held until 800; rank 1 posted the receive at 0 and computes until its Wait at 500, where
    // it replies: of the transport's 360, the request's third of the latency 180 is over, and 300 are left.
    const auto send = story.call(0, 0, 800, 0);
    const auto post = story.call(1, 0, 10, 10);
    const auto wait = story.call(1, 500, 800, 20);
    story.rendezvous(send, send, post, wait, 360, 180);
    story.repeats_itself();
    EXPECT_EQ(story.graph().binding(0)->reason, Reason::attend);
    EXPECT_EQ(story.graph().binding(2)->reason, Reason::attend);
    // Answered at once, the send is done 300 after the post, and the receive when the Wait has worked.
    const auto answered = story.replayed({.dropped = dropping(Reason::attend)});
    EXPECT_EQ(answered.leave_ps, (Times{300, 10, 520}));
    const std::vector<std::uint8_t> others{0};  // only of other messages: nothing changes
    EXPECT_EQ(story.replayed({.dropped = dropping(Reason::attend), .of = others}).leave_ps, (Times{800, 10, 800}));
    // A receiver that receives half of its messages saves half of the time from its own begin on, its sender all of it.
    const std::vector<double> share{1, 1, 0.5};
    EXPECT_EQ(story.replayed({.share = share}).leave_ps, (Times{800, 10, 650}));
}

TEST(Hypothesis, AReceiverThatTakesOthersFirstHoldsASendBehindItsOwnWork) {
    Story story;
    // Rank 0 completes a send in a call from 10 to 800 that works 400, starting others. Rank 1 replies in its call from
    // 1 on: the handshake could be over at 301, before that work is, and rank 1 takes other messages until then.
    const auto send = story.call(0, 0, 10, 10);
    const auto complete = story.call(0, 10, 800, 400);
    const auto post = story.call(1, 0, 0, 0);
    const auto wait = story.call(1, 1, 900, 899);
    story.rendezvous(send, complete, post, wait, 360, 180);
    story.repeats_itself();
    EXPECT_EQ(story.graph().binding(1)->reason, Reason::attend);
    // With no more than the transport to wait for, its own work lasts longest.
    const std::vector<std::int64_t> most{300};
    EXPECT_EQ(story.replayed({.most_ps = most}).leave_ps, (Times{10, 410, 0, 900}));
}

TEST(Hypothesis, WhoWaitsForNobodyStillTakesTheTransfer) {
    Story story;
    // Rank 0 sends at 0 and is held until rank 1's receive, from 500 to 800. Of the transport's 360, the request's
    // third of the latency 180 needs no answer, and the receiver's last 20 no sender.
    const auto send = story.call(0, 0, 800, 0);
    const auto receive = story.call(1, 500, 800, 20);
    story.rendezvous(send, send, receive, receive, 360, 180);
    story.received_[0] = 20;
    story.repeats_itself();
    EXPECT_EQ(story.replayed({.dropped = dropping(Reason::post)}).leave_ps, (Times{280, 800}));
}

TEST(Hypothesis, AQueueThatDelayedNobodyIsNoneToTakeAway) {
    Story story;
    // Rank 1 posts at 0 and takes the message at 700. It queued for 200 behind others at rank 1, when rank 0 had long
    // gone.
    const auto send = story.call(0, 0, 300, 0);
    const auto post = story.call(1, 0, 10, 10);
    const auto wait = story.call(1, 20, 700, 20);
    story.rendezvous(send, send, post, wait, 760, 180);
    story.repeats_itself();
    const std::vector<std::int64_t> queue{200};
    EXPECT_EQ(story.replayed({.less_ps = queue}).leave_ps, (Times{300, 10, 560}));
}

TEST(Hypothesis, QueriesInARowWaitForTheMessageThatTheLastOneTakes) {
    Story story;
    const auto send = story.call(0, 100, 110, 10);
    // Three queries, 5 of code between them, and the receive behind 30 of work.
    story.call(1, 0, 50, 50, 1);
    story.call(1, 55, 105, 50, 1);
    story.call(1, 110, 160, 50, 1);
    const auto receive = story.call(1, 190, 195, 5);
    story.message(send, receive, 60);
    // The last query's end stays; those before it and the code between them cost nothing.
    EXPECT_EQ(story.replayed({}, 5).leave_ps, (Times{110, 0, 0, 160, 195}));
    const auto graph = story.graph(5);
    EXPECT_EQ(graph.polls, (std::vector<std::uint8_t>{0, 1, 1, 1, 0}));
    EXPECT_EQ(graph.gap_ps, (Times{100, 0, 0, 0, 30}));
    // Sent 80 earlier, the message is there at 20 + 60, and the receive ends 35 later.
    const Times gaps{20, 0, 0, 0, 30};
    EXPECT_EQ(story.replayed({.gap_ps = gaps}, 5).leave_ps, (Times{30, 0, 0, 80, 115}));
    // With more code in between than spinning has, each query is work, but the last one.
    EXPECT_EQ(story.graph(4).polls, (std::vector<std::uint8_t>{0, 0, 0, 0, 0}));
}

TEST(Hypothesis, AProbeWaitsAlone) {
    Story story;
    const auto send = story.call(0, 100, 110, 10);
    story.call(1, 0, 160, 160, 2);
    const auto receive = story.call(1, 160, 165, 5);
    story.message(send, receive, 60);
    story.repeats_itself();
    const Times gaps{20, 0, 0};
    EXPECT_EQ(story.replayed({.gap_ps = gaps}).leave_ps, (Times{30, 80, 85}));
}

/// Three ranks meet at 30, and leave at 40.
Story barrier(Operation operation) {
    Story story;
    const auto first = story.call(0, 10, 40, 10);
    const auto second = story.call(1, 20, 40, 10);
    const auto last = story.call(2, 30, 40, 10);
    story.meet(0, operation, {first, second, last});
    return story;
}

TEST(Hypothesis, MembersMeet) {
    const auto story = barrier(Operation::barrier);
    story.repeats_itself();
    const auto graph = story.graph();
    EXPECT_EQ(graph.binding(0)->reason, Reason::member);
    EXPECT_EQ(graph.call_of(graph.binding(0)->source), 2U);
    // The last one enters 25 earlier: now the second is last, at 20, and all leave at 30.
    const Times gaps{10, 20, 5};
    EXPECT_EQ(story.replayed({.gap_ps = gaps}).leave_ps, (Times{30, 30, 30}));
    const std::vector<std::uint8_t> freed{1, 1, 1};
    const Times nothing{0, 0, 0};
    EXPECT_EQ(story.replayed({.work_ps = nothing, .freed = freed}).leave_ps, (Times{10, 20, 30}));
}

TEST(Hypothesis, AnOperationTakesAtMostSoLongOnceAllHaveCome) {
    const auto story = barrier(Operation::barrier);
    // Instead of 10 after the last enter, at 30, all leave 4 after it; the last one only if its work is as short.
    const Times most{4, 4, 4};
    EXPECT_EQ(story.replayed({.work_ps = most, .member_ps = most}).leave_ps, (Times{34, 34, 34}));
    EXPECT_EQ(story.replayed({.member_ps = most}).leave_ps, (Times{34, 34, 40}));
    const Times one{1};
    EXPECT_THROW(static_cast<void>(story.replayed({.member_ps = one})), std::invalid_argument);
}

TEST(Hypothesis, WhoComesLastToAReductionOwesNothingToTheOthers) {
    // Where data is sent one way, the last rank does its work and leaves: 10 after its own enter at 5, the operation
    // being at 20.
    const Times gaps{10, 20, 5};
    EXPECT_EQ(barrier(Operation::reduce).replayed({.gap_ps = gaps}).leave_ps, (Times{30, 30, 20}));
}

TEST(Hypothesis, ABroadcastWaitsForItsRootAlone) {
    // Rank 0, the root, enters at 30 and is done at 35; rank 1 waits from 10 until 37, of which 7 is its own work;
    // rank 2 enters at 50, finds the data and needs 2.
    Story story;
    const auto root = story.call(0, 30, 35, 5);
    const auto early = story.call(1, 10, 37, 7);
    const auto late = story.call(2, 50, 52, 2);
    story.meet(0, Operation::bcast, {root, early, late}, root);
    story.repeats_itself();
    const auto graph = story.graph();
    EXPECT_EQ(graph.binding(0), nullptr);
    EXPECT_EQ(graph.call_of(graph.binding(1)->source), 0U);
    EXPECT_EQ(graph.binding(2), nullptr);
    // The root enters 25 earlier, and waits for no rank: its data is there 7 later, at 12. Rank 1, which is there at
    // 10, needs 2 with data at hand, as rank 2 did.
    const Times soon{5, 10, 50};
    EXPECT_EQ(story.replayed({.gap_ps = soon}).leave_ps, (Times{10, 12, 52}));
    // The root enters at 60: rank 1 has the data 7 later, as it was; rank 2, which needed 2 with data at hand, 2 later.
    const Times later{60, 10, 50};
    EXPECT_EQ(story.replayed({.gap_ps = later}).leave_ps, (Times{65, 67, 62}));
}

TEST(Hypothesis, TheRootOfAReductionAloneWaits) {
    // Rank 0, the root, enters at 10 and has all at 44; rank 1 gives and leaves, from 20 to 22; rank 2 from 40 to 42.
    Story story;
    const auto root = story.call(0, 10, 44, 4);
    const auto first = story.call(1, 20, 22, 2);
    const auto last = story.call(2, 40, 42, 2);
    story.meet(0, Operation::reduce, {root, first, last}, root);
    story.repeats_itself();
    EXPECT_EQ(story.graph().call_of(story.graph().binding(0)->source), 2U);
    // Rank 2 enters 30 earlier: rank 1 is the last, at 20; the root has all 4 later.
    const Times sooner{10, 20, 10};
    EXPECT_EQ(story.replayed({.gap_ps = sooner}).leave_ps, (Times{24, 22, 12}));
    // The root enters at 100: no rank waits for it.
    const Times root_late{100, 20, 40};
    EXPECT_EQ(story.replayed({.gap_ps = root_late}).leave_ps, (Times{104, 22, 42}));
}

TEST(Hypothesis, AnInnerRankWaitsForThoseBehindItAlone) {
    // Rank 1 stays from 20 until 43, for rank 2, which gives from 40 to 42; rank 3 enters at 60, for the root.
    Story story;
    const auto root = story.call(0, 10, 66, 6);
    const auto inner = story.call(1, 20, 43, 23);
    const auto leaf = story.call(2, 40, 42, 2);
    const auto other = story.call(3, 60, 62, 2);
    story.meet(0, Operation::reduce, {root, inner, leaf, other}, root);
    story.repeats_itself();
    EXPECT_EQ(story.graph().call_of(story.graph().binding(1)->source), 2U);
    // Rank 2 enters 15 earlier, and rank 1 is done 3 later; whatever rank 3 does.
    const Times sooner{10, 20, 25, 60};
    EXPECT_EQ(story.replayed({.gap_ps = sooner}).leave_ps, (Times{66, 28, 27, 62}));
    const Times later{10, 20, 40, 80};
    EXPECT_EQ(story.replayed({.gap_ps = later}).leave_ps, (Times{86, 43, 42, 82}));
}

TEST(Hypothesis, AGiverThatWaitedAllTheSameWaits) {
    // Rank 1 passes on to the root, rank 0, what it gets from rank 2: it stays from 20 until 43, while rank 2 gives
    // and leaves in 2. The root has all at 46.
    Story story;
    const auto root = story.call(0, 10, 46, 6);
    const auto inner = story.call(1, 20, 43, 23);
    const auto leaf = story.call(2, 40, 42, 2);
    story.meet(0, Operation::reduce, {root, inner, leaf}, root);
    story.repeats_itself();
    // Rank 2 enters 30 earlier: all are in at 20, when rank 1 enters; it is done 3 later, the root 6 later.
    const Times sooner{10, 20, 10};
    EXPECT_EQ(story.replayed({.gap_ps = sooner}).leave_ps, (Times{26, 23, 12}));
    // Had it left after the root, it would have had another reason to stay.
    story.leave_[1] = 50;
    story.work_[1] = 30;
    story.repeats_itself();
    EXPECT_EQ(story.replayed({.gap_ps = sooner}).leave_ps, (Times{26, 50, 12}));

    // The root of a broadcast stays 5 where all others are there; once it stays from 110 until 143, rank 1 having
    // entered at 140: it waited for it.
    Story large;
    const auto once = large.call(0, 10, 15, 5);
    const auto again = large.call(0, 110, 143, 33);
    const auto there = large.call(1, 5, 16, 6);
    const auto last = large.call(1, 140, 145, 5);
    large.meet(0, Operation::bcast, {once, there}, once);
    large.meet(1, Operation::bcast, {again, last}, again);
    large.repeats_itself();
    const Times prompt{10, 95, 5,
                       94};  // rank 1 enters at 110, too, and both last as long as before after the last enter
    EXPECT_EQ(large.replayed({.gap_ps = prompt}).leave_ps, (Times{15, 115, 16, 115}));
}

TEST(Hypothesis, WithoutAKnownRootAllMeet) {
    // The rank that entered last, at 30, may be the root: its data is there when it enters.
    EXPECT_EQ(barrier(Operation::bcast).graph().call_of(barrier(Operation::bcast).graph().binding(0)->source), 2U);
    barrier(Operation::bcast).repeats_itself();
}

TEST(Hypothesis, AWaitMovedBehindTheWorkThatFollows) {
    Story story;
    const auto send = story.call(0, 0, 10, 10);
    const auto post = story.call(1, 0, 1, 1);
    const auto wait = story.call(1, 1, 100, 5);
    story.call(1, 180, 190, 10);  // behind 80 of work
    story.message(send, wait, 100);
    story.post_[0] = post;
    story.repeats_itself();
    // The Wait takes its 5, the work 80 until 86; the message has arrived at 100, then the next call does its 10.
    const std::vector<std::int32_t> later{-1, -1, 3, -1};
    EXPECT_EQ(story.replayed({.later = later}).leave_ps, (Times{10, 1, 6, 110}));
}

TEST(Hypothesis, RanksThatComputeInTurn) {
    Story story;
    // Each of three ranks computes 100 on what the one before it sent it, which takes 10; the fourth waits for all.
    std::vector<std::int32_t> sends, receives;
    for (std::int32_t rank = 0; rank < 4; ++rank) {
        const std::int64_t arrival = rank * 110;
        receives.push_back(rank == 0 ? -1 : story.call(rank, 0, arrival, 0));
        sends.push_back(rank == 3 ? -1 : story.call(rank, arrival + 100, arrival + 105, 5));
    }
    for (std::size_t rank = 1; rank < 4; ++rank) {
        story.message(sends[rank - 1], receives[rank], 10);
    }
    story.repeats_itself();
    const auto graph = story.graph();
    std::vector<std::uint32_t> depths;
    for (std::size_t rank = 1; rank < 4; ++rank) {
        depths.push_back(graph.depth(static_cast<std::uint32_t>(receives[rank])));
    }
    EXPECT_EQ(depths, (std::vector<std::uint32_t>{1, 2, 3}));
}

TEST(Hypothesis, ClocksThatContradictEachOtherLetAWaitGo) {
    Story story;
    // At 10, each of two ranks ends a call that waits for what the other one's next call sends at 10.
    const auto first = story.call(0, 0, 10, 0);
    const auto sends = story.call(0, 10, 20, 10);
    const auto second = story.call(1, 0, 10, 0);
    const auto sends_too = story.call(1, 10, 20, 10);
    story.message(sends, second, 0);
    story.message(sends_too, first, 0);
    const auto graph = story.graph();
    EXPECT_EQ(graph.waits.size(), 1U);                 // of two
    EXPECT_EQ(graph.work_ps, (Times{10, 10, 0, 10}));  // the first call's time is work now
    story.repeats_itself();
}

TEST(Hypothesis, WhatDoesNotFitIsRefused) {
    auto story = late_sender();
    const Times one{1};
    EXPECT_EQ(refusal([&] { static_cast<void>(story.replayed({.gap_ps = one})); }),
              "a hypothesis needs a value for every call or message");
    const std::vector<std::int32_t> elsewhere{2, -1, -1, -1};
    EXPECT_EQ(refusal([&] { static_cast<void>(story.replayed({.later = elsewhere})); }),
              "waits can only be moved to a later call of the same location");
    story.receive_[0] = 9;
    EXPECT_EQ(refusal([&] { static_cast<void>(story.graph()); }),
              "a message, an operation or an epoch refers to a call that is not there");
    story.receive_[0] = 2;
    story.callpath_[0] = 3;
    EXPECT_EQ(refusal([&] { static_cast<void>(story.graph()); }), "a call's path is not among the call paths");
    story.callpath_[0] = 0;
    std::ranges::reverse(story.location_);
    EXPECT_EQ(refusal([&] { static_cast<void>(story.graph()); }), "calls must stand in the order of their locations");
    std::ranges::reverse(story.location_);
    story.meet(1, Operation::barrier, {0});
    story.meet(0, Operation::barrier, {1});
    EXPECT_EQ(refusal([&] { static_cast<void>(story.graph()); }),
              "members must stand in the order of their operations");
    story.work_.pop_back();
    EXPECT_EQ(refusal([&] { static_cast<void>(story.graph()); }), "columns of one table must be of one length");
}

}  // namespace
}  // namespace logpost::replay
