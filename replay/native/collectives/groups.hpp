#pragma once

/// The members of an inter-communicator, numbered for its algorithms: the leader of each group, then the others of the
/// group of the root (of the first one where there is no root), then those of the other group.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace logpost::replay {

struct Groups {
    std::array<std::uint32_t, 2> size;

    /// A group's `index`-th member, its leader first.
    [[nodiscard]] constexpr std::uint32_t number(std::size_t group, std::uint32_t index) const noexcept {
        if (index == 0) {
            return static_cast<std::uint32_t>(group);
        }
        return group == 0 ? index + 1 : size[0] + index;
    }

    [[nodiscard]] constexpr std::size_t group_of(std::uint32_t member) const noexcept {
        return member < 2 ? member : member > size[0] ? 1 : 0;
    }
    /// The inverse of `number`.
    [[nodiscard]] constexpr std::uint32_t index_of(std::uint32_t member) const noexcept {
        if (member < 2) {
            return 0;
        }
        return group_of(member) == 0 ? member - 1 : member - size[0];
    }

    /// `visit(member of the first, member of the other)`, every pair once: in each round no member twice.
    template <class Visit>
    void visit_pairs(Visit&& visit) const {
        const auto most = std::max(size[0], size[1]);
        for (std::uint32_t round = 0; round < most; ++round) {
            for (std::uint32_t i = 0; i < size[0]; ++i) {
                const auto there = (i + round) % most;
                if (there < size[1]) {
                    visit(number(0, i), number(1, there));
                }
            }
        }
    }
};

}  // namespace logpost::replay
