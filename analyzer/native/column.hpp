#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace logpost::analyzer {

/// An append-only column that never moves what it holds.
///
/// Growing a std::vector copies, and holds old and new at once; first touch of fresh pages costs more than
/// decoding. Chunk k holds kFirst << k elements, so a location with ten calls costs a few hundred bytes, one with
/// ten million wastes at most half of its last chunk's untouched pages, and element i is found by one
/// count-leading-zeros.
template <class T>
class Column {
  public:
    static constexpr std::size_t kFirst = 16;
    static constexpr unsigned kFirstBits = 4;
    static constexpr unsigned kChunks = 40;

    Column() = default;
    Column(Column&&) noexcept = default;
    Column& operator=(Column&&) noexcept = default;
    Column(const Column&) = delete;
    Column& operator=(const Column&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

    T& push_back(const T& value) {
        if (tail_ == tail_end_) {
            add_chunk();
        }
        *tail_ = value;
        ++size_;
        return *tail_++;
    }

    T& operator[](std::size_t i) noexcept { return const_cast<T&>(std::as_const(*this)[i]); }
    const T& operator[](std::size_t i) const noexcept {
        assert(i < size_);
        const auto shifted = i + kFirst;
        const auto top = static_cast<unsigned>(std::bit_width(shifted)) - 1U;
        return chunks_[top - kFirstBits][shifted - (std::size_t{1} << top)];
    }

    T& back() noexcept { return tail_[-1]; }

    /// Frees every element; the column is empty and usable afterwards.
    void clear() noexcept {
        for (auto& chunk : chunks_) {
            chunk.reset();
        }
        size_ = 0;
        used_chunks_ = 0;
        tail_ = tail_end_ = nullptr;
    }

    [[nodiscard]] std::size_t bytes() const noexcept {
        return used_chunks_ == 0 ? 0 : ((kFirst << used_chunks_) - kFirst) * sizeof(T);
    }

  private:
    void add_chunk() {
        const std::size_t n = kFirst << used_chunks_;
        chunks_[used_chunks_] = std::make_unique_for_overwrite<T[]>(n);
        tail_ = chunks_[used_chunks_].get();
        tail_end_ = tail_ + n;
        ++used_chunks_;
    }

    std::array<std::unique_ptr<T[]>, kChunks> chunks_{};
    std::size_t size_ = 0;
    unsigned used_chunks_ = 0;
    T* tail_ = nullptr;
    T* tail_end_ = nullptr;
};

}  // namespace logpost::analyzer
