#include "analyzer/archive/native/match/concurrent_pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace logpost::analyzer {
namespace {

using Pairs = std::vector<std::uint32_t>;

constexpr ChannelName kChannel{0, replay::Location{9}, 7};

Sent sent(std::int32_t thread, std::int64_t enter, std::uint64_t bytes = 8) {
    return {kChannel, replay::Location{thread}, bytes, enter};
}
/// A receive of a thread, posted in [enter, leave], complete at `complete`.
Posted posted(std::int32_t thread, std::int64_t enter, std::int64_t leave, std::int64_t complete,
              std::uint64_t bytes = 8) {
    return {kChannel, replay::Location{thread}, bytes, enter, leave, complete};
}
Posted blocking(std::int32_t thread, std::int64_t enter, std::int64_t leave, std::uint64_t bytes = 8) {
    return posted(thread, enter, leave, leave, bytes);
}

TEST(ConcurrentPairs, NoReceiveEndsBeforeItsSendBegins) {
    // Thread 0 is in its receive from 0 to 30, thread 1 from 5 to 10. The message of 20 cannot be thread 1's.
    const std::vector<Sent> sends = {sent(9, 2), sent(9, 20)};
    EXPECT_EQ(concurrent_pairs(sends, std::vector{blocking(0, 0, 30), blocking(1, 5, 10)}), (Pairs{1, 0}));
}

TEST(ConcurrentPairs, OfReceivesThatMayHaveEitherMessageTheOneThatWasCalledFirstHasTheFirst) {
    const std::vector<Sent> sends = {sent(9, 2), sent(9, 4)};
    EXPECT_EQ(concurrent_pairs(sends, std::vector{blocking(1, 5, 10), blocking(0, 0, 30)}), (Pairs{1, 0}));
}

TEST(ConcurrentPairs, OfReceivesOneAfterTheOtherTheEarlierTakesTheFirstMessage) {
    // Irecv at 0 to 1 and at 2 to 3; that the wait of the later one ends first, at 50, changes nothing.
    const std::vector<Sent> sends = {sent(9, 10), sent(9, 60)};
    EXPECT_EQ(concurrent_pairs(sends, std::vector{posted(0, 0, 1, 100), posted(1, 2, 3, 50)}), (Pairs{0, 1}));
}

TEST(ConcurrentPairs, AThreadPostsInItsProgramOrder) {
    // Thread 0's second receive ends at 40, and its first, at 60, is before: both before thread 1's.
    const std::vector<Sent> sends = {sent(9, 0), sent(9, 39), sent(9, 45)};
    const std::vector receives = {posted(0, 0, 30, 60), posted(0, 30, 31, 40), blocking(1, 5, 50)};
    EXPECT_EQ(concurrent_pairs(sends, receives), (Pairs{0, 1, 2}));
}

TEST(ConcurrentPairs, WhatComesBehindMayHurry) {
    // Thread 0's receive (0 to 10) precedes thread 1's (20 to 30, complete at 40): both need a message sent by 40, of
    // which there are two, so thread 2's, which ends at 50, takes the one of 45.
    const std::vector<Sent> sends = {sent(9, 0), sent(9, 35), sent(9, 45)};
    const std::vector receives = {posted(0, 2, 10, 100), blocking(2, 1, 50), posted(1, 20, 30, 40)};
    EXPECT_EQ(concurrent_pairs(sends, receives), (Pairs{0, 2, 1}));
}

TEST(ConcurrentPairs, AMessageHasTheSizeThatItsReceiveStates) {
    const std::vector<Sent> sends = {sent(8, 0, 16), sent(9, 1, 8), sent(9, 2, 8)};
    const std::vector receives = {blocking(0, 0, 9, 8), blocking(1, 5, 10, 16), blocking(1, 11, 12, 8)};
    EXPECT_EQ(concurrent_pairs(sends, receives), (Pairs{1, 0, 2}));
    // Where sizes disagree, they show nothing.
    const std::vector others = {blocking(0, 0, 9, 8), blocking(1, 5, 10, 8), blocking(1, 11, 12, 8)};
    EXPECT_EQ(concurrent_pairs(sends, others), (Pairs{0, 1, 2}));
}

TEST(ConcurrentPairs, ChannelsAreApartAndWhatHasNoPartnerStaysAlone) {
    std::vector<Sent> sends = {sent(9, 0), sent(9, 1), sent(9, 2)};
    std::vector receives = {blocking(0, 0, 30), blocking(1, 5, 10), blocking(1, 11, 40)};
    sends[1].channel.tag = 8;
    receives[1].channel.tag = 8;
    receives[2].channel.comm = 1;
    EXPECT_EQ(concurrent_pairs(sends, receives), (Pairs{0, 1, kNone}));
}

TEST(ConcurrentPairs, AWriterWhoseClocksDisagreeStillHasAPairForEach) {
    const std::vector<Sent> sends = {sent(9, 500), sent(9, 600)};
    auto pairs = concurrent_pairs(sends, std::vector{blocking(0, 0, 30), blocking(1, 5, 10)});
    std::ranges::sort(pairs);
    EXPECT_EQ(pairs, (Pairs{0, 1}));
}

/// Four threads receive what others send. The library takes receives at instants within their calls that only it knows,
/// and each ends after its message was sent.
TEST(ConcurrentPairs, KeepWhatIsKnownWhateverThreadsDo) {
    constexpr auto kNever = std::numeric_limits<std::int64_t>::max();
    for (unsigned seed = 0; seed < 100; ++seed) {
        std::mt19937 random(seed);
        const auto within = [&](std::int64_t from, std::int64_t to) {
            return std::uniform_int_distribution<std::int64_t>(from, to)(random);
        };
        struct Truth {
            std::int64_t took;
            Posted receive;
        };
        std::vector<Truth> truth;
        std::vector<Posted> receives;
        for (std::int32_t thread = 0; thread < 4; ++thread) {
            std::int64_t now = 0;
            for (int i = 0; i < 50; ++i) {
                const auto enter = now + within(1, 20);
                const auto leave = enter + within(1, 200);
                receives.push_back(posted(thread, enter, leave, leave + within(0, 300)));
                truth.push_back({within(enter, leave), receives.back()});
                now = leave;
            }
        }
        std::ranges::sort(truth, {}, &Truth::took);
        std::vector<Sent> sends;  // the k-th that is taken has the k-th message, sent by the end of all behind it
        auto latest = kNever;
        for (auto i = truth.size(); i-- > 0;) {
            latest = std::min(latest, truth[i].receive.complete_ps);
            sends.push_back(sent(9, latest - within(0, 30)));
        }
        std::ranges::sort(sends, {}, &Sent::enter_ps);
        const auto pairs = concurrent_pairs(sends, receives);
        std::vector<std::uint32_t> taker(sends.size(), kNone);
        for (std::uint32_t i = 0; i < pairs.size(); ++i) {
            ASSERT_LT(pairs[i], sends.size());
            ASSERT_EQ(taker[pairs[i]], kNone) << "a message is received once";
            taker[pairs[i]] = i;
        }
        std::vector<std::int64_t> left(4, 0);
        std::int64_t begun = 0;  // the latest begin of a call that was before
        for (std::size_t k = 0; k < taker.size(); ++k) {
            const auto& receive = receives[taker[k]];
            EXPECT_GE(receive.complete_ps, sends[k].enter_ps) << "seed " << seed << ", message " << k;
            EXPECT_GE(receive.leave_ps, begun) << "a call that ended before another one began was first";
            EXPECT_GE(receive.enter_ps, left[index(receive.location)]) << "program order";
            left[index(receive.location)] = receive.leave_ps;
            begun = std::max(begun, receive.enter_ps);
        }
    }
}

}  // namespace
}  // namespace logpost::analyzer
