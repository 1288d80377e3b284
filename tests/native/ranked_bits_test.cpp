#include "replay/native/memory/ranked_bits.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>

namespace logpost::replay {
namespace {

TEST(RankedBits, AnIndexHasItsPlaceAndTheOthersHaveNone) {
    RankedBits bits;
    EXPECT_FALSE(bits.place_of(0).has_value());
    // Neighbours, both ends of a word, and words that hold nothing in between.
    const std::initializer_list<std::uint32_t> indices = {0, 1, 63, 64, 127, 1000, 1001};
    for (const auto index : indices) {
        bits.push_back(index);
    }
    std::size_t place = 0;
    for (std::uint32_t index = 0; index < 1200; ++index) {
        const bool held = place < indices.size() && *(indices.begin() + place) == index;
        ASSERT_EQ(bits.place_of(index).has_value(), held) << index;
        if (held) {
            EXPECT_EQ(bits.place_of(index), place);
            ++place;
        }
    }
    EXPECT_EQ(place, indices.size());
}

TEST(RankedBits, ClearedItHoldsNothing) {
    RankedBits bits;
    bits.push_back(70);
    bits.clear();
    EXPECT_FALSE(bits.place_of(70).has_value());
    bits.push_back(3);
    EXPECT_EQ(bits.place_of(3), 0U);
    EXPECT_FALSE(bits.place_of(70).has_value());
}

}  // namespace
}  // namespace logpost::replay
