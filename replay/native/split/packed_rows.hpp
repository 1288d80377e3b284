#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace logpost::replay {

/// Rows of many figures of which most are 0, kept as those that are not: of each row a bit for every word of it, then
/// the words.
template <class Row>
class PackedRows {
    static_assert(std::is_trivially_copyable_v<Row> && sizeof(Row) % sizeof(std::uint64_t) == 0);
    static constexpr std::size_t kWords = sizeof(Row) / sizeof(std::uint64_t);
    static constexpr std::size_t kMasks = (kWords + 63) / 64;
    using Words = std::array<std::uint64_t, kWords>;

  public:
    static void append(const Row& row, std::vector<std::uint64_t>& packed) {
        const auto words = std::bit_cast<Words>(row);
        const auto masks = packed.size();
        packed.resize(masks + kMasks);
        for (std::size_t i = 0; i < kWords; ++i) {
            if (words[i] != 0) {
                packed[masks + i / 64] |= std::uint64_t{1} << (i % 64);
                packed.push_back(words[i]);
            }
        }
    }
    static std::vector<std::uint64_t> pack(std::span<const Row> rows) {
        std::vector<std::uint64_t> packed;
        for (const auto& row : rows) {
            append(row, packed);
        }
        return packed;
    }

    /// Gives packed rows back one after another; they must outlive it.
    class Reader {
      public:
        Reader() = default;
        explicit Reader(std::span<const std::uint64_t> packed) noexcept : left_(packed) {}

        [[nodiscard]] bool at_end() const noexcept { return left_.empty(); }
        Row next() noexcept {
            Words words{};
            std::size_t at = kMasks;
            for (std::size_t mask = 0; mask < kMasks; ++mask) {
                for (auto rest = left_[mask]; rest != 0; rest &= rest - 1) {
                    words[mask * 64 + static_cast<std::size_t>(std::countr_zero(rest))] = left_[at++];
                }
            }
            left_ = left_.subspan(at);
            return std::bit_cast<Row>(words);
        }

      private:
        std::span<const std::uint64_t> left_;
    };
    static std::vector<Row> unpack(std::span<const std::uint64_t> packed) {
        std::vector<Row> rows;
        for (Reader reader(packed); !reader.at_end();) {
            rows.push_back(reader.next());
        }
        return rows;
    }
};

}  // namespace logpost::replay
