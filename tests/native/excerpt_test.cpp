#include "replay/native/program/excerpt.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "program_story.hpp"

namespace logpost::replay {
namespace {

using tests::ProgramStory;

/// Ten messages of 8 B, one every 100 ps: sent at 100 i .. 100 i + 10, received at 100 i + 5 .. 100 i + 60.
struct Ten {
    ProgramStory story;
    std::int32_t sender = story.rank(0, 1'000);
    std::int32_t receiver = story.rank(1, 1'000);

    Ten() {
        for (std::int64_t i = 0; i < 10; ++i) {
            const auto send = story.call(sender, CallKind::send, 100 * i, 100 * i + 10);
            const auto receive = story.call(receiver, CallKind::receive, 100 * i + 5, 100 * i + 60);
            story.message(sender, send, receiver, receive, static_cast<std::uint64_t>(i));
        }
    }
};

TEST(Excerpt, IsTheMiddleAndAProgramOfItsOwn) {
    Ten of;
    // Four of ten: receives 3 to 6, from 305 ps to before 705 ps. Send 3 was at 300 ps and is left out, send 7 at 700
    // is in; their messages are half in, so they have no partner.
    const auto part = excerpt(of.story.program(), 4);
    const auto& sends = part.timelines[0].sends;
    const auto& receives = part.timelines[1].receives;
    ASSERT_EQ(sends.size(), 4U);
    ASSERT_EQ(receives.size(), 4U);
    EXPECT_EQ(part.timelines[0].calls[0].enter_ps, 400);
    EXPECT_EQ(part.timelines[1].calls[0].enter_ps, 305);
    EXPECT_EQ(receives[0].match, kNone);
    EXPECT_EQ(sends[3].match, kNone);
    for (std::uint32_t i = 0; i < 3; ++i) {
        EXPECT_EQ(sends[i].match, i + 1);
        EXPECT_EQ(receives[i + 1].match, i);
        EXPECT_EQ(sends[i].bytes, receives[i + 1].bytes);
        EXPECT_EQ(sends[i].call, i);
        EXPECT_EQ(receives[i + 1].complete_call, i + 1);
    }
    EXPECT_EQ(part.spans[1].begin_ps, 305);
    EXPECT_EQ(part.spans[1].end_ps, 660);
}

TEST(Excerpt, OfAShortProgramIsAllOfIt) {
    Ten of;
    const auto all = excerpt(of.story.program(), 10);
    EXPECT_EQ(all.timelines[0].sends.size(), 10U);
    EXPECT_EQ(all.timelines[1].receives[9].match, 9U);
}

/// Of two messages among 20 locations, none would have one; the span of one receive cuts each: every send is before it.
/// Two receives in a row hold the second one's message.
TEST(Excerpt, OfMoreLocationsThanMessagesHasWholeMessages) {
    ProgramStory story;
    std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
    for (std::int32_t pair = 0; pair < 10; ++pair) {
        pairs.emplace_back(story.rank(2 * pair, 10'000), story.rank(2 * pair + 1, 10'000));
    }
    for (std::int64_t i = 0; i < 64; ++i) {
        for (const auto& [sender, receiver] : pairs) {
            const auto send = story.call(sender, CallKind::send, 100 * i, 100 * i + 10);
            const auto receive = story.call(receiver, CallKind::receive, 100 * i + 5, 100 * i + 60);
            story.message(sender, send, receiver, receive, static_cast<std::uint64_t>(i));
        }
    }
    const auto part = excerpt(story.program(), 2);
    for (const auto& [sender, receiver] : pairs) {
        const auto& receives = part.timelines[static_cast<std::size_t>(receiver)].receives;
        ASSERT_EQ(receives.size(), 2U);
        EXPECT_EQ(receives[0].match, kNone);
        EXPECT_EQ(receives[1].match, 0U);
    }
}

TEST(Excerpt, OfNothingIsNothing) {
    ProgramStory story;
    story.rank(0, 10);
    EXPECT_TRUE(excerpt(story.program(), 4).timelines[0].calls.empty());
}

}  // namespace
}  // namespace logpost::replay
