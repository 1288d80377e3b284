#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

#include "replay/native/memory/spill.hpp"

namespace logpost::replay {

/// Memory for `n` elements, not constructed, in huge pages where the system grants them on request: the first touch of
/// 4 KiB pages would cost as much as filling them.
template <class T>
class HugeArray {
  public:
    static_assert(std::is_trivially_destructible_v<T>);

    HugeArray() = default;
    explicit HugeArray(std::size_t n) : HugeArray(n, nullptr) {}
    /// In the spill's file where it has no place in memory; the spill must outlive it. Throws SpillError.
    HugeArray(std::size_t n, Spill* spill) {
        constexpr std::size_t kHuge = std::size_t{2} << 20U;
        const std::size_t bytes = (n * sizeof(T) + kHuge - 1) / kHuge * kHuge;
        if (bytes == 0) {
            return;
        }
        if (spill != nullptr && spill->wants(bytes)) {
            data_ = {static_cast<T*>(spill->take(bytes)), Free{spill}};
            return;
        }
        data_.reset(static_cast<T*>(std::aligned_alloc(kHuge, bytes)));
        if (!data_) {
            throw std::bad_alloc();
        }
        madvise(data_.get(), bytes, MADV_HUGEPAGE);  // advice: where it is refused, small pages do as well
    }

    [[nodiscard]] T* data() noexcept { return data_.get(); }

  private:
    struct Free {
        Spill* spill = nullptr;
        void operator()(T* pointer) const noexcept {
            if (spill != nullptr) {
                spill->give_back(pointer);
            } else {
                std::free(pointer);
            }
        }
    };
    std::unique_ptr<T, Free> data_;
};

}  // namespace logpost::replay
