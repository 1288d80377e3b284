#pragma once

/// Arrays that are made one after another and freed together: small ones, by location, share a block; a large one has a
/// block in huge pages. Blocks are in the heap or, beyond the limit of memory, in the spill's file.

#include <cstddef>
#include <mutex>
#include <span>
#include <type_traits>
#include <vector>

#include "replay/native/memory/spill.hpp"

namespace logpost::replay {

class Arena {
  public:
    /// The spill must outlive it; null: all is in memory.
    explicit Arena(Spill* spill = nullptr) noexcept : spill_(spill) {}
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena() { clear(); }

    /// Memory for `n` elements, not constructed. Any thread may call it. Throws SpillError, std::bad_alloc.
    template <class T>
    [[nodiscard]] std::span<T> take(std::size_t n) {
        static_assert(std::is_trivially_copyable_v<T>);
        return n == 0 ? std::span<T>{} : std::span<T>(reinterpret_cast<T*>(place(n * sizeof(T)).memory), n);
    }
    /// A copy of them. Likewise.
    template <class T>
    [[nodiscard]] std::span<T> copy(std::span<const T> values) {
        static_assert(std::is_trivially_copyable_v<T>);
        if (values.empty()) {
            return {};
        }
        auto* memory = reinterpret_cast<T*>(filled(values.data(), values.size_bytes()));
        return {memory, values.size()};
    }
    template <class T>
    [[nodiscard]] std::span<T> copy(const std::vector<T>& values) {
        return copy(std::span<const T>(values));
    }

    /// Frees all arrays.
    void clear() noexcept;

  private:
    struct Place {
        std::byte* memory;
        bool in_file;
    };
    struct Block {
        std::byte* memory;
        std::size_t bytes;
        std::size_t used;
        bool in_file;
    };
    Place place(std::size_t bytes);
    std::byte* filled(const void* values, std::size_t bytes);

    Spill* spill_;
    std::mutex mutex_;  // of all below
    std::vector<Block> blocks_;
    std::size_t taken_ = 0;  // bytes of all blocks
};

}  // namespace logpost::replay
