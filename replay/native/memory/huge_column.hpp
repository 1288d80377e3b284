#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "replay/native/memory/pages.hpp"

namespace logpost::replay {

/// Memory of large columns: their own mapping, in huge pages where the system grants them on request, which is given
/// back at once when they are freed. A column of a graph has hundreds of megabytes; the first touch of its 4 KiB pages
/// would cost as much as filling it, and every look-up at random a walk through their tables.
///
/// With an owner, the first memory is what is at `at`, a part of a mapped file: a column of the elements there, made
/// from them, touches none.
template <class T>
class HugePages {
  public:
    using value_type = T;
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;

    HugePages() = default;
    HugePages(std::shared_ptr<void> owner, T* at) noexcept : owner_(std::move(owner)), at_(at), next_(at) {}
    template <class Other>
    explicit HugePages(const HugePages<Other>& /*of*/) noexcept {}
    [[nodiscard]] HugePages select_on_container_copy_construction() const noexcept { return {}; }

    [[nodiscard]] T* allocate(std::size_t n) {
        if (next_ != nullptr) {
            return std::exchange(next_, nullptr);
        }
        const auto bytes = n * sizeof(T);
        return static_cast<T*>(bytes < kFrom ? ::operator new(bytes) : mapped(bytes));
    }
    void deallocate(T* memory, std::size_t n) noexcept {
        if (owner_ != nullptr && memory == at_) {
            return;
        }
        if (n * sizeof(T) < kFrom) {
            ::operator delete(memory);
        } else {
            munmap(memory, rounded_up(n * sizeof(T), kHugePage));
        }
    }
    void construct(T* to, const T& from) noexcept {
        if (to != &from) {
            ::new (static_cast<void*>(to)) T(from);
        }
    }
    bool operator==(const HugePages&) const = default;

  private:
    static constexpr std::size_t kFrom = 2 * kHugePage;

    [[nodiscard]] static void* mapped(std::size_t bytes) {
        const auto size = rounded_up(bytes, kHugePage);
        void* const memory =
            mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
            throw std::bad_alloc();
        }
        // From the first whole page on; what is around them is given back.
        const auto before = (kHugePage - reinterpret_cast<std::uintptr_t>(memory) % kHugePage) % kHugePage;
        auto* const first = static_cast<std::byte*>(memory) + before;
        if (before > 0) {
            munmap(memory, before);
        }
        munmap(first + size, kHugePage - before);
        // The last page is not full: small ones. Advice: where it is refused, they do as well for the others.
        madvise(first, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
        return first;
    }

    std::shared_ptr<void> owner_;
    T* at_ = nullptr;
    T* next_ = nullptr;  ///< `at_`, until it is handed out
};

/// A std::vector for as many elements as a graph has nodes or edges.
template <class T>
using HugeColumn = std::vector<T, HugePages<T>>;

}  // namespace logpost::replay
