#pragma once

/// An order of nodes in which every edge leads forward.

#include <cstdint>
#include <numeric>
#include <ranges>
#include <span>

#include "replay/native/graph/read_once.hpp"
#include "replay/native/memory/huge_column.hpp"

namespace logpost::replay {

/// The nodes 0 .. nodes - 1, causes first. An edge has a `source` and a `target`.
///
/// Where edges form a cycle, `stuck(waiting)` names the node that is first all the same, or throws; `waiting` counts
/// the sources, by node, that are not in the order yet, and is 0 for nodes that are.
template <class Edges, class Stuck>
HugeColumn<std::uint32_t> topological_order(std::size_t nodes, const Edges& edges, Stuck&& stuck) {
    HugeColumn<std::uint32_t> waiting(nodes);
    HugeColumn<std::uint32_t> first(nodes + 1);
    for (const auto& edge : edges) {
        ++waiting[edge.target];
        ++first[edge.source];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());  // the ends; filled from behind, they become begins
    HugeColumn<std::uint32_t> targets(edges.size());
    for (const auto& edge : std::views::reverse(edges)) {
        targets[--first[edge.source]] = edge.target;
    }
    HugeColumn<std::uint32_t> order;  // it grows as targets are given up
    ReadOnce followed(targets);
    order.reserve(nodes);
    for (std::uint32_t node = 0; node < nodes; ++node) {
        if (waiting[node] == 0) {
            order.push_back(node);
        }
    }
    for (std::size_t i = 0; order.size() < nodes || i < order.size(); ++i) {
        if (i == order.size()) {
            const std::uint32_t node = stuck(waiting);
            waiting[node] = 0;
            order.push_back(node);
        }
        for (auto k = first[order[i]]; k < first[order[i] + 1]; ++k) {
            // A node that was first all the same waits no longer.
            if (waiting[targets[k]] != 0 && --waiting[targets[k]] == 0) {
                order.push_back(targets[k]);
            }
        }
        followed.done(first[order[i]], first[order[i] + 1]);
    }
    return order;
}

}  // namespace logpost::replay
