#pragma once

/// What replays find of each lane: its path, and sums over its calls. The times of all nodes are kept of none but lanes
/// in which messages contend: a replay of slots keeps which of its edges each node follows from, in a byte.

#include <cstdint>
#include <span>
#include <vector>

#include "replay/native/graph/graph.hpp"
#include "replay/native/graph/replay.hpp"
#include "replay/native/program/program.hpp"
#include "replay/native/program/wide.hpp"

namespace logpost::replay {

struct LaneOutcome {
    CriticalPath path;
    std::vector<std::int64_t> ends_ps;     ///< by location; 0 of one that is not followed
    std::vector<WidePs> in_calls_ps;       ///< by callpath, over all locations
    std::vector<WidePs> between_calls_ps;  ///< likewise: before the calls
};

/// By lane, of a graph without crossings.
std::vector<LaneOutcome> outcomes(const Graph& graph, const Weights& weights, std::span<const Setting> settings);

/// Of one lane. `times`: by node; `sources` as sources_of.
LaneOutcome outcome_of(const Graph& graph, std::span<const std::uint32_t> sources, const Weights& weights,
                       std::span<const Setting> settings, std::span<const std::int64_t> times, std::size_t lane);

}  // namespace logpost::replay
