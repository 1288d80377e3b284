#include "replay/native/split/samples.hpp"

#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include "program_story.hpp"

namespace logpost::replay {
namespace {

using tests::ProgramStory;

constexpr std::size_t kAll = 1000;

/// Rank 0 on one node sends, ranks 1 and 2 on others receive.
struct Traffic {
    ProgramStory story;
    std::int32_t sender = story.rank(0, 100'000);
    std::int32_t receiver = story.rank(1, 100'000);

    void message(CallKind kind, std::int64_t s0, std::int64_t s1, std::int64_t r0, std::int64_t r1,
                 std::uint64_t bytes = 8) {
        const auto send = story.call(sender, kind, s0, s1);
        const auto receive = story.call(receiver, CallKind::receive, r0, r1);
        story.message(sender, send, receiver, receive, bytes);
    }
    LocalitySamples between_nodes() { return samples(story.program(), kAll)[3]; }
};

TEST(Samples, AMessageAloneToAReceiverThatWaitedIsUndisturbed) {
    Traffic of;
    of.message(CallKind::send, 100, 110, 50, 230);
    of.message(CallKind::send, 1'000, 1'010, 900, 1'130);
    const auto found = of.between_nodes();
    EXPECT_EQ(found.undisturbed_blocking.time_ps, (std::vector<std::int64_t>{130, 130}));
    EXPECT_EQ(found.whole.time_ps, (std::vector<std::int64_t>{130, 130}));
    EXPECT_TRUE(found.undisturbed_nonblocking.time_ps.empty());
}

TEST(Samples, OneThatMetAnotherOrALateReceiverIsABoundOnly) {
    Traffic of;
    of.message(CallKind::send, 100, 110, 50, 230);           // the second is sent before this is received
    of.message(CallKind::send, 150, 160, 230, 300);          // and is received late
    of.message(CallKind::send, 1'000, 1'010, 1'005, 1'130);  // the receiver entered after the send had begun
    const auto found = of.between_nodes();
    EXPECT_TRUE(found.undisturbed_blocking.time_ps.empty());
    EXPECT_EQ(found.whole.time_ps, (std::vector<std::int64_t>{130, 150, 130}));
}

TEST(Samples, ASendThatWasOverBeforeItsReceiveWasPostedReturnedAtOnce) {
    Traffic of;
    of.message(CallKind::send, 100, 110, 500, 520, 64);
    of.message(CallKind::send, 1'000, 1'600, 1'100, 1'700, 4096);
    const auto found = of.between_nodes();
    EXPECT_EQ(found.send_at_once.time_ps, (std::vector<std::int64_t>{10}));
    EXPECT_EQ(found.early_complete.bytes, (std::vector<std::uint64_t>{64}));
    EXPECT_EQ(found.send_blocking.time_ps, (std::vector<std::int64_t>{600}));
    EXPECT_EQ(found.late_complete.bytes, (std::vector<std::uint64_t>{4096}));
}

TEST(Samples, ACallThatCompletesTwoReceivesTakesHalfOfItsLengthForEach) {
    Traffic of;
    const auto one = of.story.call(of.sender, CallKind::send, 100, 110);
    const auto two = of.story.call(of.sender, CallKind::send, 110, 120);
    const auto wait = of.story.call(of.receiver, CallKind::wait_multi, 1'000, 1'040);
    of.story.message(of.sender, one, of.receiver, wait, 8);
    of.story.message(of.sender, two, of.receiver, wait, 8);
    const auto found = of.between_nodes();
    EXPECT_EQ(found.receive.time_ps, (std::vector<std::int64_t>{20}));
    // Each was next to the other at the sender and at the receiver: (1000 - 110) / (1 + 2).
    EXPECT_EQ(found.slack_ps, (std::vector<std::int64_t>{296}));
    // Two within 100 .. 1040: at most 940 ps between them.
    EXPECT_EQ(found.burst.time_ps, (std::vector<std::int64_t>{940, 940}));
}

TEST(Samples, ACallThatStartsSendsOfSeveralClassesOnlyBoundsEach) {
    // One call of 300 starts 8 B and 24 B to another node: 150 each, at 16 B. Another one starts one to its own node,
    // too.
    Traffic of;
    const auto near = of.story.rank(0, 100'000);
    const auto both = of.story.call(of.sender, CallKind::start, 100, 400);
    const auto wait = of.story.call(of.receiver, CallKind::wait_multi, 5'000, 5'040);
    of.story.message(of.sender, both, of.receiver, wait, 8);
    of.story.message(of.sender, both, of.receiver, wait, 24);
    const auto mixed = of.story.call(of.sender, CallKind::start, 10'000, 10'170);
    of.story.message(of.sender, mixed, of.receiver, of.story.call(of.receiver, CallKind::receive, 20'000, 20'040), 8);
    of.story.message(of.sender, mixed, near, of.story.call(near, CallKind::receive, 20'000, 20'010), 8);
    const auto found = of.between_nodes();
    EXPECT_EQ(found.send_at_once.time_ps, (std::vector<std::int64_t>{150, 150}));
    EXPECT_EQ(found.send_at_once.bytes, (std::vector<std::uint64_t>{16, 16}));
    EXPECT_EQ(found.send_among_others.time_ps, (std::vector<std::int64_t>{170}));
    EXPECT_TRUE(samples(of.story.program(), kAll)[2].send_at_once.time_ps.empty());
}

TEST(Samples, ASendWhosePeerIsNotKnownIsOfNoClass) {
    // Of one call, before and after the send of a message. Its place in the table of places would be -1, which the
    // sanitizers see.
    Traffic of;
    const auto both = of.story.call(of.sender, CallKind::start, 100, 400);
    of.story.lost_send(of.sender, both, 8);
    of.story.message(of.sender, both, of.receiver, of.story.call(of.receiver, CallKind::receive, 5'000, 5'040), 8);
    of.story.lost_send(of.sender, both, 8);
    const auto found = of.between_nodes();
    EXPECT_TRUE(found.send_at_once.time_ps.empty());
    EXPECT_EQ(found.send_among_others.time_ps, (std::vector<std::int64_t>{300}));
    EXPECT_TRUE(found.burst.time_ps.empty());
}

TEST(Samples, AMessageOfAnotherClassBetweenTwoDoesNotPartTheirBurst) {
    Traffic of;
    const auto near = of.story.rank(0, 100'000);
    of.message(CallKind::send, 100, 110, 50, 230);
    const auto send = of.story.call(of.sender, CallKind::send, 110, 120);
    of.story.message(of.sender, send, near, of.story.call(near, CallKind::receive, 20, 140), 8);
    of.message(CallKind::send, 120, 130, 231, 280);
    // At the sender and at the receiver: 280 - 100.
    EXPECT_EQ(of.between_nodes().burst.time_ps, (std::vector<std::int64_t>{180, 180}));
}

TEST(Samples, MessagesThatQueueBehindTheirSendersOwnAreSpacedAsTheirNicServesThem) {
    // Sent 10 apart, they arrive 50 apart: nothing but the NIC can have spaced them.
    const auto burst = [](Traffic& of) {
        of.message(CallKind::send, 100, 110, 50, 230);
        of.message(CallKind::send, 110, 120, 231, 280);
        of.message(CallKind::send, 120, 130, 281, 330);
    };
    Traffic of;
    burst(of);
    const auto found = of.between_nodes();
    EXPECT_EQ(found.spacing.time_ps, (std::vector<std::int64_t>{50, 50}));
    EXPECT_EQ(found.spacing_of_sends, (std::vector<std::int64_t>{10, 10}));
    // One receiver takes both: its shorter call, which a processor may need.
    EXPECT_EQ(found.spacing_calls, (std::vector<std::int64_t>{49, 49}));

    Traffic disturbed;  // another sender's message reaches the receiver during that time
    const auto other = disturbed.story.rank(2, 100'000);
    burst(disturbed);
    const auto send = disturbed.story.call(other, CallKind::send, 200, 210);
    disturbed.story.message(other, send, disturbed.receiver,
                            disturbed.story.call(disturbed.receiver, CallKind::receive, 331, 400), 8);
    EXPECT_TRUE(disturbed.between_nodes().spacing.time_ps.empty());
}

TEST(Samples, ReceiversThatAreNotTheSameNeedNoProcessorInTurn) {
    Traffic of;
    const auto other = of.story.rank(2, 100'000);
    of.message(CallKind::send, 100, 110, 50, 230);
    const auto send = of.story.call(of.sender, CallKind::send, 110, 120);
    of.story.message(of.sender, send, other, of.story.call(other, CallKind::receive, 20, 280), 8);
    EXPECT_EQ(of.between_nodes().spacing.time_ps, (std::vector<std::int64_t>{50}));
    EXPECT_EQ(of.between_nodes().spacing_calls, (std::vector<std::int64_t>{INT64_MAX}));
}

TEST(Samples, AMessageThatEndsOnlyWhenItsSenderIsBackIsUnanswered) {
    // The receiver waits from 50 on; the sender is in code from 110 to 510, and the message ends 90 later.
    Traffic of;
    const auto send = of.story.call(of.sender, CallKind::send_nonblocking, 100, 110);
    const auto wait = of.story.call(of.sender, CallKind::wait, 510, 600);
    const auto receive = of.story.call(of.receiver, CallKind::receive, 50, 600);
    of.story.message(of.sender, send, of.receiver, receive, 65'536, wait);
    const auto found = of.between_nodes();
    EXPECT_EQ(found.unanswered.time_ps, (std::vector<std::int64_t>{400}));
    EXPECT_EQ(found.unanswered_rest, (std::vector<std::int64_t>{90}));
    EXPECT_TRUE(found.answered.time_ps.empty());
}

TEST(Samples, AWaitThatLastsUntilALongMessageHasComeIsForItsAnswer) {
    // 400 of code, and a transfer of 300 behind it. An eager send would be over, whose wait has any length.
    for (const auto& [leaves, unanswered] : {std::pair{790, 1U}, {530, 0U}}) {
        Traffic of;
        const auto send = of.story.call(of.sender, CallKind::send_nonblocking, 100, 110);
        const auto wait = of.story.call(of.sender, CallKind::wait, 510, leaves);
        const auto receive = of.story.call(of.receiver, CallKind::receive, 50, 810);
        of.story.message(of.sender, send, of.receiver, receive, 65'536, wait);
        const auto found = of.between_nodes();
        EXPECT_EQ(found.unanswered.time_ps.size(), unanswered);
        EXPECT_TRUE(found.answered.time_ps.empty());
    }
}

TEST(Samples, ASynchronousSendIsNoWitnessOfAnEagerMessage) {
    Traffic of;
    of.message(CallKind::send_synchronous, 100, 420, 50, 500);
    const auto found = of.between_nodes();
    EXPECT_EQ(found.undisturbed_synchronous.time_ps, (std::vector<std::int64_t>{400}));
    EXPECT_TRUE(found.undisturbed_blocking.time_ps.empty());
    EXPECT_TRUE(found.late_complete.bytes.empty());
}

/// Two ranks in an operation, the second from 300 to 700.
struct Together {
    ProgramStory story;
    std::int32_t first = story.rank(0, 100'000);
    std::int32_t second;
    explicit Together(std::int32_t node = 1) : second(story.rank(node, 100'000)) {}

    void operation(Operation kind, std::int32_t root, std::uint64_t sent, std::uint64_t received,
                   std::uint32_t instance = 0) {
        for (const auto& [rank, enter, leave] : {std::tuple{first, 100, 500}, {second, 300, 700}}) {
            const auto call = story.call(rank, CallKind::collective, enter, leave);
            story.collective(rank, call, kind, root, instance);
            story.gives_and_gets(rank, sent, received);
        }
    }
    SampleColumn between(Locality locality) {
        return samples(story.program(), kAll)[static_cast<std::size_t>(locality)].collective;
    }
};

TEST(Samples, WhatAMemberGetsOfTheOthersTakesAtMostFromTheFirstEnterToItsEnd) {
    Together of;
    of.operation(Operation::alltoall, kUndefined, 2'000, 2'000);  // half of it a member's own
    const auto found = of.between(Locality::other_node);
    EXPECT_EQ(found.bytes, (std::vector<std::uint64_t>{1'000, 1'000}));
    EXPECT_EQ(found.time_ps, (std::vector<std::int64_t>{400, 600}));
}

TEST(Samples, OnlyWhoGetsSomethingBoundsTheTimePerByte) {
    Together broadcast;
    broadcast.operation(Operation::bcast, 0, 2'000, 2'000);
    EXPECT_EQ(broadcast.between(Locality::other_node).time_ps, (std::vector<std::int64_t>{600}));
    Together reduction;
    reduction.operation(Operation::reduce, 0, 2'000, 2'000);  // the root's: a message of each member
    const auto found = reduction.between(Locality::other_node);
    EXPECT_EQ(found.bytes, (std::vector<std::uint64_t>{1'000}));
    EXPECT_EQ(found.time_ps, (std::vector<std::int64_t>{400}));
    for (const auto kind : {Operation::barrier, Operation::scan}) {
        Together unknown;  // how much of it comes from another member
        unknown.operation(kind, kUndefined, 2'000, 2'000);
        EXPECT_TRUE(unknown.between(Locality::other_node).bytes.empty());
    }
}

TEST(Samples, OperationsBoundTheClassThatAllTheirMembersAreOf) {
    Together node(0);
    node.operation(Operation::allreduce, kUndefined, 2'000, 2'000);
    EXPECT_EQ(node.between(Locality::same_node).bytes, (std::vector<std::uint64_t>{1'000, 1'000}));

    Together bound(
        0);  // the first rank is on socket 1, which is also the second one's number, whose socket is not known
    bound.story.on_socket(bound.first, 1);
    bound.operation(Operation::allreduce, kUndefined, 2'000, 2'000);
    EXPECT_EQ(bound.between(Locality::same_node).bytes, (std::vector<std::uint64_t>{1'000, 1'000}));

    Together mixed(0);  // a third rank is on another node than these two
    const auto far = mixed.story.rank(1, 100'000);
    mixed.operation(Operation::allreduce, kUndefined, 2'000, 2'000);
    const auto call = mixed.story.call(far, CallKind::collective, 100, 700);
    mixed.story.collective(far, call, Operation::allreduce);
    const auto all = samples(mixed.story.program(), kAll);
    for (const auto& locality : all) {
        EXPECT_TRUE(locality.collective.bytes.empty());
    }
}

}  // namespace
}  // namespace logpost::replay
