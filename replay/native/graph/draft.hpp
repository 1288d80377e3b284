#pragma once

/// A graph under construction: nodes and edges in any order, and an order of its nodes in time.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "replay/native/graph/calibrate.hpp"
#include "replay/native/graph/graph.hpp"
#include "replay/native/memory/huge_column.hpp"
#include "replay/native/memory/release.hpp"
#include "replay/native/program/numbers.hpp"

namespace logpost::replay {

/// An edge under construction: its weight follows from its model and the nodes' times.
struct DraftEdge {
    std::uint32_t source;
    std::uint32_t target;
    std::uint32_t model;
};

/// A message at a NIC, or at its receiver's processor: a node, and how long the server is taken.
class QueuedMessage {
  public:
    /// `service`: a model. `far`: between nodes; `far_then`: between nodes where the program would run.
    QueuedMessage(std::uint32_t at, std::uint32_t service, bool far = false, bool far_then = false) noexcept
        : node(at), bits_(service << 2U | (far ? kFar : 0U) | (far_then ? kFarThen : 0U)) {}
    [[nodiscard]] std::uint32_t service() const noexcept { return bits_ >> 2U; }
    [[nodiscard]] bool far() const noexcept { return (bits_ & kFar) != 0; }
    [[nodiscard]] bool far_then() const noexcept { return (bits_ & kFarThen) != 0; }

    std::uint32_t node;

  private:
    static constexpr std::uint32_t kFar = 1, kFarThen = 2;
    std::uint32_t bits_;
};
static_assert(sizeof(QueuedMessage) == 8);
using MessageQueue = std::vector<QueuedMessage>;

/// Visits a node as often as edges may be put to it.
using Capacity = std::function<void(const std::function<void(std::uint32_t node)>&)>;

/// Edges by target: of node v, edges[first[v]] .. edges[end(v)] in the order in which they were added, with their
/// models as rows. Behind them is room for edges that are put there later.
class Incoming {
  public:
    Incoming() = default;
    /// Of `nodes` nodes. The edges are given up.
    Incoming(HugeColumn<DraftEdge>&& given, std::uint32_t nodes, bool numbered);

    void make_room(const Capacity& capacity);
    /// Adds an edge, for which there is room.
    void put(const DraftEdge& edge);
    [[nodiscard]] std::uint32_t end(std::uint32_t node) const noexcept {
        auto end = first[node + 1];
        while (end > first[node] && edges[end - 1].source == kNone) {
            --end;
        }
        return end;
    }
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

    HugeColumn<std::uint32_t> first;
    HugeColumn<Arc> edges;
    HugeColumn<std::uint32_t> numbers;  ///< of each edge, how many were added before; empty where it is not needed

  private:
    std::uint32_t count_ = 0;
};

class Draft {
  public:
    /// `recorded`: where the program ran; `planned`: where it would run.
    Draft(const Parameters& machine, const Placement& recorded, const Placement& planned);

    /// A node that the trace shows. They precede all others.
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
    void add_message(std::uint32_t source, std::uint32_t target, std::uint32_t model, Location from, Location to) {
        if (contention &&
            (recorded.between(from, to) == Locality::other_node || planned.between(from, to) == Locality::other_node)) {
            crossings.push_back({.edge = next_edge(), .from = from, .to = to});
        }
        add_edge(source, target, model);
    }
    /// The number of the edge that is added next.
    [[nodiscard]] std::uint32_t next_edge() const noexcept {
        return incoming.count() + static_cast<std::uint32_t>(edges.size());
    }
    /// Sorts the edges by their targets, in less memory. The next ones are put to them.
    void take_in() { incoming = Incoming(std::move(edges), nodes, numbered); }
    void put_edge(std::uint32_t source, std::uint32_t target, std::uint32_t model) {
        incoming.put({source, target, model});
    }
    /// Gives up the edges, and an edge from nothing to every node without one, as those of a graph of `nodes`. Their
    /// sources are the draft's nodes yet, their weights the models' costs. By number of the edge: its place then.
    HugeColumn<std::uint32_t> move_edges(Graph& graph, std::span<const std::uint32_t> nodes);

