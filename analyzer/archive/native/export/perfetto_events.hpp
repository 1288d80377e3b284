#pragma once

/// Events of one track of a Perfetto trace, as the bytes of its packets: slices with their arguments and arrows, and
/// counters. Field numbers are those of Perfetto's protos/perfetto/trace.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace logpost::analyzer {

/// Where events belong.
struct PerfettoTrack {
    std::uint64_t uuid = 0;
    /// Of the writer whose state, the interned names, the packets need.
    std::uint32_t sequence = 0;
};

/// Arrows at one end of each slice: those of slice i are id[begin[i]] to id[end[i]], without it; none if begin is not
/// before end.
struct PerfettoFlows {
    std::span<const std::int64_t> begin;
    std::span<const std::int64_t> end;
    std::span<const std::int64_t> id;
};

/// Slices of a track in the order of time; one row each.
struct PerfettoSlices {
    std::span<const std::int64_t> enter_ns;
    std::span<const std::int64_t> leave_ns;
    /// Interned ids.
    std::span<const std::int64_t> name;
    /// Rows of `arguments` values each, in ps; 0: is not written. Argument k has the interned id k + 2, as has the
    /// category of a slice whose longest one it is; a slice without any has category 1.
    std::span<const std::int64_t> exposed_ps;
    std::size_t arguments = 0;
    PerfettoFlows begun;
    PerfettoFlows ended;
};

/// A begin and an end per slice.
std::string perfetto_slices(const PerfettoTrack& track, const PerfettoSlices& slices);

/// A counter's values, each from its time on.
std::string perfetto_counter(const PerfettoTrack& track, std::span<const std::int64_t> at_ns,
                             std::span<const std::int64_t> values);

}  // namespace logpost::analyzer
