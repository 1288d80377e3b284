#pragma once

/// The critical path of the execution as it was recorded: the chain of activities that its length consists of.

#include <cstdint>
#include <vector>

#include "replay/native/program/program.hpp"
#include "replay/native/waits/waits.hpp"

namespace logpost::replay {

/// The path on one location. It arrives here by the wait of another location, that this one's call ended, or by the end
/// of the execution.
struct PathStretch {
    std::int64_t begin_ps;
    std::int64_t end_ps;
    Location location;   ///< kNoLocation: none of the path's locations had begun
    std::uint32_t call;  ///< the call whose wait ended at `begin_ps`; kNone: the path begins here
    WaitKind kind;       ///< of that wait
};

/// From the earliest to the latest event of the accounted locations, without a gap, in the order of time.
///
/// Backwards from the latest event: the path stays on a location until the end of its previous wait, and continues with
/// the location that ended it, at the same instant. Time in which the path's location waited is never on the path, so
/// the lengths add up to the length of the execution exactly.
std::vector<PathStretch> recorded_path(const Program& program, const Waits& waits);

}  // namespace logpost::replay
