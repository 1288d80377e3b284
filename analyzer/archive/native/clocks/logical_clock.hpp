#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/archive/native/clocks/time_map.hpp"
#include "replay/native/program/program.hpp"

namespace logpost::analyzer {

/// What the controlled logical clock changes, and how much.
struct LogicalClock {
    std::vector<TimeMap> maps;           // by process
    std::vector<std::uint32_t> map_of;   // by location
    std::int64_t largest_ps = 0;         // the largest correction of any recorded time
    std::uint64_t processes = 0;         // whose times change
    std::uint64_t unordered = 0;         // instants left as they were: the records wait for each other in a circle
    std::int64_t least_transit_ps[2]{};  // least duration of a corrected message: between processes of a node, of two

    /// True if no time changes.
    [[nodiscard]] bool identity() const noexcept { return processes == 0; }
};

/// Corrects the clocks of a program in which messages are received before they were sent, or collectives left before a
/// member that they wait for arrived (controlled logical clock: Rabenseifner 1997; Becker, Rabenseifner, Wolf, ParCo
/// 2007).
///
/// An effect is moved behind its cause, by as little as needed. After the move the process's clock runs 1 % slow until
/// it is back at what was recorded (forward amortization); before it, it runs 1 % fast (backward amortization), as far
/// as that moves no send behind its receive; there, the rest of the move falls to one interval. No time becomes
/// earlier, and every other interval changes by at most 1 %.
///
/// A corrected message lasts at least half of the quickest pair's round trip, within a
/// node or between nodes; a message that was quicker, but was not received before it was sent, keeps its duration.
/// `begin_ps`: what is added to the program's times in the maps.
LogicalClock logical_clock(const replay::Program& program, std::int64_t begin_ps = 0);

}  // namespace logpost::analyzer
