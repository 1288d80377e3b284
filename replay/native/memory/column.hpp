#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "replay/native/memory/gallop.hpp"

namespace logpost::replay {

/// An append-only column that never moves what it holds.
///
/// Growing a std::vector copies, and holds old and new at once; first touch of fresh pages costs more than
/// decoding. Chunk k holds kFirst << k elements, so a location with ten calls costs a few hundred bytes, one with
/// ten million wastes at most half of its last chunk's untouched pages, and element i is found by one
/// count-leading-zeros.
template <class T>
class Column {
    static_assert(std::is_trivially_copyable_v<T>, "chunks come from malloc");

  public:
    static constexpr std::size_t kFirst = 16;
    static constexpr unsigned kFirstBits = 4;
    static constexpr unsigned kChunks = 29;  // kFirst << 28 elements in the last one: past any 32-bit index

    Column() = default;
    Column(Column&& other) noexcept { swap(other); }
    Column& operator=(Column&& other) noexcept {
        Column taken(std::move(other));
        swap(taken);
        return *this;
    }
    Column(const Column&) = delete;
    Column& operator=(const Column&) = delete;
    ~Column() { clear(); }

    void swap(Column& other) noexcept {
        chunks_.swap(other.chunks_);
        std::swap(kept_elsewhere_, other.kept_elsewhere_);
        std::swap(size_, other.size_);
        std::swap(used_chunks_, other.used_chunks_);
        std::swap(trimmed_, other.trimmed_);
        std::swap(tail_, other.tail_);
        std::swap(tail_end_, other.tail_end_);
    }

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
        const auto top = static_cast<unsigned>(std::bit_width(shifted | kFirst)) - 1U;
        return chunks_[top - kFirstBits][shifted - (std::size_t{1} << top)];
    }

    T& back() noexcept { return tail_[-1]; }

