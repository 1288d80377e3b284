// Columns whose memory is a separate mapping.

#include "replay/native/memory/huge_column.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <utility>

namespace logpost::replay {
namespace {

constexpr std::uintptr_t kHuge = std::uintptr_t{2} << 20U;

TEST(HugeColumn, KeepsWhatItHoldsWhileItGrows) {
    HugeColumn<std::uint32_t> column;
    constexpr std::uint32_t kNumbers = 3'000'000;  // 12 MB: from the heap into mappings
    for (std::uint32_t i = 0; i < kNumbers; ++i) {
        column.push_back(i);
    }
    for (std::uint32_t i = 0; i < kNumbers; ++i) {
        ASSERT_EQ(column[i], i);
    }
}

TEST(HugeColumn, LargeOnesBeginWithAPage) {
    for (const std::size_t megabytes : {4U, 5U, 7U, 64U}) {
        HugeColumn<std::uint64_t> column(megabytes << 17U, 1);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(column.data()) % kHuge, 0U) << megabytes;
        EXPECT_EQ(std::accumulate(column.begin(), column.end(), std::uint64_t{0}), megabytes << 17U);
    }
}

TEST(HugeColumn, HasNoElementsAfterItWasMoved) {
    HugeColumn<std::uint64_t> column(std::size_t{1} << 20U, 3);
    const auto* const at = column.data();
    const auto moved = std::move(column);
    EXPECT_EQ(moved.data(), at);
    EXPECT_TRUE(column.empty());  // NOLINT(bugprone-use-after-move): that is what is tested
}

}  // namespace
}  // namespace logpost::replay
