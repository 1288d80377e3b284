#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace logpost::replay {

/// Ascending indices, and the place of each among them: found by counting bits, in a 64th of the memory that a table
/// from index to place would need.
class RankedBits {
  public:
    void clear() noexcept {
        words_.clear();
        size_ = 0;
    }
    /// Adds an index larger than all before it.
    void push_back(std::uint32_t index) {
        words_.resize(index / kBits + 1, {.bits = 0, .before = size_});
        words_.back().bits |= std::uint64_t{1} << index % kBits;
        ++size_;
    }
    [[nodiscard]] std::optional<std::size_t> place_of(std::uint32_t index) const noexcept {
        if (index / kBits >= words_.size()) {
            return std::nullopt;
        }
        const auto& word = words_[index / kBits];
        const auto bit = std::uint64_t{1} << index % kBits;
        if ((word.bits & bit) == 0) {
            return std::nullopt;
        }
        return word.before + static_cast<std::size_t>(std::popcount(word.bits & (bit - 1)));
    }

  private:
    static constexpr std::uint32_t kBits = 64;
    struct Word {
        std::uint64_t bits;
        std::uint32_t before;  // indices in the words before this one
    };
    std::vector<Word> words_;
    std::uint32_t size_ = 0;
};

}  // namespace logpost::replay
