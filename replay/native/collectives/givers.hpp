#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace logpost::replay {

/// The members that give something to an exchange in which members may skip others (Alltoallv), the earliest first.
///
/// A member that left before a giver entered got nothing from it, unless the earlier givers gave less than it got.
template <class Member>
class Givers {
  public:
    void add(std::int64_t begin_ps, std::uint64_t bytes, const Member& member) {
        all_.push_back({begin_ps, bytes, 0, member});
    }
    /// Once all are added, and before any question.
    void sort() {
        std::ranges::sort(all_, {}, &Giver::begin_ps);
        for (std::size_t i = 1; i < all_.size(); ++i) {
            const auto& before = all_[i - 1];
            const auto room = std::numeric_limits<std::uint64_t>::max() - before.given_before;
            all_[i].given_before = before.given_before + std::min(before.bytes, room);
        }
    }
    /// The place of the last giver that a member may have needed that got so many bytes and ended then; `size()`: there
    /// is none.
    [[nodiscard]] std::size_t last_needed(std::int64_t end_ps, std::uint64_t got) const noexcept {
        const auto late = std::ranges::upper_bound(all_, end_ps, {}, &Giver::begin_ps);
        const auto beyond = std::max(late, std::ranges::lower_bound(all_, got, {}, &Giver::given_before));
        return beyond == all_.begin() ? all_.size() : static_cast<std::size_t>(beyond - all_.begin()) - 1;
    }
    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
    [[nodiscard]] const Member& operator[](std::size_t place) const noexcept { return all_[place].member; }

  private:
    struct Giver {
        std::int64_t begin_ps;
        std::uint64_t bytes;
        std::uint64_t given_before;  // by all that are earlier
        Member member;
    };
    std::vector<Giver> all_;
};

}  // namespace logpost::replay
