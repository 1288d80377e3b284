#pragma once

/// Calibration: edges get the weights with which a replay gives back the measured times.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "replay/native/whatif/graph.hpp"

namespace logpost::replay {

inline constexpr std::int64_t kUnobserved = std::numeric_limits<std::int64_t>::min();
/// Of an edge that never binds; sums with times do not overflow.
inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min() / 4;

/// What a graph's nodes were, told by nodes that stood in another order.
class Recorded {
  public:
    /// `nodes`: by place in the graph. What is given must outlive this.
    Recorded(std::span<const std::int64_t> measured_ps, std::span<const std::uint8_t> fresh,
             std::span<const std::uint32_t> nodes)
        : measured_ps_(measured_ps), fresh_(fresh), nodes_(nodes) {}

    /// kUnobserved: the trace does not show it.
    [[nodiscard]] std::int64_t measured_ps(std::uint32_t place) const noexcept { return measured_ps_[nodes_[place]]; }
    /// Whether its edges keep the models' cost, and none takes a residual.
    [[nodiscard]] bool fresh(std::uint32_t place) const noexcept { return fresh_[nodes_[place]] != 0; }

  private:
    std::span<const std::int64_t> measured_ps_;
    std::span<const std::uint8_t> fresh_;
    std::span<const std::uint32_t> nodes_;
};

/// Whether an edge that weighs what its model costs orders anything: a queue at a server that is taken for no time
/// does not.
inline bool orders(const Graph& graph, const Edge& edge) noexcept {
    return edge.weight != 0 || !is_queue(graph.models[edge.model]);
}

/// The node's time. Its edges have the models' cost and get their weights: of what was measured, the binding one takes
/// the residual, and every other one at most what was measured. `time`: of the nodes before.
inline std::int64_t calibrate(Graph& graph, std::uint32_t node, const Recorded& recorded,
                              const std::vector<std::int64_t>& time) {
    const std::span here{graph.edges.data() + graph.first_edge[node], graph.edges.data() + graph.first_edge[node + 1]};
    const auto measured = recorded.measured_ps(node);
    if (here.front().source == kNone) {
        return measured;
    }
    std::int64_t latest = kUnobserved;
    const Edge* binding = nullptr;
    for (const auto& edge : here) {
        if (graph.models[edge.model].kind == EdgeModel::Kind::compute) {
            binding = &edge;  // no model says how long a program computes: all of the time is its
            latest = std::numeric_limits<std::int64_t>::max();
        } else if (orders(graph, edge) && time[edge.source] + edge.weight > latest) {
            latest = time[edge.source] + edge.weight;
            binding = &edge;
        }
    }
    if (measured == kUnobserved) {
        return latest;
    }
    if (recorded.fresh(node)) {
        return measured;
    }
    for (auto& edge : here) {
        const auto whole = measured - time[edge.source];
        edge.weight = &edge == binding ? whole : std::min(edge.weight, whole);
    }
    return measured;
}

}  // namespace logpost::replay
