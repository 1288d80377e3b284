#pragma once

/// The network between the nodes of a program: which links a message takes, and how long a byte occupies one.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace logpost::replay {

/// Routes between the pairs of nodes that exchange messages. Default: no network is known.
struct Network {
    static constexpr std::size_t kNoPair = SIZE_MAX;

    std::vector<std::uint64_t> pairs;        // (from << 32) | to, nodes of the program; ascending
    std::size_t dimensions = 0;              // those along which the network has more than one node; 0: not a grid
    std::vector<std::int32_t> hops;          // by pair and dimension
    std::vector<std::uint32_t> route_begin;  // by pair: its first link in `route`; one more at the end
    std::vector<std::int32_t> route;         // links 0 .. links - 1, in the order in which they are taken
    std::int32_t links = 0;
    double byte_ps = 0;                  // how long a byte occupies a link,
    std::vector<double> narrow_byte_ps;  // by link, where they differ: other traffic leaves less, or of several cables
    std::vector<double> dimension_byte_ps;  // by dimension: the same for its links
    double channels = 2;                    // per dimension: 2 where the directions are apart

    [[nodiscard]] bool known() const noexcept { return !pairs.empty() && byte_ps > 0; }
    [[nodiscard]] std::size_t pair(std::int32_t from, std::int32_t to) const noexcept {
        if (from < 0 || to < 0) {
            return kNoPair;
        }
        const auto key = key_of(from, to);
        const auto at = std::ranges::lower_bound(pairs, key);
        return at == pairs.end() || *at != key ? kNoPair : static_cast<std::size_t>(at - pairs.begin());
    }
    [[nodiscard]] std::span<const std::int32_t> links_of(std::size_t pair) const noexcept {
        return {route.data() + route_begin[pair], route_begin[pair + 1] - route_begin[pair]};
    }
    [[nodiscard]] double byte_on(std::int32_t link) const noexcept {
        return narrow_byte_ps.empty() ? byte_ps : narrow_byte_ps[static_cast<std::size_t>(link)];
    }
    static constexpr std::uint64_t key_of(std::int32_t from, std::int32_t to) noexcept {
        return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(from)) << 32U) | static_cast<std::uint32_t>(to);
    }
};

/// Throws std::invalid_argument where the columns do not fit together.
void check(const Network& network);

}  // namespace logpost::replay
