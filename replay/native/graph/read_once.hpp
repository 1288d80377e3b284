#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "replay/native/memory/pages.hpp"

namespace logpost::replay {

/// Gives the memory of a column back to the system while its elements are read for the last time, in any order: what is
/// made of them need not be in memory together with all of them.
template <class T>
class ReadOnce {
  public:
    static_assert(std::is_trivially_copyable_v<T>);

    explicit ReadOnce(std::span<T> column) : column_(column) { left_.assign(block_of(column.size()) + 1, kBlock); }

    /// The elements `begin` .. `end` are not read again.
    void done(std::size_t begin, std::size_t end) noexcept {
        auto from = address(begin);
        const auto to = address(end);
        while (from < to) {
            const auto block = from / kBlock;
            const auto next = std::min(to, (block + 1) * kBlock);
            auto& left = left_[block - address(0) / kBlock];
            left -= static_cast<std::uint32_t>(next - from);
            if (left == 0) {  // never so of a block that is shared with other columns
                // Advice: where it is refused, the memory is given back with the column.
                madvise(reinterpret_cast<void*>(block * kBlock), kBlock, MADV_DONTNEED);
            }
            from = next;
        }
    }

  private:
    static constexpr std::size_t kBlock = kHugePage;  // part of one would not go back

    [[nodiscard]] std::uintptr_t address(std::size_t element) const noexcept {
        return reinterpret_cast<std::uintptr_t>(column_.data() + element);
    }
    [[nodiscard]] std::size_t block_of(std::size_t element) const noexcept {
        return address(element) / kBlock - address(0) / kBlock;
    }

    std::span<T> column_;
    std::vector<std::uint32_t> left_;  // bytes of each block that may be read yet
};

template <class T, class Allocator>
ReadOnce(std::vector<T, Allocator>&) -> ReadOnce<T>;

}  // namespace logpost::replay
