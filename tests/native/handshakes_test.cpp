// When processors answer the handshakes of rendezvous.
#include <gtest/gtest.h>

#include <algorithm>

#include "program_story.hpp"
#include "replay/native/program/message_facts.hpp"
#include "replay/native/split/message_model.hpp"

namespace logpost::replay {
namespace {

using tests::plain_machine;
using tests::ProgramStory;

Parameters asking_machine() {
    auto parameters = plain_machine();
    for (auto& locality : parameters.localities) {
        locality.eager_limit = 0;
    }
    return parameters;
}

MessageModel model_of(ProgramStory& story) {
    return {story.program(), asking_machine(), Windows{.count = 1, .width_ps = 4000}, {}, 1};
}

TEST(Handshakes, ACallThatEndsWhenTheNextOnePostsAnswersNobody) {
    ProgramStory story;
    story.rank(0, 4000);
    story.rank(1, 4000);
    const auto send = story.call(0, CallKind::send_nonblocking, 0, 10);
    const auto sent = story.call(0, CallKind::wait, 10, 3200);
    story.call(1, CallKind::collective, 0, 500);
    const auto post = story.call(1, CallKind::receive_nonblocking, 500, 510);
    const auto wait = story.call(1, CallKind::wait, 2000, 3300);
    story.message(0, send, 1, post, 1000, sent, wait);
    // The request is there at 10 + 100, its receive at 500: from 2000 on the receiver is inside again.
    EXPECT_EQ(model_of(story).handshake_of({Location{1}, 0}).matched, 2000);
}

TEST(Handshakes, CallsThatEndInATickAreOverForWhatComesThenUnlessTheyBeginInIt) {
    EXPECT_FALSE(over_at({10, 21, 0, 0}, 20));
    EXPECT_TRUE(over_at({10, 20, 0, 0}, 20));
    EXPECT_TRUE(over_at({10, 19, 0, 0}, 20));
    EXPECT_FALSE(over_at({20, 20, 0, 0}, 20));
}

TEST(Handshakes, RequestsThatWaitForACallAreAnsweredInTheOrderInWhichTheyCame) {
    ProgramStory story;
    for (const auto node : {0, 1, 2}) {
        story.rank(node, 4000);
    }
    const auto of_first = story.call(0, CallKind::send_nonblocking, 0, 10);
    const auto of_second = story.call(1, CallKind::send_nonblocking, 100, 110);
    const auto first_sent = story.call(0, CallKind::wait, 10, 3400);
    const auto second_sent = story.call(1, CallKind::wait, 110, 3400);
    const auto post_second = story.call(2, CallKind::receive_nonblocking, 0, 10);
    const auto post_first = story.call(2, CallKind::receive_nonblocking, 10, 20);
    const auto wait = story.call(2, CallKind::wait_multi, 2000, 3500);
    story.message(1, of_second, 2, post_second, 1000, second_sent, wait);
    story.message(0, of_first, 2, post_first, 1000, first_sent, wait);
    // There at 110 and 210; both wait until 2000 for the receiver, which then needs o_control for each.
    const auto model = model_of(story);
    EXPECT_EQ(model.handshake_of({Location{2}, 1}).matched, 2000);
    EXPECT_EQ(model.handshake_of({Location{2}, 0}).matched, 2000 + model.stages({Location{2}, 1}).o_control);
    EXPECT_GT(model.stages({Location{2}, 1}).o_control, 0);
}

// The data leave at o_s = 10; else behind L, o_control, L and o_control. With the receive posted at 500, then.
TEST(Handshakes, ANetworkThatMatchesBothEndsSendsNoRequest) {
    for (const std::int64_t posted : {0, 500}) {
        ProgramStory story;
        story.rank(0, 4000);
        story.rank(1, 4000);
        const auto send = story.call(0, CallKind::send_synchronous, 0, 2000);
        const auto receive = story.call(1, CallKind::receive, posted, 2000);
        story.message(0, send, 1, receive, 100);
        auto machine = plain_machine();
        const MessageModel asking(story.program(), machine, Windows{.count = 1, .width_ps = 4000}, {}, 1);
        EXPECT_EQ(asking.leaves({Location{1}, 0}), std::max<std::int64_t>(posted, 110) + 10 + 100 + 10);
        machine.library[static_cast<std::size_t>(LibraryProperty::synchronous_sends)] =
            static_cast<std::uint8_t>(Synchronous::match);
        const MessageModel matching(story.program(), machine, Windows{.count = 1, .width_ps = 4000}, {}, 1);
        EXPECT_EQ(matching.leaves({Location{1}, 0}), std::max<std::int64_t>(posted, 10));
    }
}

}  // namespace
}  // namespace logpost::replay
