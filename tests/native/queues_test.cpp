#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "program_story.hpp"
#include "replay/native/cost/cost.hpp"
#include "replay/native/servers/fifo.hpp"
#include "replay/native/split/message_model.hpp"

namespace logpost::replay {
namespace {

using tests::plain_machine;
using tests::ProgramStory;

std::int64_t part(const MessageModel& model, MessageId id, Part of) {
    return model.partition(id).totals()[static_cast<std::size_t>(of)];
}

/// Two ranks on nodes of their own send 1000 B each to a third at the same time.
///
/// Each message leaves its sender at o_s = 10 and its first byte arrives at 10 + L = 110; the receiving NIC takes
/// 1000 B * G = 1000 for one. The first is there at 110 + 999 * G = 1109, its receive ends at 1109 + o_r = 1129. The
/// second waits 1000 for the NIC: it is there at 2109, its receive ends at 2129.
struct TwoToOne : ProgramStory {
    explicit TwoToOne(std::int32_t second_node = 1) {
        for (const auto node : {0, second_node, 2}) {
            rank(node, 3000);
        }
        for (const auto sender : {0, 1}) {
            const auto send = call(sender, CallKind::send, 0, 10);
            const auto receive = call(2, CallKind::receive, sender * 1129, 1129 + sender * 1000);
            message(sender, send, 2, receive, 1000);
        }
    }
};

TEST(Queues, ExtremeServicesWaitALongTimeAndNoLonger) {
    FifoServer nic;
    std::int64_t longest = 0;
    for (std::int64_t arrival = 0; arrival < 100; ++arrival) {
        longest = std::max(longest, nic.wait(arrival, kMostCostPs));
    }
    EXPECT_EQ(longest, FifoServer::kMostWaitPs - 1);  // the one before arrived 1 ps earlier
}

TEST(Queues, TheSecondOfTwoMessagesWaitsForTheReceivingNic) {
    TwoToOne story;
    const auto machine = plain_machine();
    const MessageModel model(story.program(), machine, Windows{.count = 1, .width_ps = 3000}, {}, 1);
    EXPECT_EQ(part(model, {Location{2}, 0}, Part::endpoint_contention), 0);
    EXPECT_EQ(part(model, {Location{2}, 1}, Part::endpoint_contention), 1000);
    EXPECT_EQ(model.arrival({Location{2}, 0}), 1109);
    EXPECT_EQ(model.arrival({Location{2}, 1}), 2109);
    // 10 + 100 + 999 + 1000 + 20 = 2129: nothing of the second is left unexplained.
    EXPECT_EQ(part(model, {Location{2}, 1}, Part::residual), 0);
    EXPECT_EQ(model.load(2, true, 0).queued_ps, 1000);
    EXPECT_EQ(model.load(2, true, 0).busy_ps, 2000);
    EXPECT_EQ(model.load(2, true, 0).peers, 2);
}

TEST(Queues, RanksOfOneNodeShareItsNic) {
    // Both senders are on node 0. The second message leaves only when the first has left, 1000 later; it arrives at
    // 1110, when the receiving NIC, busy from 110 to 1110, is free again: the wait is the sender's.
    TwoToOne story(0);
    const auto machine = plain_machine();
    const MessageModel model(story.program(), machine, Windows{.count = 1, .width_ps = 3000}, {}, 1);
    EXPECT_EQ(model.record({Location{2}, 1}).send_endpoint, 1000);
    EXPECT_EQ(part(model, {Location{2}, 1}, Part::endpoint_contention), 1000);
    EXPECT_EQ(model.load(1, false, 0).queued_ps, 1000);
    EXPECT_EQ(model.load(2, true, 0).queued_ps, 0);
}

TEST(Queues, TwoNicsOfANodeServeTwoRanksAtOnce) {
    TwoToOne story(0);
    auto machine = plain_machine();
    machine.nics_per_node = 2;
    const MessageModel model(story.program(), machine, Windows{.count = 1, .width_ps = 3000}, {}, 1);
    EXPECT_EQ(model.record({Location{2}, 1}).send_endpoint, 0);
    EXPECT_EQ(model.load(2, true, 0).queued_ps, 1000);
}

TEST(Queues, MessagesWaitForWhatElseTheirNicServes) {
    TwoToOne story;
    const auto machine = plain_machine();
    const Windows whole{.count = 1, .width_ps = 3000};
    const auto uses = [](std::size_t location, NicUse use) {
        NicUses found{std::make_unique<Arena>(), std::vector<std::span<NicUse>>(3)};
        found.of[location] = found.memory->copy(std::vector{use});
        return found;
    };
    // Busy until 400, and the message is ready at 10; its first byte reaches the other NIC at 500, and the second
    // message, there since 110, is first.
    const MessageModel behind(story.program(), machine, whole, {}, 1, uses(0, {0, 400, true, false, false}));
    EXPECT_EQ(behind.record({Location{2}, 0}).send_endpoint, 390);
    EXPECT_EQ(behind.arrival({Location{2}, 1}), 1109);
    EXPECT_EQ(behind.load(0, false, 0).messages, 1U);
    // Another message of 300 is ready 5 earlier than the first.
    const MessageModel second(story.program(), machine, whole, {}, 1, uses(0, {5, 300, true, false, true}));
    EXPECT_EQ(second.record({Location{2}, 0}).send_endpoint, 295);
    // At the receiver between the two, of 1000 each: one waits 50 for it, the other for both.
    const MessageModel there(story.program(), machine, whole, {}, 1, uses(2, {60, 100, true, true, true}));
    EXPECT_EQ(there.arrival({Location{2}, 0}), 1109 + 50);
    EXPECT_EQ(there.arrival({Location{2}, 1}), 2109 + 50);
    EXPECT_EQ(there.load(2, true, 0).messages, 2U);
    // Within nodes, or in the other direction, no message queues behind it.
    for (const NicUse elsewhere : {NicUse{0, 400, false, false, false}, NicUse{0, 400, true, true, false}}) {
        const MessageModel none(story.program(), machine, whole, {}, 1, uses(0, elsewhere));
        EXPECT_EQ(none.record({Location{2}, 0}).send_endpoint, 0);
    }
}

TEST(Queues, ASendrecvSendsBeforeItTakesWhatIsThere) {
    // A message of 1 B leaves rank 0 at o_s = 10 and is at rank 1 at 110, whose Sendrecv begins at 1000: it works
    // o_s = 10 for its own message first, then o_r = 20 for this one.
    ProgramStory story;
    for (const auto node : {0, 1}) {
        story.rank(node, 3000);
    }
    const auto send = story.call(0, CallKind::send, 0, 10);
    const auto both = story.call(1, CallKind::send_receive, 1000, 1030);
    const auto receive = story.call(0, CallKind::receive, 1100, 1130);
    story.message(0, send, 1, both, 1);
    story.message(1, both, 0, receive, 1);
    const auto machine = plain_machine();
    const MessageModel model(story.program(), machine, Windows{.count = 1, .width_ps = 3000}, {}, 1);
    const MessageId there{Location{1}, 0};
    EXPECT_EQ(part(model, there, Part::late_receiver), 890);
    EXPECT_EQ(part(model, there, Part::processor_queueing), 10);
    EXPECT_EQ(part(model, there, Part::recv_overhead), 20);
    EXPECT_EQ(part(model, there, Part::residual), 0);
}

/// Rank 0 starts three messages in one call, of which the last has no time left for the whole of its o_s = 10: it is
/// begun at 1000, 1010 and 1020, and the call ends at 1025. Rank 1 takes them one by one. A message of 1 B from there
/// is at rank 0 at 1012, whose receive is posted at 1100.
struct ThreeStarted : ProgramStory {
    explicit ThreeStarted(std::uint64_t bytes) {
        for (const auto node : {0, 1}) {
            rank(node, 9000);
        }
        const auto send = call(1, CallKind::send, 902, 912);
        const auto start = call(0, CallKind::start, 1000, 1025);
        message(1, send, 0, call(0, CallKind::receive, 1100, 1120), 1);
        for (const auto time : {3000, 4000, 5000}) {
            message(0, start, 1, call(1, CallKind::receive, time, time + 500), bytes);
        }
    }
};

TEST(Queues, MessagesStartedByOneCallLeaveInTurnUntilItsEnd) {
    ThreeStarted story(1000);
    const auto machine = plain_machine();
    const MessageModel model(story.program(), machine, Windows{.count = 1, .width_ps = 9000}, {}, 1);
    // The NIC takes 1000 for each: ready at 1010, 1020 and 1025, they leave at 1010, 2010 and 3010.
    EXPECT_EQ(model.record({Location{1}, 0}).send_endpoint, 0);
    EXPECT_EQ(model.record({Location{1}, 1}).send_endpoint, 990);
    EXPECT_EQ(model.record({Location{1}, 2}).send_endpoint, 1985);
}

TEST(Queues, AProcessorWorksForWhatOneCallStartsUntilItsEnd) {
    ThreeStarted story(1);
    const auto machine = plain_machine();
    const MessageModel model(story.program(), machine, Windows{.count = 1, .width_ps = 9000}, {}, 1);
    // From 1012 to 1025 it works for two other messages: 13 of the 88 until the receive is posted.
    EXPECT_EQ(part(model, {Location{0}, 0}, Part::processor_queueing), 13);
    EXPECT_EQ(part(model, {Location{0}, 0}, Part::late_receiver), 75);
}

/// Three ranks send 1 B each to a fourth at 1000: the messages are there at 1000 + o_s + L = 1110. It receives them one
/// by one from 2000 on, in calls of 500 each, 20 apart: o_r is 20, and the rest of each call is work for its message
/// all the same, because that was there when the call began.
struct ThreeToOne : ProgramStory {
    explicit ThreeToOne(std::int64_t first_sent = 1000) {
        for (const auto node : {0, 1, 2, 3}) {
            rank(node, 9000);
        }
        for (const auto sender : {0, 1, 2}) {
            const auto at = sender == 0 ? first_sent : 1000;
            const auto send = call(sender, CallKind::send, at, at + 10);
            const auto receive = call(3, CallKind::receive, 2000 + sender * 520, 2500 + sender * 520);
            message(sender, send, 3, receive, 1);
        }
    }
};

TEST(Queues, ACallWhoseMessageIsThereWorksForItUntilItsEnd) {
    ThreeToOne story;
    const auto machine = plain_machine();
    const MessageModel model(story.program(), machine, Windows{.count = 1, .width_ps = 9000}, {}, 1);
    // Nothing precedes the first message. The third waits 2 for the NIC, and then until 3040: 888 until the first call,
    // twice 20 between calls, and 1000 for the two others.
    EXPECT_EQ(part(model, {Location{3}, 0}, Part::processor_queueing), 0);
    EXPECT_EQ(part(model, {Location{3}, 0}, Part::late_receiver), 890);
    EXPECT_EQ(part(model, {Location{3}, 1}, Part::processor_queueing), 500);
    EXPECT_EQ(part(model, {Location{3}, 2}, Part::processor_queueing), 1000);
    EXPECT_EQ(part(model, {Location{3}, 2}, Part::late_receiver), 888 + 40);
}

TEST(Queues, ACallThatWaitsForItsMessageWorksForItFromWhenThatIsThere) {
    ThreeToOne story(2300);
    const auto machine = plain_machine();
    const MessageModel model(story.program(), machine, Windows{.count = 1, .width_ps = 9000}, {}, 1);
    // The first message is there at 2410, 410 after its call begins and 90 before that ends.
    EXPECT_EQ(part(model, {Location{3}, 1}, Part::processor_queueing), 90);
    EXPECT_EQ(part(model, {Location{3}, 1}, Part::late_receiver), 890 + 410 + 20);
}

/// Two ranks send 1000 B by a rendezvous each to a third at the same time, which receives one after the other.
struct TwoRendezvous : ProgramStory {
    explicit TwoRendezvous(std::int32_t node_of_receiver) {
        for (const auto node : {0, 0, node_of_receiver}) {
            rank(node, 9000);
        }
        for (const auto sender : {0, 1}) {
            const auto send = call(sender, CallKind::send, 1000 * sender, 3000 + 2000 * sender);
            const auto receive = call(2, CallKind::receive, 500 + 2600 * sender, 3000 + 2000 * sender);
            message(sender, send, 2, receive, 1000);
        }
    }
};

TEST(Queues, ARendezvousWithinANodeIsWorkOfItsReceiverFromItsRequestOn) {
    auto machine = plain_machine();
    for (auto& locality : machine.localities) {
        locality.eager_limit = 0;
    }
    TwoRendezvous near(0);
    const MessageModel model(near.program(), machine, Windows{.count = 1, .width_ps = 9000}, {}, 1);
    // The second request is there at 1110, and its receive is posted at 3100: until 3000 the first call, which began
    // with its message's request there, moves that message's data.
    EXPECT_EQ(part(model, {Location{2}, 0}, Part::processor_queueing), 0);
    EXPECT_EQ(part(model, {Location{2}, 1}, Part::processor_queueing), 3000 - 1110);
    EXPECT_EQ(part(model, {Location{2}, 1}, Part::late_receiver), 100);

    // Whether a trace shows that rendezvous continue without a processor changes nothing of it.
    auto alone = machine;
    alone.asynchronous_progress = true;
    const MessageModel without(near.program(), alone, Windows{.count = 1, .width_ps = 9000}, {}, 1);
    EXPECT_EQ(part(without, {Location{2}, 1}, Part::processor_queueing), 3000 - 1110);

    // Between nodes NICs move the data. The payload is there at 500 + 10 + 100 + 10 + 100 + 999 = 1719.
    TwoRendezvous far(1);
    const MessageModel apart(far.program(), machine, Windows{.count = 1, .width_ps = 9000}, {}, 1);
    EXPECT_EQ(part(apart, {Location{2}, 1}, Part::processor_queueing), 3000 - 1719);
    EXPECT_EQ(part(apart, {Location{2}, 1}, Part::late_receiver), 1719 - 1110 + 100);
}

/// Two clients send 1 B each to a server, which is there at 200, and wait for its replies. It takes the request of the
/// second one, replies, and then does the same for the first one.
struct TwoClients : ProgramStory {
    explicit TwoClients(std::int64_t first_waits_from = 50) {
        for (const auto node : {0, 1, 2}) {
            rank(node, 9000);
        }
        const auto request = [&](std::int32_t client) {
            const auto send = call(client, CallKind::send, 0, 10);
            const auto receive = call(2, CallKind::receive, 200 + 510 * (1 - client), 700 + 510 * (1 - client));
            message(client, send, 2, receive, 1);
        };
        const auto reply = [&](std::int32_t client, std::int64_t waits_from) {
            const auto send = call(2, CallKind::send, 700 + 510 * (1 - client), 710 + 510 * (1 - client));
            const auto receive = call(client, CallKind::receive, waits_from, 1400);
            message(2, send, client, receive, 1);
        };
        request(1);
        reply(1, 50);
        request(0);
        reply(0, first_waits_from);
    }
};

TEST(Queues, AReplyIsLateBecauseItsServerWorkedForOthers) {
    TwoClients story;
    const auto machine = plain_machine();
    const MessageModel model(story.program(), machine, Windows{.count = 1, .width_ps = 9000}, {}, 1);
    // The second client's request was the first to be taken. That of the first one is there at 110; the server works
    // for the other one in [200, 710], and sends the reply at 1210.
    EXPECT_EQ(part(model, {Location{1}, 0}, Part::processor_queueing), 0);
    EXPECT_EQ(part(model, {Location{1}, 0}, Part::late_sender), 700 - 50);
    EXPECT_EQ(part(model, {Location{0}, 0}, Part::processor_queueing), 510);
    EXPECT_EQ(part(model, {Location{0}, 0}, Part::late_sender), 1210 - 50 - 510);

    // A client that computes until 650 waited for 60 of it.
    TwoClients later(650);
    const MessageModel computes(later.program(), machine, Windows{.count = 1, .width_ps = 9000}, {}, 1);
    EXPECT_EQ(part(computes, {Location{0}, 0}, Part::processor_queueing), 60);
    EXPECT_EQ(part(computes, {Location{0}, 0}, Part::late_sender), 1210 - 650 - 60);
}

TEST(Queues, OnlyMessagesOfTheRegionOfInterestCountAsLoad) {
    TwoToOne story;
    const auto machine = plain_machine();
    // The second receive is entered at 1129. Its wait is as before: the first message was there.
    const std::vector<Span> late(3, Span{1000, 3000});
    const MessageModel model(story.program(), machine, Windows{.count = 1, .width_ps = 3000}, late, 1);
    EXPECT_EQ(model.load(2, true, 0).messages, 1U);
    EXPECT_EQ(model.load(2, true, 0).queued_ps, 1000);
}

// Elements of one block of 17 B, 64 B apart: three of them are three blocks, one alone is contiguous.
TEST(MessageModel, ElementsOfOneBlockAreContiguousOnlyAlone) {
    auto machine = plain_machine();
    machine.middleware =
        middleware_tables({.tables = {}, .alone = {{.bytes = 51, .block_bytes = 17, .stride_bytes = 64, .l_mw = 60}}});
    for (const auto& [bytes, l_mw] : {std::pair{51, 60}, {17, 0}}) {
        ProgramStory story;
        story.rank(0, 1000);
        story.rank(1, 1000);
        const auto send = story.call(0, CallKind::send, 0, 100);
        story.message(0, send, 1, story.call(1, CallKind::receive, 0, 300), static_cast<std::uint64_t>(bytes));
        story.sends_gaps(0, story.layout(1));
        const MessageModel model(story.program(), machine, Windows{.count = 1, .width_ps = 1000}, {}, 1);
        EXPECT_EQ(part(model, {Location{1}, 0}, Part::middleware), l_mw);
    }
}

/// Rank 0 sends 51 B with gaps to rank 1, in a call that also receives from it, or does not.
struct Exchange : ProgramStory {
    enum class Back : std::uint8_t { none, contiguous, gaps };
    Exchange(Back back, CallKind kind) {
        rank(0, 1000);
        rank(1, 1000);
        const auto here = call(0, kind, 0, 400);
        const auto there = call(1, kind, 0, 400);
        const auto gaps = layout();
        message(0, here, 1, there, 51);
        sends_gaps(0, gaps);
        if (back != Back::none) {
            message(1, there, 0, here, 51);
        }
        if (back == Back::gaps) {
            sends_gaps(1, gaps);
        }
    }
};

TEST(MessageModel, BothEndsOfAnExchangePackAndUnpack) {
    auto machine = plain_machine();
    const auto of = [](double l_mw) {
        return middleware_tables(
            {.tables = {}, .alone = {{.bytes = 51, .block_bytes = 17, .stride_bytes = 64, .l_mw = l_mw}}});
    };
    machine.middleware = of(60);
    using enum Exchange::Back;
    const auto middleware = [&](Exchange::Back back, CallKind kind) {
        Exchange story(back, kind);
        const MessageModel model(story.program(), machine, Windows{.count = 1, .width_ps = 1000}, {}, 1);
        return part(model, {Location{1}, 0}, Part::middleware);
    };
    EXPECT_EQ(middleware(gaps, CallKind::send_receive), 60);  // the machine does not state another one
    machine.middleware_self = of(40);                         // two ends that overlap are never slower
    EXPECT_EQ(middleware(gaps, CallKind::send_receive), 60);
    machine.middleware_self = of(100);
    EXPECT_EQ(middleware(gaps, CallKind::send_receive), 100);
    EXPECT_EQ(middleware(contiguous, CallKind::send_receive), 60);
    EXPECT_EQ(middleware(none, CallKind::send_receive), 60);

    // Likewise where one call completes both.
    ProgramStory story;
    story.rank(0, 1000);
    story.rank(1, 1000);
    const auto gaps_of_both = story.layout();
    std::array<std::array<std::uint32_t, 3>, 2> calls{};
    for (const std::int32_t rank : {0, 1}) {
        calls[static_cast<std::size_t>(rank)] = {story.call(rank, CallKind::receive_nonblocking, 0, 5),
                                                 story.call(rank, CallKind::send_nonblocking, 5, 100),
                                                 story.call(rank, CallKind::wait_multi, 100, 500)};
    }
    for (const std::int32_t rank : {0, 1}) {
        const auto& sends = calls[static_cast<std::size_t>(rank)];
        const auto& receives = calls[static_cast<std::size_t>(1 - rank)];
        story.message(rank, sends[1], 1 - rank, receives[0], 51, sends[2], receives[2]);
        story.sends_gaps(rank, gaps_of_both);
    }
    const MessageModel model(story.program(), machine, Windows{.count = 1, .width_ps = 1000}, {}, 1);
    EXPECT_EQ(part(model, {Location{1}, 0}, Part::middleware), 100);
}

}  // namespace
}  // namespace logpost::replay
