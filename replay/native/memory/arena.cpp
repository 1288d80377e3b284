#include "replay/native/memory/arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "replay/native/memory/pages.hpp"

namespace logpost::replay {
namespace {

constexpr std::size_t kFirst = std::size_t{4} << 10U;   // bytes of a block: as many as all before it,
constexpr std::size_t kMost = std::size_t{4} << 20U;    // but no more than this, unless one array needs it
constexpr std::size_t kFiled = std::size_t{16} << 20U;  // of a block in the file, which costs nothing until it is used

/// In huge pages where the block fills them and the system grants them: the first touch of 4 KiB pages would cost as
/// much as filling them.
std::byte* block_of(std::size_t bytes) {
    const bool huge = bytes >= kHugePage;
    void* memory =
        huge ? std::aligned_alloc(kHugePage, rounded_up(bytes, kHugePage)) : std::aligned_alloc(kCacheLine, bytes);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    if (huge) {
        madvise(memory, rounded_up(bytes, kHugePage),
                MADV_HUGEPAGE);  // advice: where it is refused, small pages do as well
    }
    return static_cast<std::byte*>(memory);
}

}  // namespace

Arena::Place Arena::place(std::size_t bytes) {
    bytes = rounded_up(bytes, kCacheLine);
    const std::scoped_lock lock(mutex_);
    if (blocks_.empty() || blocks_.back().bytes - blocks_.back().used < bytes) {
        const auto size = std::max(bytes, std::clamp(taken_ / kCacheLine * kCacheLine, kFirst, kMost));
        blocks_.reserve(blocks_.size() + 1);
        if (spill_ != nullptr && spill_->wants(size)) {
            const auto filed = std::max(bytes, kFiled);
            blocks_.push_back({static_cast<std::byte*>(spill_->take(filed)), filed, 0, true});
        } else {
            blocks_.push_back({block_of(size), size, 0, false});
        }
        taken_ += size;
    }
    auto& block = blocks_.back();
    auto* memory = block.memory + block.used;
    block.used += bytes;
    return {memory, block.in_file};
}

std::byte* Arena::filled(const void* values, std::size_t bytes) {
    const auto [memory, in_file] = place(bytes);
    if (in_file) {
        spill_->write(memory, values, bytes);
    } else {
        std::memcpy(memory, values, bytes);
    }
    return memory;
}

void Arena::clear() noexcept {
    for (const auto& block : blocks_) {
        if (block.in_file) {
            spill_->give_back(block.memory);
        } else {
            std::free(block.memory);
        }
    }
    blocks_.clear();
    taken_ = 0;
}

}  // namespace logpost::replay
