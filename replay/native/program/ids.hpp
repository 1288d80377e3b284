#pragma once

/// Locations and ranks as types that do not convert into one another: with threads, rank 1 need not be location 1.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace logpost::replay {

/// The id of none.
inline constexpr std::int32_t kUndefined = -1;

/// Among all locations of the program.
enum class Location : std::int32_t {};
/// Among the members of one communicator, of an inter-communicator those of the first group before the second's.
enum class Rank : std::int32_t {};
inline constexpr Location kNoLocation{kUndefined};
inline constexpr Rank kNoRank{kUndefined};

/// Where an id's own values are in a column by location, or by rank.
[[nodiscard]] constexpr std::size_t index(Location location) noexcept {
    return static_cast<std::uint32_t>(location);
}
[[nodiscard]] constexpr std::size_t index(Rank rank) noexcept {
    return static_cast<std::uint32_t>(rank);
}
/// The number of an id, as tables have it.
[[nodiscard]] constexpr std::int32_t number(Location location) noexcept {
    return static_cast<std::int32_t>(location);
}
[[nodiscard]] constexpr std::int32_t number(Rank rank) noexcept {
    return static_cast<std::int32_t>(rank);
}
/// The id of a place in a column by location, or by rank.
[[nodiscard]] constexpr Location location_at(std::size_t place) noexcept {
    return Location{static_cast<std::int32_t>(place)};
}
[[nodiscard]] constexpr Rank rank_at(std::size_t place) noexcept {
    return Rank{static_cast<std::int32_t>(place)};
}

/// The one way from a rank to its location. `members`: the location of each rank of a communicator.
[[nodiscard]] constexpr Location location_of(std::span<const Location> members, Rank rank) noexcept {
    return index(rank) < members.size() ? members[index(rank)] : kNoLocation;
}

/// The one way from a location to its rank; none: it is no member.
[[nodiscard]] constexpr std::optional<Rank> rank_of(std::span<const Location> members, Location location) noexcept {
    if (location == kNoLocation) {
        return std::nullopt;
    }
    if (const Rank same{number(location)}; location_of(members, same) == location) {
        return same;  // as in MPI_COMM_WORLD
    }
    const auto at = std::ranges::find(members, location);
    return at == members.end() ? std::nullopt : std::optional(rank_at(static_cast<std::size_t>(at - members.begin())));
}

}  // namespace logpost::replay
