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
    static std::vector<std::uint64_t> pack(std::span<const Row> rows) {
        std::vector<std::uint64_t> packed;
        for (const auto& row : rows) {
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
        return packed;
    }

    static std::vector<Row> unpack(std::span<const std::uint64_t> packed) {
        std::vector<Row> rows;
        for (std::size_t at = 0; at < packed.size();) {
            const auto masks = packed.subspan(at, kMasks);
            at += kMasks;
            Words words{};
            for (std::size_t i = 0; i < kWords; ++i) {
                if ((masks[i / 64] >> (i % 64) & 1U) != 0) {
                    words[i] = packed[at++];
                }
            }
            rows.push_back(std::bit_cast<Row>(words));
        }
        return rows;
    }
};

}  // namespace logpost::replay
