#pragma once

/// Numbers for values that occur again and again: their places in a column that has each of them once.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/native/program/program.hpp"

namespace logpost::replay {

/// A table of a column's places by hash, open and at most half full: one look where a value has occurred before, which
/// std::unordered_map takes a division and two pointers for. `Hash` makes good use of the upper bits.
template <class Hash>
class Numbers {
  public:
    /// The place of `value` among `values`, which it is added to where it is new. The column is the same at each call,
    /// and no other thread adds values that are looked up.
    template <class Value>
    [[nodiscard]] std::uint32_t of(const Value& value, std::vector<Value>& values) {
        if (2 * used_ >= places_.size()) {
            grow(values);
        }
        auto& place = places_[at(value, values)];
        if (place == kNone) {
            place = static_cast<std::uint32_t>(values.size());
            values.push_back(value);
            ++used_;
        }
        return place;
    }

  private:
    /// Where the value's place is, or would be.
    template <class Value>
    [[nodiscard]] std::size_t at(const Value& value, const std::vector<Value>& values) const noexcept {
        const auto mask = places_.size() - 1;
        auto i = static_cast<std::uint64_t>(Hash{}(value)) >> (65 - std::bit_width(places_.size()));
        while (places_[i] != kNone && !(values[places_[i]] == value)) {
            i = (i + 1) & mask;
        }
        return i;
    }
    template <class Value>
    void grow(const std::vector<Value>& values) {
        const auto before = std::move(places_);
        places_.assign(before.empty() ? kFirst : 2 * before.size(), kNone);
        for (const auto place : before) {
            if (place != kNone) {
                places_[at(values[place], values)] = place;
            }
        }
    }

    static constexpr std::size_t kFirst = 64;
    std::vector<std::uint32_t> places_;  // a power of two
    std::size_t used_ = 0;
};

}  // namespace logpost::replay
