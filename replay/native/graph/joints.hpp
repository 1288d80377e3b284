#pragma once

/// The nodes of a graph that something is waited for at: others follow one of them, whatever messages wait for.
///
/// A program calls far more than it communicates: of a rank that polls, most nodes have one edge, from the node before
/// them on their own location. Their times are that node's and a distance which depends on the setting alone. So a
/// replay that takes events in the order of time handles joints only; distances cost one pass over the nodes.

#include <cstdint>
#include <vector>

#include "replay/native/graph/graph.hpp"
#include "replay/native/graph/replay.hpp"
#include "replay/native/graph/schedule.hpp"

namespace logpost::replay {

struct Joints {
    /// An edge that ends at a joint.
    struct In {
        std::uint32_t edge;      ///< index in Graph::arcs
        std::uint32_t source;    ///< joint that its source is or follows; kNone: it has none
        std::uint32_t target;    ///< joint
        std::uint32_t crossing;  ///< kNone: none
    };

    std::vector<std::uint32_t> of_node;   ///< the joint that it is or follows
    std::vector<std::uint32_t> nodes;     ///< by joint
    std::vector<In> ins;                  ///< by target
    std::vector<std::uint32_t> first_in;  ///< by joint, joints + 1
    Followers followers;                  ///< by joint, of `ins`
    std::vector<std::uint32_t> queues;    ///< of `ins`: those that only order what a server takes

    [[nodiscard]] std::size_t size() const noexcept { return nodes.size(); }
    [[nodiscard]] std::size_t bytes() const noexcept;
};

/// The joints of a graph. With `every_node`, each node is one: where times are made node by node.
Joints joints_of(const Graph& graph, bool every_node = false);

/// How long after its joint each node is in a lane, by node; 0 for joints.
std::vector<std::int64_t> distances(const Graph& graph, const Joints& joints, const Weights& weights, std::size_t lane);

}  // namespace logpost::replay
