#pragma once

/// A program as a max-plus dependency graph: t_v = max over the edges u -> v of (t_u + w).
///
/// Nodes are the enters and leaves of calls, the begin and end of each location, and what a trace does not show: a
/// message's injection, the arrival of its first byte, its match, its completion, and where a collective operation's
/// members meet. They stand in a topological order, so that a replay is one pass over the edges.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "replay/native/cost.hpp"
#include "replay/native/program.hpp"

namespace logpost::replay {

/// The terms of a message's cost that make up an edge, as a set.
enum CostTerm : std::uint8_t {
    kTermSend = 1,           ///< o_s + l_mw / 2
    kTermLatency = 2,        ///< L
    kTermSerialization = 4,  ///< (B - 1) G
    kTermService = 8,        ///< max(g, B G)
    kTermReceive = 16,       ///< l_mw - l_mw / 2 + o_r
    kTermControl = 32,       ///< o_control
};

/// Messages that cost the same on every machine.
struct MessageClass {
    std::uint64_t bytes = 0;
    Blocks layout;
    Locality locality = Locality::self;
    std::int32_t hops = -1;
    bool operator==(const MessageClass&) const = default;
};

/// What an edge's weight consists of on a machine; edges that are alike share one.
struct EdgeModel {
    enum class Kind : std::uint8_t {
        measured,    ///< as measured, on any machine
        compute,     ///< between two calls: scaled with the speed of the processor
        message,     ///< terms of a message's cost
        collective,  ///< `count` rounds of a message's cost
    };
    Kind kind = Kind::measured;
    std::uint8_t terms = 0;
    std::uint16_t count = 1;
    std::uint32_t message = 0;   ///< message, collective: the class
    std::int32_t location = -1;  ///< compute
    std::int32_t callpath = -1;  ///< compute: of the call that follows; -1: the program ends
    bool operator==(const EdgeModel&) const = default;
};

/// An edge that ends at the node whose range of edges it stands in.
struct Edge {
    std::uint32_t source;  ///< kNone: the weight is the node's time (a location's begin)
    std::uint32_t model;   ///< row of Graph::models
    std::int64_t weight;   ///< calibrated, in picoseconds
};
static_assert(sizeof(Edge) == 16);

struct Graph {
    std::vector<std::uint32_t> first_edge;  ///< by node, nodes + 1
    std::vector<Edge> edges;
    std::vector<EdgeModel> models;
    std::vector<MessageClass> messages;
    std::vector<std::uint32_t> begins;      ///< node, by location
    std::vector<std::uint32_t> ends;        ///< node, by location
    std::vector<std::uint32_t> first_call;  ///< by location: calls of the locations before it
    std::vector<std::uint32_t> enters;      ///< node, by call of the whole program
    std::vector<std::uint32_t> leaves;      ///< likewise
    std::uint64_t rebuilt = 0;              ///< messages with another protocol than they were recorded with
    std::vector<std::uint32_t> slots;       ///< by node: where its time stands until the last node that needs it
    std::uint32_t slots_needed = 0;         ///< greatest slot + 1

    [[nodiscard]] std::size_t nodes() const noexcept { return first_edge.empty() ? 0 : first_edge.size() - 1; }
    [[nodiscard]] std::size_t bytes() const noexcept;
};

/// The recorded order contradicts itself: an event would have to be before itself.
class CycleError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The graph of a program that ran on `machine`, calibrated so that a replay gives back every measured time.
///
/// Where a message has another protocol on `planned` (its eager limit, or asynchronous progress), it is built as
/// `planned` would send it: its edges have the machine's cost, and the events that wait for it take no residual.
/// Throws CycleError.
Graph build_graph(const Program& program, const Parameters& machine, const Parameters& planned);

/// Gives every node a slot: as many as there are nodes that later ones wait for at one time. An end keeps its own.
void assign_slots(Graph& graph);

/// Whether the edge only orders what a server takes one after the other: where the server is taken for no time, it
/// orders nothing.
inline bool is_queue(const EdgeModel& model) noexcept {
    return model.kind == EdgeModel::Kind::message && model.terms == kTermService;
}

/// The cost of an edge's model on a machine; 0 for what no machine changes.
std::int64_t edge_cost(const EdgeModel& model, const Cost& cost) noexcept;

/// The cost of every message class on a machine.
std::vector<Cost> class_costs(const Graph& graph, const Parameters& machine);

}  // namespace logpost::replay
