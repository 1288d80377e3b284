#pragma once

/// Locations and ranks as types that do not convert into one another: with threads, rank 1 need not be location 1.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "replay/native/program/placement.hpp"

namespace logpost::replay {

/// Among all locations of the program; kUndefined: none.
enum class Location : std::int32_t {};
/// Among the members of one communicator.
enum class Rank : std::int32_t {};

/// The one way from a rank to its location. `members`: the location of each rank of a communicator.
[[nodiscard]] constexpr Location location_of(std::span<const std::int32_t> members, Rank rank) noexcept {
    const auto at = static_cast<std::uint32_t>(rank);
    return Location{at < members.size() ? members[at] : kUndefined};
}

/// The one way from a location to its rank; none: it is no member.
[[nodiscard]] constexpr std::optional<Rank> rank_of(std::span<const std::int32_t> members, Location location) noexcept {
    const auto value = static_cast<std::int32_t>(location);
    if (location_of(members, Rank{value}) == location && value != kUndefined) {
        return Rank{value};  // as in MPI_COMM_WORLD
    }
    const auto at = value == kUndefined ? members.end() : std::ranges::find(members, value);
    return at == members.end() ? std::nullopt : std::optional(Rank{static_cast<std::int32_t>(at - members.begin())});
}

/// Where a rank's own values are in a column by rank.
[[nodiscard]] constexpr std::size_t index(Rank rank) noexcept {
    return static_cast<std::uint32_t>(rank);
}

}  // namespace logpost::replay
