#pragma once

/// A replay: the times of all nodes of a graph, several weightings of its edges at once.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "replay/native/whatif/graph.hpp"

namespace logpost::replay {

/// t_v = max over the edges u -> v of (t_u + w), for the lanes from `first_lane` on of `times` (lane after lane for
/// each node). `relax(edge, source, latest)` adds what an edge brings to the lanes' latest times; `source` points at
/// those of the edge's source.
template <std::size_t Lanes, class Relax>
[[gnu::always_inline]] inline void pass(const std::vector<std::uint32_t>& first_edge, const std::vector<Edge>& edges,
                                        std::size_t lanes, std::size_t first_lane, std::vector<std::int64_t>& times,
                                        const Relax& relax) {
    const auto nodes = first_edge.size() - 1;
    const auto* edge = edges.data();
    for (std::size_t node = 0; node < nodes; ++node) {
        const auto* end = edges.data() + first_edge[node + 1];
        std::array<std::int64_t, Lanes> latest;
        latest.fill(INT64_MIN);
        for (; edge != end; ++edge) {
            if (edge->source == kNone) {
                latest.fill(edge->weight);
            } else {
                relax(*edge, times.data() + static_cast<std::size_t>(edge->source) * lanes + first_lane, latest);
            }
        }
        std::copy(latest.begin(), latest.end(), times.begin() + static_cast<std::ptrdiff_t>(node * lanes + first_lane));
    }
}

}  // namespace logpost::replay
