// Every message of a collective operation, against what the operation must bring about.

#include "replay/native/collectives/every_message.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace logpost::replay {
namespace {

std::vector<std::set<std::int32_t>> known_after(const EveryMessage& found, std::uint32_t size) {
    std::vector<std::set<std::int32_t>> has(size);
    for (std::uint32_t i = 0; i < size; ++i) {
        has[i] = {static_cast<std::int32_t>(i)};
    }
    auto before = has;  // the step's messages leave together
    for (std::size_t i = 0; i < found.from.size(); ++i) {
        if (i == 0 || found.step[i] != found.step[i - 1]) {
            before = has;
        }
        const auto& taken = before[static_cast<std::size_t>(found.from[i])];
        has[static_cast<std::size_t>(found.to[i])].insert(taken.begin(), taken.end());
    }
    return has;
}

TEST(EveryMessage, BarriersReachEverybodyFromEverybody) {
    for (std::uint32_t size = 2; size < 40; ++size) {
        const Pattern pattern{Operation::barrier, size, 0};
        for (const auto& has : known_after(every_message(pattern, usual(pattern)), size)) {
            EXPECT_EQ(has.size(), size);
        }
    }
}

TEST(EveryMessage, AlltoallIsOneMessageBetweenEveryTwoAlsoBeyondTheRoundsThatAreJoined) {
    const std::uint32_t size = 100;
    const Pattern pattern{Operation::alltoall, size, 8};
    const auto found = every_message(pattern, usual(pattern));
    std::set<std::pair<std::int32_t, std::int32_t>> pairs;
    for (std::size_t i = 0; i < found.from.size(); ++i) {
        EXPECT_EQ(found.bytes[i], 8);
        pairs.emplace(found.from[i], found.to[i]);
    }
    EXPECT_EQ(found.from.size(), size * (size - 1));
    EXPECT_EQ(pairs.size(), size * (size - 1));
    EXPECT_EQ(found.step.back(), static_cast<std::int32_t>(size) - 2);
}

TEST(EveryMessage, ABurstIsOneStep) {
    const auto found = every_message({Operation::alltoall, 5, 8}, Algorithm::linear);
    EXPECT_EQ(found.from.size(), 20);
    EXPECT_EQ(found.step.back(), 0);
}

TEST(EveryMessage, WhatIsNotKnownHasNone) {
    const Pattern pattern{Operation::unknown, 8, 8};
    EXPECT_EQ(usual(pattern), Algorithm::not_known);
    EXPECT_TRUE(every_message(pattern, usual(pattern)).from.empty());
}

TEST(EveryMessage, RootedOperationsGoDownOrUpTheTree) {
    const auto down = every_message({Operation::scatter, 8, 10}, usual({Operation::scatter, 8, 10}));
    EXPECT_EQ(down.from, (std::vector<std::int32_t>{0, 0, 0, 2, 4, 4, 6}));
    EXPECT_EQ(down.to, (std::vector<std::int32_t>{4, 2, 1, 3, 6, 5, 7}));
    EXPECT_EQ(down.bytes, (std::vector<std::uint64_t>{40, 20, 10, 10, 20, 10, 10}));
}

}  // namespace
}  // namespace logpost::replay
