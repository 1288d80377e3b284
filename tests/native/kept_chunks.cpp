// libotf2's large memory comes from one region and is used again: linked into fuzzers with --wrap=malloc, calloc,
// realloc and free.
//
// libotf2 takes a chunk of 256 KiB at least for each file that it reads or writes, and 4 MiB more for each that it
// writes. AddressSanitizer maps and unmaps memory of that size each time and marks all of it, twice: two thirds of the
// time of an input. libotf2 itself is not instrumented, so hardly anything is hidden from the sanitizer.
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names
void* __real_malloc(std::size_t size);
void* __real_calloc(std::size_t n, std::size_t size);
void* __real_realloc(void* old, std::size_t size);
void __real_free(void* memory);
}

namespace {

class Chunks {
  public:
    static constexpr std::size_t kSmallest = std::size_t{128} << 10;
    static constexpr std::size_t kLargest = std::size_t{4} << 20;

    Chunks() {
        auto* const region = mmap(nullptr, kSlots * kLargest, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (region == MAP_FAILED) {
            return;
        }
        begin_ = static_cast<std::byte*>(region);
        for (std::size_t slot = kSlots; slot > 0; --slot) {
            free_.push_back(begin_ + (slot - 1) * kLargest);
        }
    }

    /// Null where the size is no chunk's, or all are in use.
    void* take(std::size_t size) {
        const std::lock_guard lock(mutex_);
        if (size < kSmallest || size > kLargest || free_.empty()) {
            return nullptr;
        }
        auto* const chunk = free_.back();
        free_.pop_back();
        return chunk;
    }
    [[nodiscard]] bool owns(const void* memory) const {
        const auto* at = static_cast<const std::byte*>(memory);
        return begin_ != nullptr && at >= begin_ && at < begin_ + kSlots * kLargest;
    }
    void give_back(void* chunk) {
        const std::lock_guard lock(mutex_);
        free_.push_back(static_cast<std::byte*>(chunk));
    }

  private:
    static constexpr std::size_t kSlots = 64;
    std::mutex mutex_;
    std::byte* begin_ = nullptr;
    std::vector<std::byte*> free_;
};

/// Never destroyed: libotf2 frees at the very end, too.
Chunks& chunks() {
    static auto* const all = new Chunks;
    return *all;
}

}  // namespace

extern "C" {

void* __wrap_malloc(std::size_t size) {
    auto* const chunk = chunks().take(size);
    return chunk != nullptr ? chunk : __real_malloc(size);
}

void* __wrap_calloc(std::size_t n, std::size_t size) {
    // A chunk's size is one factor; no product of others is allocated for it.
    auto* const chunk = n == 1 ? chunks().take(size) : size == 1 ? chunks().take(n) : nullptr;
    return chunk != nullptr ? std::memset(chunk, 0, n * size) : __real_calloc(n, size);
}

void* __wrap_realloc(void* old, std::size_t size) {
    if (!chunks().owns(old)) {
        return __real_realloc(old, size);
    }
    auto* const moved = __real_malloc(size);
    if (moved != nullptr) {
        std::memcpy(moved, old, size < Chunks::kLargest ? size : Chunks::kLargest);
        chunks().give_back(old);
    }
    return moved;
}

void __wrap_free(void* memory) {
    if (chunks().owns(memory)) {
        chunks().give_back(memory);
    } else {
        __real_free(memory);
    }
}
// NOLINTEND(bugprone-reserved-identifier)
}
