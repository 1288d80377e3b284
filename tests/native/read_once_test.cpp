// Columns that go back to the system while they are read.

#include "replay/native/graph/read_once.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "replay/native/memory/release.hpp"

namespace logpost::replay {
namespace {

constexpr std::uint32_t kNumbers = 1U << 22U;  // 16 MiB: 7 whole blocks of 2 MiB at least

std::vector<std::uint32_t> numbers() {
    std::vector<std::uint32_t> column(kNumbers);
    std::iota(column.begin(), column.end(), 1U);
    return column;
}

TEST(ReadOnce, WhatWasNotReadIsStillThere) {
    auto column = numbers();
    ReadOnce once(column);
    // All but every thousandth: no block is read as a whole, and so all of them stay.
    for (std::uint32_t i = 0; i < kNumbers; ++i) {
        if (i % 1000 != 0) {
            once.done(i, i + 1);
        }
    }
    EXPECT_EQ(column, numbers());
}

TEST(ReadOnce, ABlockGoesBackOnceAllOfItWasRead) {
    auto column = numbers();
    ReadOnce once(column);
    // From both sides, in ranges that cross blocks; of the last quarter nothing.
    constexpr std::uint32_t kRead = kNumbers / 4 * 3;
    for (std::uint32_t i = 0; i < kRead / 2; i += 12'288) {
        once.done(i, i + 12'288);
        once.done(kRead - i - 12'288, kRead - i);
    }
    EXPECT_EQ(column[kRead / 2], 0U);  // memory that was given back reads as 0
    EXPECT_EQ(std::ranges::count(column, 0U) % (1 << 19), 0);
    for (std::uint32_t i = kRead; i < kNumbers; ++i) {
        ASSERT_EQ(column[i], i + 1);
    }
}

TEST(ReadOnce, AnEmptyColumnHasNothingToGive) {
    std::vector<std::uint32_t> column;
    ReadOnce once(column);
    once.done(0, 0);
    EXPECT_TRUE(column.empty());
}

TEST(Release, AVectorKeepsNoMemory) {
    auto column = numbers();
    std::vector<int> other(3);
    release(column, other);
    EXPECT_EQ(column.capacity(), 0U);
    EXPECT_EQ(other.capacity(), 0U);
}

}  // namespace
}  // namespace logpost::replay