    /// Index of the first element for which `before` does not hold; size() if it holds for all. The elements for which
    /// it holds precede all others.
    template <class Before>
    [[nodiscard]] std::size_t partition_point(Before&& before) const noexcept {
        std::size_t low = 0;
        std::size_t high = size_;
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            if (before((*this)[middle])) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /// The same, fast where that element is near `hint`: gallops from there, whichever way.
    template <class Before>
    [[nodiscard]] std::size_t partition_point_near(std::size_t hint, Before&& before) const noexcept {
        return replay::partition_point_near(0, size_, hint, [&](std::size_t i) { return before((*this)[i]); });
    }

    /// Forgets the elements from `n` on (n <= size()), and frees the chunks that none of the others needs.
    void truncate(std::size_t n) {
        assert(n <= size_);
        if (n == size_) {
            return;
        }
        if (trimmed_) {
            untrim();
        }
        if (n == 0) {
            clear();
            return;
        }
        const auto last = n - 1 + kFirst;
        const auto chunk = static_cast<unsigned>(std::bit_width(last)) - 1U - kFirstBits;
        for (unsigned k = chunk + 1; k < used_chunks_; ++k) {
            chunks_[k].reset();
        }
        used_chunks_ = chunk + 1;
        size_ = n;
        tail_ = chunks_[chunk].get() + (last - std::bit_floor(last)) + 1;
        tail_end_ = chunks_[chunk].get() + (kFirst << chunk);
    }

    /// Calls `visit(index, element)` for every element in order, chunk by chunk (faster than operator[]).
    template <class Visit>
    void for_each(Visit&& visit) {
        std::size_t i = 0;
        for (unsigned k = 0; k < used_chunks_; ++k) {
            T* chunk = chunks_[k].get();
            const std::size_t n = std::min(kFirst << k, size_ - i);
            for (std::size_t j = 0; j < n; ++j, ++i) {
                visit(i, chunk[j]);
            }
        }
    }
    template <class Visit>
    void for_each(Visit&& visit) const {
        std::size_t i = 0;
        for (unsigned k = 0; k < used_chunks_; ++k) {
            const T* chunk = chunks_[k].get();
            const std::size_t n = std::min(kFirst << k, size_ - i);
            for (std::size_t j = 0; j < n; ++j, ++i) {
                visit(i, chunk[j]);
            }
        }
    }

    /// Calls `visit(first, n)` for the pieces of memory that hold the elements, in order.
    template <class Visit>
    void for_each_piece(Visit&& visit) const {
        std::size_t i = 0;
        for (unsigned k = 0; k < used_chunks_; ++k) {
            const std::size_t n = std::min(kFirst << k, size_ - i);
            visit(static_cast<const T*>(chunks_[k].get()), n);
            i += n;
        }
    }

    /// Whether its elements are where `place_at` said, one behind the other.
    [[nodiscard]] bool is_placed() const noexcept { return kept_elsewhere_; }
    /// Frees the memory of the elements. The column's are from then on the `n` at `elements`, one behind the other, in
    /// memory that stays the caller's and must outlive it.
    void place_at(T* elements, std::size_t n) noexcept {
        clear();
        if (n == 0) {
            return;
        }
        while ((kFirst << used_chunks_) - kFirst < n) {
            chunks_[used_chunks_].reset(elements + ((kFirst << used_chunks_) - kFirst));
            ++used_chunks_;
        }
        size_ = n;
        tail_ = tail_end_ = elements + n;
        trimmed_ = kept_elsewhere_ = true;
    }

    /// Frees every element; the column is empty and usable afterwards.
    void clear() noexcept {
        for (auto& chunk : chunks_) {
            if (kept_elsewhere_) {
                static_cast<void>(chunk.release());
            }
            chunk.reset();
        }
        trimmed_ = kept_elsewhere_ = false;
        size_ = 0;
        used_chunks_ = 0;
        tail_ = tail_end_ = nullptr;
    }

    /// Gives back what the last chunk holds beyond size(), in place: the next column takes it, pages touched and all.
    /// For complete columns: a later push_back may move that chunk.
    void trim() noexcept {
        if (tail_ != tail_end_) {
            auto& chunk = chunks_[used_chunks_ - 1];
            const auto n = static_cast<std::size_t>(tail_ - chunk.get());
            if (void* smaller =
                    std::realloc(static_cast<void*>(chunk.get()), std::max<std::size_t>(n, 1) * sizeof(T))) {
                static_cast<void>(chunk.release());
                chunk.reset(static_cast<T*>(smaller));
            }
            tail_ = tail_end_ = chunk.get() + n;
            trimmed_ = true;
        }
    }

    [[nodiscard]] std::size_t bytes() const noexcept {
        return trimmed_ ? size_ * sizeof(T) : ((kFirst << used_chunks_) - kFirst) * sizeof(T);
    }

  private:
    struct Free {
        void operator()(T* chunk) const noexcept { std::free(static_cast<void*>(chunk)); }
    };
    using Chunk = std::unique_ptr<T[], Free>;

    void add_chunk() {
        if (trimmed_) {
            untrim();
            return;
        }
        const std::size_t n = kFirst << used_chunks_;
        chunks_[used_chunks_].reset(static_cast<T*>(std::malloc(n * sizeof(T))));
        if (chunks_[used_chunks_] == nullptr) {
            throw std::bad_alloc();
        }
        tail_ = chunks_[used_chunks_].get();
        tail_end_ = tail_ + n;
        ++used_chunks_;
    }

    void untrim() {
        if (kept_elsewhere_) {
            Column own;
            for_each([&](std::size_t, const T& element) { own.push_back(element); });
            swap(own);
            if (tail_ == tail_end_) {
                add_chunk();
            }
            return;
        }
        auto& chunk = chunks_[used_chunks_ - 1];
        const std::size_t n = kFirst << (used_chunks_ - 1);
        const auto held = static_cast<std::size_t>(tail_ - chunk.get());
        void* bigger = std::realloc(static_cast<void*>(chunk.get()), n * sizeof(T));
        if (bigger == nullptr) {
            throw std::bad_alloc();
        }
        static_cast<void>(chunk.release());
        chunk.reset(static_cast<T*>(bigger));
        tail_ = chunk.get() + held;
        tail_end_ = chunk.get() + n;
        trimmed_ = false;
    }

    std::array<Chunk, kChunks> chunks_{};
    std::size_t size_ = 0;
    unsigned used_chunks_ = 0;
    bool trimmed_ = false;
    bool kept_elsewhere_ = false;  // the chunks are not this column's to free
    T* tail_ = nullptr;
    T* tail_end_ = nullptr;
};

}  // namespace logpost::replay
