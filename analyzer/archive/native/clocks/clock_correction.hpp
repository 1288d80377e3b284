#pragma once

#include <cstddef>
#include <cstdint>

#include "analyzer/archive/native/clocks/logical_clock.hpp"

namespace logpost::analyzer {

/// How far the times of events are corrected.
enum class ClockMode : std::uint8_t {
    none,     // as recorded
    offsets,  // by the archive's own clock offsets
    clc,      // then by the controlled logical clock, where messages or collectives contradict the order of time
};

/// What the reader does to the times of events.
struct ClockCorrection {
    bool offsets = true;                    // applies the archive's own
    const LogicalClock* logical = nullptr;  // applied after them, to picoseconds from the clock's zero; nullptr: none

    [[nodiscard]] const TimeMap* map(std::size_t location) const noexcept {
        return logical != nullptr ? &logical->maps[logical->map_of[location]] : nullptr;
    }
};

}  // namespace logpost::analyzer
