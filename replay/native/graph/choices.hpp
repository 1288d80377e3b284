#pragma once

/// Calls that take what arrives first (Waitany), and what a program does then.
///
/// A row is a stretch of a location's calls between two that wait for something else. In it, each Waitany and all calls
/// up to the next one answer the one request that it completed: on another machine requests complete in another order,
/// and so the replies arrive in that order. The last one of a row keeps its place, since what follows it is not its
/// answer alone.
///
/// Which calls are Waitanys no kind says: those of a region whose calls complete no more than one request each.

#include <cstdint>
#include <span>
#include <vector>

#include "replay/native/graph/graph.hpp"
#include "replay/native/program/program.hpp"

namespace logpost::replay {

struct Choice {
    std::uint32_t enter, leave;  ///< nodes of the call
    std::uint32_t into;          ///< arc: from the call before it
    std::uint32_t first_begun;   ///< so many choices of the row precede its request is started
    bool receives = false;       ///< else it completes a send
    std::int32_t comm = kUndefined;
    std::uint32_t posted = kNone;    ///< node: the receive is posted
    std::uint32_t arrival = kNone;   ///< node: its message's first byte has arrived
    std::uint32_t post_arc = kNone;  ///< arc: from the post to what waits for the match; kNone: nothing does
};

struct Row {
    std::uint32_t first, end;  ///< of the choices, in recorded order
};

struct Choices {
    std::vector<Choice> all;
    std::vector<Row> rows;
};

/// Whether a program has calls that take what arrives first.
[[nodiscard]] bool chooses(const Program& program);

/// The rows of a program's graph. `sources`: as sources_of.
[[nodiscard]] Choices choices_of(const Program& program, const Graph& graph, std::span<const std::uint32_t> sources);

}  // namespace logpost::replay
