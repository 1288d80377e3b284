#pragma once

/// What a recorded program would take without a cause: a hypothesis, as data, and its replay.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "replay/native/graph/recorded.hpp"

namespace logpost::replay {

/// What is different from the run; an empty column: nothing.
struct Hypothesis {
    // By call.
    std::span<const std::int64_t> gap_ps = {};   ///< code before it, instead of what was measured
    std::span<const std::int64_t> work_ps = {};  ///< what it does itself, likewise
    std::span<const double> share = {};  ///< of its work, and of what it takes from its own begin to a message's end
    std::span<const std::uint8_t> freed = {};  ///< 1: waits for nobody
    std::span<const std::int32_t> later = {};  ///< the later call of its location that waits instead of it, behind its
                                               ///< own work; -1: itself
    std::span<const std::int64_t> member_ps = {};  ///< the lag of its waits for members of an operation at most
    std::span<const std::int64_t> stay_ps = {};    ///< what a call takes at least, waiting included
    /// An earlier call of its location, behind which those who wait for its enter need not wait any more, though it
    /// stays where it is; -1: itself, -2: nobody waits for it. What else they wait for, and how long, is the same.
    std::span<const std::int32_t> earlier = {};
    // By message.
    std::span<const std::int64_t> less_ps = {};  ///< taken off the lag of every wait for it
    std::span<const std::int64_t> most_ps = {};  ///< that lag at most
    /// The node (twice a call for its enter, one more for its leave) that its receiver waits for instead of its send,
    /// and then for `lag_ps`, and nobody waits for this message else; -1: as it was.
    std::span<const std::int32_t> instead = {};
    std::span<const std::int64_t> lag_ps = {};
    std::uint32_t dropped = 0;              ///< a bit per Reason: nobody waits for that
    std::span<const std::uint8_t> of = {};  ///< by message: 1: one of those for which that is so; empty: all
};

/// What a stretch of the critical path is.
enum class OnPath : std::uint8_t {
    code,  ///< before a call
    work,  ///< what a call does itself
    wait,  ///< on its way from another call: a message, or members that meet
};
inline constexpr std::array<std::string_view, 3> kOnPathNames{"code", "work", "wait"};

/// Longest dependency from a location's begin to the program's end, first stretch first; they follow each other without
/// a gap.
struct ReplayedStretch {
    std::uint32_t call;  ///< where it ends
    OnPath what;
    std::int64_t begin_ps, end_ps;
};

struct HypothesisOutcome {
    std::int64_t length_ps = 0;                    ///< from the program's begin to the end of its last call
    std::vector<std::int64_t> enter_ps, leave_ps;  ///< by call
    std::vector<std::int64_t> waited_ps;           ///< by call: its time that is no work
    std::vector<ReplayedStretch> path;             ///< where it is asked for
};

/// One pass through the graph, and, `with_path`, the way back along what came last. Throws std::invalid_argument where
/// a column does not fit.
HypothesisOutcome replay(const RecordedGraph& graph, const Hypothesis& hypothesis, std::size_t messages,
                         bool with_path = false);

}  // namespace logpost::replay
