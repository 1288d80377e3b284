#include "analyzer/archive/native/clocks/clock.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace logpost::analyzer {
namespace {

__extension__ using Int128 = __int128;

std::int64_t floor_ps(std::int64_t ticks, std::uint64_t resolution) {
    const Int128 scaled = static_cast<Int128>(ticks) * 1'000'000'000'000;
    const auto r = static_cast<Int128>(resolution);
    return static_cast<std::int64_t>(scaled >= 0 ? scaled / r : -((-scaled + r - 1) / r));
}

TEST(Clock, IsExactForEveryResolution) {
    // 2596156638 Hz is a real TSC; 3 divides nothing; 10^12 is one picosecond per tick, above it several ticks share
    // one.
    for (const std::uint64_t resolution : {1ULL, 3ULL, 1'000'000ULL, 1'000'000'000ULL, 1'995'386'627ULL,
                                           2'596'156'638ULL, 1'000'000'000'000ULL, 7'000'000'000'000ULL}) {
        Clock clock(resolution, 0, {});
        std::uint64_t state = 88172645463325252ULL;
        for (int i = 0; i < 20000; ++i) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            const auto ticks = static_cast<std::int64_t>(state >> (i % 62 + 2));
            const Int128 exact = static_cast<Int128>(ticks) * 1'000'000'000'000 / static_cast<Int128>(resolution);
            if (exact > Clock::kSaturated - 2'000'000'000'000) {
                continue;
            }
            ASSERT_EQ(clock.ticks_to_ps(ticks), floor_ps(ticks, resolution)) << ticks << " at " << resolution;
            ASSERT_EQ(clock.ticks_to_ps(-ticks), floor_ps(-ticks, resolution)) << -ticks << " at " << resolution;
        }
    }
}

TEST(Clock, SubtractsTicksAbove2To53AsIntegers) {
    // As doubles, 2^60 + 1 and 2^60 + 2 are one number.
    const std::uint64_t base = 1ULL << 60;
    Clock clock(1'000'000'000, base, {});
    EXPECT_EQ(clock.to_ps(base + 1), 1000);
    EXPECT_EQ(clock.to_ps(base + 2), 2000);
    Clock far(1'000'000'000, 5, {{base, -static_cast<std::int64_t>(base)}});
    EXPECT_EQ(far.to_ps(base + 6), 1000);  // base + 6 − base − 5 = 1 tick
}

TEST(Clock, InterpolatesBetweenOffsets) {
    // Offset 100 at 1000, 300 at 2000: slope 0.2.
    Clock clock(1'000'000'000'000, 0, {{2000, 300}, {1000, 100}, {3000, 300}});
    EXPECT_EQ(clock.to_ps(0), 0 + 100 - 200);  // the first segment reaches back: 100 + 0.2 × (0 − 1000)
    EXPECT_EQ(clock.to_ps(1000), 1000 + 100);
    EXPECT_EQ(clock.to_ps(1501), 1501 + 100 + 100);  // 0.2 × 501 = 100.2, the nearest tick is 100
    EXPECT_EQ(clock.to_ps(1503), 1503 + 100 + 101);  // 100.6
    EXPECT_EQ(clock.to_ps(2000), 2000 + 300);
    EXPECT_EQ(clock.to_ps(2500), 2500 + 300);
    EXPECT_EQ(clock.to_ps(9000), 9000 + 300);
}

TEST(Clock, OneOffsetHoldsEverywhere) {
    Clock clock(1'000'000'000'000, 0, {{500, -20}});
    EXPECT_EQ(clock.to_ps(100), 80);
    EXPECT_EQ(clock.to_ps(700), 680);
}

TEST(Clock, SaturatesInsteadOfOverflowing) {
    Clock clock(1, 0, {});
    EXPECT_EQ(clock.ticks_to_ps(std::int64_t{1} << 40), Clock::kSaturated);
    EXPECT_EQ(clock.ticks_to_ps(-(std::int64_t{1} << 40)), -Clock::kSaturated);

    // Ticks and base are farther apart than 2^63, in both directions; an offset moves a time beyond 2^63.
    const std::uint64_t all = ~std::uint64_t{0};
    EXPECT_EQ(Clock(1, 0, {}).to_ps(all), Clock::kSaturated);
    EXPECT_EQ(Clock(1, all, {}).to_ps(0), -Clock::kSaturated);
    EXPECT_EQ(Clock(1'000'000'000'000, 0, {{0, INT64_MAX}}).to_ps(1), Clock::kSaturated);
    // Offsets that fall from the largest to the least within one tick; a slope that no tick count holds.
    Clock steep(1'000'000'000'000, 0, {{10, INT64_MAX}, {11, INT64_MIN}});
    EXPECT_EQ(steep.to_ps(all), -Clock::kSaturated);
    // A clock that starts beyond 2^63 is exact: 2^63 + 7 ticks of 1 ps after 2^63.
    EXPECT_EQ(Clock(1'000'000'000'000, std::uint64_t{1} << 63, {}).to_ps((std::uint64_t{1} << 63) + 7), 7);
}

}  // namespace
}  // namespace logpost::analyzer
