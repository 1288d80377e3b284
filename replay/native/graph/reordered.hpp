#pragma once

/// Messages that arrive at a NIC, and requests that complete, in another order than they did.
///
/// A graph has its NICs take messages in recorded order. Where ranks share a NIC and each is independent, that order
/// ties them together: on a slower network a message would wait for one of another rank that was recorded before it and
/// now arrives long after it. A NIC serves the first to arrive. So the program is replayed once in the order of time,
/// in which a NIC takes messages as they arrive, and the graph is given the order that was found: it is a graph like
/// every other one, with a critical path, lanes and tangents.
///
/// Likewise a rank that waits for the first request to complete (choices.hpp), and messages that arrive at receives of
/// any sender, the first of which takes the receive that was posted first. That receives name no sender the trace does
/// not say; it is taken for true of a row unless a message arrived before another one whose receive had been posted
/// before its own. Where contention is replayed, that finds the order at NICs, too, and the order of requests is
/// that of messages which wait on the way as they did, or as they do elsewhere (`waits`).
///
/// What was recorded stays believed: a message that arrived after another one although the model has it sooner on the
/// recorded machine, arrives so much later on the planned one as well. An unchanged machine changes no order.

#include <cstdint>
#include <optional>
#include <span>

#include "replay/native/graph/graph.hpp"
#include "replay/native/graph/replay.hpp"

namespace logpost::replay {

/// The graph with the order that a setting makes; none where that is the graph's own. `machine` is the one that the
/// graph was built on. `as_recorded`: the graph gives back the recorded times on it; else none is believed.
/// `waits`: by crossing, what messages wait in flight on the planned machine; empty: what they waited.
[[nodiscard]] std::optional<Graph> reordered(const Program& program, const Graph& graph, const Parameters& machine,
                                             const Setting& setting, bool as_recorded = true,
                                             std::span<const Delay> waits = {});

}  // namespace logpost::replay