    std::uint32_t message_class(const MessageClass& message);
    /// The class of a message from one location to another.
    std::uint32_t message_class(Location from, Location to, std::uint64_t bytes, const Blocks& layout = {},
                                Carried carried = Carried::message);
    std::uint32_t model(const EdgeModel& model);
    /// Terms of the cost of one message.
    std::uint32_t message_model(std::uint32_t message, int terms) {
        return model({.kind = EdgeModel::Kind::message, .terms = static_cast<std::uint8_t>(terms), .message = message});
    }
    /// A node at which a message takes a NIC, or so many like it.
    [[nodiscard]] QueuedMessage at_nic(std::uint32_t node, std::uint32_t message, std::uint32_t count = 1) {
        const auto& of = messages[message];
        const auto service = model({.kind = EdgeModel::Kind::message,
                                    .terms = kTermService,
                                    .count = static_cast<std::uint16_t>(std::min(count, 65535U)),
                                    .message = message});
        return {node, service, of.recorded.locality == Locality::other_node,
                of.planned.locality == Locality::other_node};
    }
    /// The edge's cost is nothing but what was measured.
    static constexpr std::uint32_t kMeasured = 0;
    /// Likewise, of what no network carries.
    static constexpr std::uint32_t kOwn = 1;

    [[nodiscard]] const Cost& cost(std::uint32_t message) const noexcept { return class_costs[message]; }

    [[nodiscard]] Decided& of_library(LibraryProperty property) noexcept {
        return library[static_cast<std::size_t>(property)];
    }
    /// Decides a property by the machine's library profile, or by what was observed.
    void decide(LibraryProperty property) noexcept {
        of_library(property).decide(machine.library[static_cast<std::size_t>(property)]);
    }
    template <class Alternative>
    [[nodiscard]] Alternative library_value(LibraryProperty property) const noexcept {
        return static_cast<Alternative>(library[static_cast<std::size_t>(property)].value);
    }

    const Parameters& machine;
    const Placement& recorded;
    const Placement& planned;
    bool contention = false;          ///< whether messages between nodes are distinguished
    bool nics_share = false;          ///< they share NICs, and take no turns there
    DecidedLibrary library;           ///< what the program's library does
    HugeColumn<Crossing> crossings;   ///< edges by their index here
    std::vector<MessageSteps> steps;  ///< nodes of the draft; where requested
    std::vector<Grant> grants;        ///< likewise
    std::uint32_t nodes = 0;
    Measured measured;
    bool numbered = false;        ///< whether single edges are looked up in the end
    HugeColumn<DraftEdge> edges;  ///< that were not taken in yet
    Incoming incoming;
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
    Numbers<HashModel> model_numbers_;
    Numbers<HashMessage> message_numbers_;
};

/// Nodes that wait for each other, in their order.
struct Cycle {
    std::vector<std::uint32_t> nodes;
};

/// An order of the nodes in time, extended by edges that agree with it.
///
/// They are sorted by a key that never falls along an edge, of equal keys as they were: an edge from a node to a later
/// one closes no cycle, however many such edges are added.
class NodeOrder {
  public:
    /// Takes in the draft's edges. Throws Cycle.
    explicit NodeOrder(Draft& draft);

    /// Computes times and keys again, with the edges that were put since, and sorts.
    void update(const Draft& draft);

    [[nodiscard]] bool before(std::uint32_t a, std::uint32_t b) const noexcept { return place_[a] < place_[b]; }
    /// The nodes in their order; the rest of it is given up.
    [[nodiscard]] HugeColumn<std::uint32_t> taken() && {
        release(place_);
        return std::move(nodes_);
    }

  private:
    void sort(const Draft& draft);

    HugeColumn<std::uint32_t> nodes_;
    HugeColumn<std::uint32_t> place_;
    std::uint32_t edges_ = 0;  // that the keys know
};

/// Messages of collective operations at NICs, or their locations' own ends of the memory; by location. They queue among
/// themselves: the trace does not show them, and recorded ones should not wait for them.
struct MessagesAtNics {
    std::vector<MessageQueue> sending, receiving;
};

/// Members of collective operations meet: their messages, by the operation's algorithm, which queue at NICs. `enters`
/// and `leaves` are nodes by location and call, kNone where a location has none.
void add_collectives(Draft& draft, const Program& program, std::span<const std::vector<std::uint32_t>> enters,
                     std::span<const std::vector<std::uint32_t>> leaves, MessagesAtNics& nics);

}  // namespace logpost::replay
