#pragma once

/// A graph under construction: nodes and edges in any order, and an order of its nodes in time.

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay/native/whatif/calibrate.hpp"
#include "replay/native/whatif/graph.hpp"

namespace logpost::replay {

/// An edge under construction: its weight follows from its model and the nodes' times.
struct DraftEdge {
    std::uint32_t source;
    std::uint32_t target;
    std::uint32_t model;
};

/// A message at a NIC, or at its receiver's processor: a node, and how long the server is taken.
struct Customer {
    std::uint32_t node;
    std::uint32_t service;  ///< model
    bool far = false;       ///< between nodes
    bool far_then = false;  ///< between nodes where the program would run
};
using Customers = std::vector<Customer>;

class Draft {
  public:
    /// `recorded`: where the program ran; `planned`: where it would run.
    Draft(const Parameters& machine, const Placement& recorded, const Placement& planned);

    /// A node that the trace shows. All of these come before the others.
    std::uint32_t add_event(std::int64_t measured_ps) {
        measured.push_back(measured_ps);
        return nodes++;
    }
    /// A node that the trace does not show.
    std::uint32_t add_node() noexcept { return nodes++; }
    void add_edge(std::uint32_t source, std::uint32_t target, std::uint32_t model) {
        edges.push_back({source, target, model});
    }
    /// An edge that is a message from one location to another.
    void add_message(std::uint32_t source, std::uint32_t target, std::uint32_t model, std::int32_t from,
                     std::int32_t to) {
        if (contention &&
            (recorded.between(from, to) == Locality::other_node || planned.between(from, to) == Locality::other_node)) {
            crossings.push_back({.edge = static_cast<std::uint32_t>(edges.size()), .from = from, .to = to});
        }
        add_edge(source, target, model);
    }
    /// Gives up the edges, and an edge from nothing to every node without one, as those of a graph whose nodes stand at
    /// `place`: by target, and for each in the order in which they were added. Their weights are their models' costs.
    /// `moved_to`, unless null: where each edge stands then.
    void move_edges(Graph& graph, std::span<const std::uint32_t> place, std::vector<std::uint32_t>* moved_to);

    std::uint32_t message_class(const MessageClass& message);
    /// The class of a message from one location to another.
    std::uint32_t message_class(std::int32_t from, std::int32_t to, std::uint64_t bytes, const Blocks& layout = {});
    std::uint32_t model(const EdgeModel& model);
    /// Terms of the cost of one message.
    std::uint32_t message_model(std::uint32_t message, int terms) {
        return model({.kind = EdgeModel::Kind::message, .terms = static_cast<std::uint8_t>(terms), .message = message});
    }
    /// A node at which a message takes a NIC.
    [[nodiscard]] Customer at_nic(std::uint32_t node, std::uint32_t message) {
        const auto& of = messages[message];
        return {node, message_model(message, kTermService), of.recorded.locality == Locality::other_node,
                of.planned.locality == Locality::other_node};
    }
    /// The edge's cost is nothing but what was measured.
    static constexpr std::uint32_t kMeasured = 0;

    [[nodiscard]] const Cost& cost(std::uint32_t message) const noexcept { return class_costs[message]; }

    const Parameters& machine;
    const Placement& recorded;
    const Placement& planned;
    bool contention = false;          ///< whether messages between nodes are told apart
    std::vector<Crossing> crossings;  ///< edges by their index here
    std::uint32_t nodes = 0;
    Measured measured;
    std::vector<DraftEdge> edges;
    std::vector<EdgeModel> models;
    std::vector<std::int64_t> costs;  ///< by model
    std::vector<MessageClass> messages;
    std::vector<Cost> class_costs;

  private:
    struct HashModel {
        std::size_t operator()(const EdgeModel& model) const noexcept;
    };
    struct HashMessage {
        std::size_t operator()(const MessageClass& message) const noexcept;
    };
    std::unordered_map<EdgeModel, std::uint32_t, HashModel> model_index_;
    std::unordered_map<MessageClass, std::uint32_t, HashMessage> message_index_;
};

/// The edges by target: row v of the result is edges[first[v]] .. edges[first[v + 1]].
struct ByTarget {
    explicit ByTarget(const Draft& draft);
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> edge;  ///< index in Draft::edges
};

/// Nodes that wait for each other, in their order.
struct Cycle {
    std::vector<std::uint32_t> nodes;
};

/// An order of the nodes in time, extended by edges that agree with it.
///
/// `key` never falls along an edge, and of equal keys the earlier place counts: an edge from a node to one with a
/// greater (key, place) closes no cycle, however many such edges are added.
class NodeOrder {
  public:
    /// Throws Cycle.
    explicit NodeOrder(const Draft& draft);

    /// Computes times and keys again, with the edges that were added since, and sorts.
    void update(const Draft& draft);

    [[nodiscard]] bool before(std::uint32_t a, std::uint32_t b) const noexcept {
        return key_[a] != key_[b] ? key_[a] < key_[b] : place_[a] < place_[b];
    }
    /// The nodes in their order; the rest of it is given up.
    [[nodiscard]] std::vector<std::uint32_t> taken() && {
        place_ = {};
        key_ = {};
        return std::move(nodes_);
    }

  private:
    void estimate(const Draft& draft);

    std::vector<std::uint32_t> nodes_;
    std::vector<std::uint32_t> place_;
    std::vector<std::int64_t> key_;
};

/// Members of collective operations meet: edges by the operation's shape.
/// `enters` and `leaves` are nodes by location and call, kNone where a location has none.
void add_collectives(Draft& draft, const Program& program, std::span<const std::vector<std::uint32_t>> enters,
                     std::span<const std::vector<std::uint32_t>> leaves);

}  // namespace logpost::replay
