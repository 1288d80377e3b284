#include "replay/native/memory/shelf.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "replay/native/memory/cache_line.hpp"

namespace logpost::replay {
namespace {

constexpr std::size_t kFirst = std::size_t{4} << 10U;   // bytes of a block: as many as all before it,
constexpr std::size_t kMost = std::size_t{4} << 20U;    // but no more than this, unless one array needs it
constexpr std::size_t kFiled = std::size_t{16} << 20U;  // of a block in the file, which costs nothing until it is used

}  // namespace

Shelf::Place Shelf::place(std::size_t bytes) {
    bytes = (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
    const std::scoped_lock lock(mutex_);
    if (blocks_.empty() || blocks_.back().bytes - blocks_.back().used < bytes) {
        const auto size = std::max(bytes, std::clamp(taken_ / kCacheLine * kCacheLine, kFirst, kMost));
        blocks_.reserve(blocks_.size() + 1);
        if (spill_ != nullptr && spill_->wants(size)) {
            const auto filed = std::max(bytes, kFiled);
            blocks_.push_back({static_cast<std::byte*>(spill_->take(filed)), filed, 0, true});
        } else {
            auto* memory = static_cast<std::byte*>(std::aligned_alloc(kCacheLine, size));
            if (memory == nullptr) {
                throw std::bad_alloc();
            }
            blocks_.push_back({memory, size, 0, false});
        }
        taken_ += size;
    }
    auto& block = blocks_.back();
    auto* memory = block.memory + block.used;
    block.used += bytes;
    return {memory, block.in_file};
}

std::byte* Shelf::filled(const void* values, std::size_t bytes) {
    const auto [memory, in_file] = place(bytes);
    if (in_file) {
        spill_->write(memory, values, bytes);
    } else {
        std::memcpy(memory, values, bytes);
    }
    return memory;
}

void Shelf::clear() noexcept {
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
