#include "replay/native/graph/sync_points.hpp"

#include <utility>

namespace logpost::replay {
namespace {

/// Whether a node is only ever later than its one source by what that edge weighs.
bool follows(const Graph& graph, std::uint32_t node) {
    const auto i = graph.first_edge[node];
    if (graph.first_edge[node + 1] - i != 1) {
        return false;
    }
    return graph.arcs[i].source < node && graph.crossing_of[i] == kNone && !is_queue(graph.models[graph.model_of(i)]);
}

}  // namespace

std::size_t SyncPoints::bytes() const noexcept {
    const auto numbers = of_node.size() + nodes.size() + first_in.size() + followers.numbers() + queues.size();
    return numbers * sizeof(std::uint32_t) + ins.size() * sizeof(In);
}

SyncPoints sync_points_of(const Graph& graph) {
    SyncPoints found;
    const auto nodes = static_cast<std::uint32_t>(graph.nodes());
    found.of_node.resize(nodes);
    for (std::uint32_t node = 0; node < nodes; ++node) {
        if (follows(graph, node)) {
            found.of_node[node] = found.of_node[graph.arcs[graph.first_edge[node]].source];
        } else {
            found.of_node[node] = static_cast<std::uint32_t>(found.nodes.size());
            found.nodes.push_back(node);
        }
    }
    found.first_in.reserve(found.size() + 1);
    for (std::uint32_t point = 0; point < found.size(); ++point) {
        const auto node = found.nodes[point];
        found.first_in.push_back(static_cast<std::uint32_t>(found.ins.size()));
        for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
            const auto edge = graph.edge(i);
            const auto source = edge.source == kNone ? kNone : found.of_node[edge.source];
            if (source != kNone && is_queue(graph.models[edge.model])) {
                found.queues.push_back(static_cast<std::uint32_t>(found.ins.size()));
            }
            found.ins.push_back({i, source, point, graph.crossing_of[i]});
        }
    }
    found.first_in.push_back(static_cast<std::uint32_t>(found.ins.size()));
    found.followers =
        Followers(static_cast<std::uint32_t>(found.size()), static_cast<std::uint32_t>(found.ins.size()),
                  [&](std::uint32_t in) { return std::pair{found.ins[in].source, found.ins[in].target}; });
    return found;
}

HugeColumn<std::int64_t> distances(const Graph& graph, const SyncPoints& points, const Weights& weights,
                                   std::size_t lane) {
    HugeColumn<std::int64_t> found(graph.nodes(), 0);
    points.for_each_other([&](std::uint32_t node) {
        const auto edge = graph.edge(graph.first_edge[node]);
        found[node] = found[edge.source] + weights.weight(edge, lane, 0);
    });
    return found;
}

}  // namespace logpost::replay
