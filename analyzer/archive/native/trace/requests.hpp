#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace logpost::analyzer {

/// Pending nonblocking operations of one location: request id -> what it started. Open addressing with linear probing;
/// few requests are pending at once, so the table stays in the first-level cache.
class PendingRequests {
  public:
    enum class What : std::uint32_t { free, send, receive, collective };
    struct Entry {
        std::uint64_t id = 0;
        std::uint32_t index = 0;  // into the location's sends, receives or collectives
        What what = What::free;
    };

    PendingRequests() : slots_(64) {}

    /// False: the id was pending already; it now stands for the new operation.
    bool insert(std::uint64_t id, What what, std::uint32_t index) {
        auto slot = home(id);
        while (slots_[slot].what != What::free) {
            if (slots_[slot].id == id) {
                slots_[slot] = {id, index, what};
                return false;
            }
            slot = next(slot);
        }
        slots_[slot] = {id, index, what};
        if (++size_ * 2 > slots_.size()) {
            grow();
        }
        return true;
    }

    /// Removes and returns the operation; What::free: nothing is pending under this id.
    Entry take(std::uint64_t id) {
        auto slot = home(id);
        while (slots_[slot].what != What::free) {
            if (slots_[slot].id == id) {
                const auto found = slots_[slot];
                erase(slot);
                return found;
            }
            slot = next(slot);
        }
        return {};
    }

    /// Forgets all that is pending, and returns it.
    std::vector<Entry> clear() {
        std::vector<Entry> left;
        left.reserve(size_);
        if (size_ != 0) {
            std::ranges::copy_if(slots_, std::back_inserter(left), [](const Entry& e) { return e.what != What::free; });
        }
        if (size_ != 0 || slots_.size() > 4096) {
            slots_.assign(64, Entry{});
            size_ = 0;
        }
        return left;
    }

  private:
    [[nodiscard]] std::size_t home(std::uint64_t id) const noexcept {
        return static_cast<std::size_t>((id * 0x9E3779B97F4A7C15ULL) >> 32) & (slots_.size() - 1);
    }
    [[nodiscard]] std::size_t next(std::size_t slot) const noexcept { return (slot + 1) & (slots_.size() - 1); }

    // Moves later entries of the same run up, so that no tombstones are needed.
    void erase(std::size_t hole) {
        for (auto slot = next(hole); slots_[slot].what != What::free; slot = next(slot)) {
            const auto want = home(slots_[slot].id);
            const auto mask = slots_.size() - 1;
            if (((slot - want) & mask) >= ((slot - hole) & mask)) {
                slots_[hole] = slots_[slot];
                hole = slot;
            }
        }
        slots_[hole].what = What::free;
        --size_;
    }

    void grow() {
        std::vector<Entry> old(slots_.size() * 2);
        old.swap(slots_);
        for (const auto& entry : old) {
            if (entry.what != What::free) {
                auto slot = home(entry.id);
                while (slots_[slot].what != What::free) {
                    slot = next(slot);
                }
                slots_[slot] = entry;
            }
        }
    }

    std::vector<Entry> slots_;
    std::size_t size_ = 0;
};

}  // namespace logpost::analyzer
