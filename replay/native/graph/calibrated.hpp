#pragma once

/// The last step of a build: from a draft and an order of its nodes to the calibrated graph.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "replay/native/graph/draft.hpp"

namespace logpost::replay {

/// The nodes that a trace shows.
struct Events {
    std::vector<std::vector<std::uint32_t>> enters,
        leaves;  ///< by [location][call]
    std::vector<std::uint32_t> begins,
        ends;  ///< by location; kNone: it is not followed
};

/// Edges that are there only as the program ran, or only as it would run: ranges of the draft's edges. And work that
/// is elsewhere as it would run: edges of computation, and their durations then (ps).
struct Exchanged {
    std::vector<std::pair<std::size_t, std::size_t>> only_recorded, only_planned;
    std::vector<std::pair<std::uint32_t, std::int64_t>> work;
};

/// The calls of a cycle: as many as one reads.
std::string calls_of(const Cycle& cycle, const Events& events);

/// The graph whose replay gives back every measured time. What is given is used up.
///
/// `nodes`: the draft's nodes in their order. `network`: that the program ran on, where contention is replayed.
Graph calibrated(Draft&& draft, HugeColumn<std::uint32_t>&& nodes, Events&& events, const Exchanged& exchanged,
                 const Program& program, const Network* network);

}  // namespace logpost::replay
