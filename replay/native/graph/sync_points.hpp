#pragma once

/// The nodes of a graph that something is waited for at: others follow one of them, whatever messages wait for.
///
/// A program calls far more than it communicates: of a rank that polls, most nodes have one edge, from the node before
/// them on their own location. Their times are that node's and a distance which depends on the setting alone. So a
/// replay that takes events in the order of time handles points only; distances cost one pass over the nodes.

#include <cstdint>
#include <vector>

#include "replay/native/graph/graph.hpp"
#include "replay/native/graph/replay.hpp"
#include "replay/native/graph/schedule.hpp"
#include "replay/native/memory/huge_column.hpp"

namespace logpost::replay {

struct SyncPoints {
    /// An edge that ends at a point.
    struct In {
        std::uint32_t edge;      ///< index in Graph::arcs
        std::uint32_t source;    ///< point that its source is or follows; kNone: it has none
        std::uint32_t target;    ///< point
        std::uint32_t crossing;  ///< kNone: none
    };

    std::vector<std::uint32_t> of_node;   ///< the point that it is or follows
    std::vector<std::uint32_t> nodes;     ///< by point
    std::vector<In> ins;                  ///< by target
    std::vector<std::uint32_t> first_in;  ///< by point, points + 1
    Followers followers;                  ///< by point, of `ins`
    std::vector<std::uint32_t> queues;    ///< of `ins`: those that only order a server's messages

    [[nodiscard]] std::size_t size() const noexcept { return nodes.size(); }
    /// Calls `visit(node)` for the nodes that are none, in their order.
    template <class Visit>
    void for_each_other(Visit&& visit) const {
        std::size_t point = 0;
        for (std::uint32_t node = 0; node < of_node.size(); ++node) {
            if (point < size() && nodes[point] == node) {
                ++point;
            } else {
                visit(node);
            }
        }
    }
    [[nodiscard]] std::size_t bytes() const noexcept;
};

SyncPoints sync_points_of(const Graph& graph);

/// How long after its point each node is in a lane, by node; 0 for points.
HugeColumn<std::int64_t> distances(const Graph& graph, const SyncPoints& points, const Weights& weights,
                                   std::size_t lane);

}  // namespace logpost::replay
