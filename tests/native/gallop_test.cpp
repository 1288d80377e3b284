#include "replay/native/memory/gallop.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace logpost::replay {
namespace {

TEST(Gallop, FindsTheSameFromAnyHintAndAsksNothingOutside) {
    for (const std::size_t begin : {std::size_t{0}, std::size_t{5}}) {
        for (std::size_t end = begin; end < begin + 20; ++end) {
            for (std::size_t limit = begin; limit <= end; ++limit) {
                for (std::size_t hint = 0; hint <= end + 2; ++hint) {
                    const auto found = partition_point_near(begin, end, hint, [&](std::size_t i) {
                        EXPECT_GE(i, begin);
                        EXPECT_LT(i, end);
                        return i < limit;
                    });
                    ASSERT_EQ(found, limit) << begin << ' ' << end << ' ' << hint;
                }
            }
        }
    }
}

TEST(Gallop, AsksByTheDistanceNotByTheLength) {
    constexpr std::size_t kEnd = std::size_t{1} << 40U;
    constexpr std::size_t kLimit = kEnd / 3;
    const auto questions = [&](std::size_t hint) {
        std::size_t queries = 0;
        EXPECT_EQ(partition_point_near(0, kEnd, hint, [&](std::size_t i) { return ++queries, i < kLimit; }), kLimit);
        return queries;
    };
    EXPECT_EQ(questions(kLimit), 2U);  // the ones on both sides of it
    // 1000 places away: ten steps that double, and as many halves.
    EXPECT_LE(questions(kLimit - 1000), 2U * 11U);
    EXPECT_LE(questions(kLimit + 1000), 2U * 11U);
}

}  // namespace
}  // namespace logpost::replay
