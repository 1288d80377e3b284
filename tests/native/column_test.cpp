#include "replay/native/memory/column.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace logpost::replay {
namespace {

Column<std::uint64_t> squares(std::size_t n) {
    Column<std::uint64_t> column;
    for (std::size_t i = 0; i < n; ++i) {
        column.push_back(i * i);
    }
    return column;
}

TEST(Column, HoldsWhatWasPushedAcrossEveryChunkBorder) {
    // Chunks hold 16, 32, 64, ...: borders at 16, 48, 112, ...
    const auto column = squares(1000);
    ASSERT_EQ(column.size(), 1000U);
    for (std::size_t i = 0; i < 1000; ++i) {
        ASSERT_EQ(column[i], i * i);
    }
}

TEST(Column, NeverMovesAnElement) {
    Column<std::uint64_t> column;
    const auto* first = &column.push_back(7);
    for (int i = 0; i < 100000; ++i) {
        column.push_back(1);
    }
    EXPECT_EQ(first, &column[0]);
}

TEST(Column, VisitsInOrderAndOnce) {
    auto column = squares(113);
    std::size_t expected = 0;
    column.for_each([&](std::size_t i, std::uint64_t& value) {
        EXPECT_EQ(i, expected++);
        EXPECT_EQ(value, i * i);
        value += 1;
    });
    EXPECT_EQ(expected, 113U);
    EXPECT_EQ(column[112], 112U * 112U + 1U);
}

TEST(Column, TruncateKeepsTheFirstAndGoesOnBehindThem) {
    for (const std::size_t keep : {0U, 1U, 15U, 16U, 17U, 48U, 49U, 200U}) {
        auto column = squares(200);
        column.truncate(keep);
        ASSERT_EQ(column.size(), keep);
        column.push_back(4711);
        EXPECT_EQ(column[keep], 4711U);
        EXPECT_EQ(column.back(), 4711U);
        for (std::size_t i = 0; i < keep; ++i) {
            ASSERT_EQ(column[i], i * i);
        }
    }
}

TEST(Column, TrimGivesMemoryBackAndTheColumnStaysUsable) {
    for (const std::size_t n : {0U, 1U, 16U, 17U, 47U, 48U, 1000U}) {
        auto column = squares(n);
        const auto before = column.bytes();
        column.trim();
        EXPECT_LE(column.bytes(), before);
        EXPECT_GE(column.bytes(), n * sizeof(std::uint64_t));
        std::size_t seen = 0;
        column.for_each([&](std::size_t i, std::uint64_t value) {
            ++seen;
            ASSERT_EQ(value, i * i);
        });
        EXPECT_EQ(seen, n);
        for (std::size_t i = n; i < n + 100; ++i) {
            column.push_back(i * i);
        }
        for (std::size_t i = 0; i < n + 100; ++i) {
            ASSERT_EQ(column[i], i * i);
        }
    }
}

TEST(Column, ATrimmedColumnHoldsNotAByteTooMuch) {
    auto column = squares(1000);
    column.trim();
    EXPECT_EQ(column.bytes(), 1000 * sizeof(std::uint64_t));
}

TEST(Column, AMovedFromColumnIsEmptyAndUsable) {
    auto a = squares(100);
    Column<std::uint64_t> b = std::move(a);
    EXPECT_EQ(b.size(), 100U);
    // NOLINTBEGIN(bugprone-use-after-move,clang-analyzer-cplusplus.Move): that it is defined is the point
    EXPECT_TRUE(a.empty());
    a.push_back(3);
    EXPECT_EQ(a[0], 3U);
    // NOLINTEND(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
    EXPECT_EQ(b[0], 0U);
    b.clear();
    EXPECT_EQ(b.size(), 0U);
    EXPECT_EQ(b.bytes(), 0U);
}

TEST(Column, APartitionPointIsTheSameFromAnyHint) {
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{37}}) {
        const auto column = squares(n);
        for (std::uint64_t limit = 0; limit <= n * n; ++limit) {
            const auto before = [&](std::uint64_t value) { return value < limit; };
            const auto expected = column.partition_point(before);
            for (std::size_t hint = 0; hint <= n + 1; ++hint) {
                ASSERT_EQ(column.partition_point_near(hint, before), expected) << n << ' ' << limit << ' ' << hint;
            }
        }
    }
}

}  // namespace
}  // namespace logpost::replay
