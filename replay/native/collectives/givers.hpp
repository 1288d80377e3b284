#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace logpost::replay {

/// Those who give something to an exchange in which members may skip others (Alltoallv), the earliest first.
///
/// A member that left before a giver came got nothing from it, unless those who had come gave less than it got.
template <class Member>
class Givers {
  public:
    void add(std::int64_t begin_ps, std::uint64_t bytes, const Member& member) {
        all_.push_back({begin_ps, bytes, member});
    }
    void sort() { std::ranges::sort(all_, {}, &Giver::begin_ps); }
    /// The place of the last giver whom a member may have needed that got so many bytes and ended then; `size()`: there
    /// is none.
    [[nodiscard]] std::size_t last_needed(std::int64_t end_ps, std::uint64_t got) const noexcept {
        std::uint64_t given = 0;
        std::size_t count = 0;
        while (count < all_.size() && (all_[count].begin_ps <= end_ps || given < got)) {
            given += all_[count++].bytes;
        }
        return count == 0 ? all_.size() : count - 1;
    }
    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
    [[nodiscard]] const Member& operator[](std::size_t place) const noexcept { return all_[place].member; }

  private:
    struct Giver {
        std::int64_t begin_ps;
        std::uint64_t bytes;
        Member member;
    };
    std::vector<Giver> all_;
};

}  // namespace logpost::replay
