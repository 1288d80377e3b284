// Numbers for values that repeat.

#include "replay/native/program/numbers.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace logpost::replay {
namespace {

struct Spread {
    std::size_t operator()(std::uint64_t value) const noexcept { return value * 0x9E3779B97F4A7C15ULL; }
};
/// Every value at one place: each look continues to the next ones.
struct Same {
    std::size_t operator()(std::uint64_t /*value*/) const noexcept { return ~std::size_t{0}; }
};

template <class Hash>
void expect_first_place(std::uint64_t values) {
    Numbers<Hash> numbers;
    std::vector<std::uint64_t> column;
    std::unordered_map<std::uint64_t, std::uint32_t> expected;
    std::uint64_t value = 1;
    for (std::uint64_t i = 0; i < 8 * values; ++i) {
        value = value * 6'364'136'223'846'793'005ULL + 1'442'695'040'888'963'407ULL;
        const auto one = (value >> 32U) % values;
        const auto place = expected.try_emplace(one, static_cast<std::uint32_t>(expected.size())).first->second;
        ASSERT_EQ(numbers.of(one, column), place);
        ASSERT_EQ(column[place], one);
    }
    EXPECT_EQ(column.size(), expected.size());
}

TEST(Numbers, AValueHasThePlaceAtWhichItCameFirst) {
    expect_first_place<Spread>(10'000);
}

TEST(Numbers, ValuesOfOneHashAreToldApart) {
    expect_first_place<Same>(100);
}

TEST(Numbers, ValuesThatWereThereBeforeAreNotAsked) {
    Numbers<Spread> numbers;
    std::vector<std::uint64_t> column{7};
    EXPECT_EQ(numbers.of(std::uint64_t{7}, column), 1U);
    EXPECT_EQ(numbers.of(std::uint64_t{7}, column), 1U);
}

}  // namespace
}  // namespace logpost::replay
