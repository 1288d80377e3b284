#pragma once

/// A program as a max-plus dependency graph: t_v = max over the edges u -> v of (t_u + w).
///
/// Nodes are the enters and leaves of calls, the begin and end of each location, and what a trace does not show: a
/// message's injection, the arrival of its first byte, its match, its completion, and where a collective operation's
/// members meet. They are in a topological order, so that a replay is one pass over the edges.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "replay/native/cost/cost.hpp"
#include "replay/native/memory/huge_column.hpp"
#include "replay/native/program/program.hpp"
#include "replay/native/program/surroundings.hpp"
#include "replay/native/program/wide.hpp"

namespace logpost::replay {

/// The terms of a message's cost that make up an edge, as a set.
enum CostTerm : std::uint8_t {
    kTermSend = 1,           ///< o_s + l_mw / 2
    kTermLatency = 2,        ///< L
    kTermSerialization = 4,  ///< (B - 1) G
    kTermService = 8,        ///< max(g, B G)
    kTermReceive = 16,       ///< l_mw - l_mw / 2 + o_r
    kTermControl = 32,       ///< o_control
    kTermTurn = 64,          ///< max(g, B G), of a send's call until the next one is through
};

/// Where the two ends of a message are.
struct Distance {
    Locality locality = Locality::self;
    std::int32_t hops = -1;
    bool operator==(const Distance&) const = default;
};

/// Messages that cost the same on every machine.
struct MessageClass {
    std::uint64_t bytes = 0;
    Blocks layout;
    Distance recorded;  ///< as the program ran
    Distance planned;   ///< as it would run
    Carried carried = Carried::message;
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
    std::uint32_t message = 0;        ///< message, collective: the class
    Location location = kNoLocation;  ///< compute
    std::int32_t callpath = -1;       ///< compute: of the call that follows; -1: the program ends
    bool own = false;                 ///< measured: of a call that moves nothing, and when a location begins
    bool operator==(const EdgeModel&) const = default;
};

/// What an edge says; in a graph it is an arc.
struct Edge {
    std::uint32_t source;  ///< kNone: the weight is the node's time (a location's begin)
    std::uint32_t model;   ///< row of Graph::models
    std::int64_t weight;   ///< calibrated, in picoseconds
};

/// An edge that ends at the node in whose range of arcs it is: where it comes from, and the row of its weight. Most
/// weigh what their model costs and share that row; few bytes per edge make replays fast.
class Arc {
  public:
    // Not `= default`: a column that is made longer is not written before it is filled, so that it takes no memory yet.
    Arc() noexcept {}  // NOLINT(modernize-use-equals-default,cppcoreguidelines-pro-type-member-init)
    Arc(std::uint32_t from, std::uint32_t row) noexcept : source(from), bits_(row) {}
    [[nodiscard]] std::uint32_t row() const noexcept { return bits_ & ~kLast; }
    void set_row(std::uint32_t row) noexcept { bits_ = (bits_ & kLast) | row; }
    /// Whether it is the last one of its node: 1 or 0. Known once the nodes have slots.
    [[nodiscard]] std::uint32_t last() const noexcept { return bits_ / kLast; }
    void set_last() noexcept { bits_ |= kLast; }

    std::uint32_t source;  ///< slot; without slots, node. kNone (of a node), kNoSource (as a slot): it has none

  private:
    static constexpr std::uint32_t kLast = std::uint32_t{1} << 31U;
    std::uint32_t bits_;
};
static_assert(sizeof(Arc) == 8);

/// A message between nodes: an edge that lasts as long as the network makes it last.
struct Crossing {
    std::uint32_t edge = kNone;       ///< that ends when the message has arrived: index in Graph::arcs
    std::uint32_t sent_edge = kNone;  ///< that ends when it has left its sender; kNone: no node waits for that
    Location from = kNoLocation, to = kNoLocation;
    std::int64_t delay_ps = 0;       ///< in the network, and at the NICs: part of the edge's weight
    std::int64_t sent_delay_ps = 0;  ///< likewise of the other edge
    // What the recorded times leave room for, where that is less than the network's model says.
    double bytes = 0;                ///< that it puts on the network
    std::int64_t sooner_out_ps = 0;  ///< by which it has its sender's NIC sooner
    std::int64_t sooner_in_ps = 0;   ///< likewise its receiver's
};

/// Waits of messages between nodes: until they have left, for their sender's NIC and for links; and for their
/// receiver's NIC.
template <class Ps>
struct NetworkWaits {
    Ps leaving = 0;
    Ps arriving = 0;
};

/// How the network was used.
struct NetworkUse {
    std::vector<double> busy_ps;          ///< by link: time of its bytes at its bandwidth
    std::vector<std::int64_t> waited_ps;  ///< by link: waits of its messages in the network
    NetworkWaits<WidePs> confirmed_ps;    ///< with deadlines: of messages that were needed when they arrived
    std::uint64_t messages = 0;           ///< between nodes
    std::uint64_t delayed = 0;            ///< of them, those that waited
    WidePs total_ps = 0;                  ///< sum of their waits
    std::uint64_t turns = 0;  ///< messages that start at another time where NICs are shared, and where they take turns
};

/// What the recorded times say of the waits for NICs and links that the network's model has, summed over the messages
/// between nodes. Of a message that was there before anybody needed it they say nothing.
struct NetworkFit {
    NetworkWaits<WidePs> confirmed_ps;     ///< waits of messages that were needed when the model has them arrive
    NetworkWaits<WidePs> contradicted_ps;  ///< what of the waits the times leave no room for
    WidePs unexplained_ps = 0;             ///< time of messages beyond the model
    std::uint64_t turns = 0;               ///< as NetworkUse has it, of the recorded program
};

/// The program of a location: from the end of its start-up, which no setting changes, to the begin of its shut-down,
/// without the times at which nothing was recorded. Its length depends on the time of one node alone, so that it is the
/// sum of weights along a path as every time is: it grows with each of them, and never falls.
struct ProgramBounds {
    std::uint32_t finish = kNone;  ///< the last node of the location in its program; kNone: it takes no part
    std::int64_t begin_ps = 0;     ///< as recorded
    std::int64_t rest_ps = 0;      ///< from that node to the begin of shut-down
    std::int64_t off_ps = 0;       ///< not recorded in between

    [[nodiscard]] bool takes_part() const noexcept { return finish != kNone; }
    [[nodiscard]] std::int64_t length_ps(std::int64_t finish_ps) const noexcept {
        return finish_ps + rest_ps - begin_ps - off_ps;
    }
};

/// The steps of a message among the nodes, and its calls among those of the whole program; kNone: it has no such step.
struct MessageSteps {
    std::uint32_t origin = kNone;      ///< where its sender starts it
    std::uint32_t match = kNone;       ///< of a handshake: request and receive meet
    std::uint32_t inject = kNone;      ///< its sender's NIC has it
    std::uint32_t first_byte = kNone;  ///< its receiver's NIC has it
    std::uint32_t received = kNone;    ///< what waits for it at its receiver
    std::uint32_t sent = kNone;        ///< what waits at its sender until it has left; kNone: nothing does
    std::uint32_t taken = kNone;       ///< of an eager message: its receiver's enter that ends the call that sends it
    std::uint32_t send_call = kNone, sent_call = kNone;      ///< that starts it; that completes it at the sender
    std::uint32_t post_call = kNone, received_call = kNone;  ///< likewise at the receiver
    std::uint64_t bytes = 0;
};

/// Where a location has the permission of an epoch that it waits for.
struct Grant {
    std::uint32_t node;
    Location location;
    std::uint32_t call;  ///< that begins the epoch, among those of the location
};

struct Graph {
    HugeColumn<std::uint32_t> first_edge;  ///< by node, nodes + 1
    HugeColumn<Arc> arcs;
    std::vector<EdgeModel> models;
    /// Rows of weights: first what each model costs on the machine that the program ran on, then the weights of single
    /// edges, in the order of their arcs.
    std::vector<std::int64_t> costs;       ///< by model
    HugeColumn<std::int64_t> own_weights;  ///< by row behind those
    HugeColumn<std::uint32_t> own_models;  ///< likewise
    std::vector<MessageClass> messages;
    std::vector<std::uint32_t> begins;        ///< node, by location
    std::vector<std::uint32_t> ends;          ///< node, by location
    std::vector<ProgramBounds> programs;      ///< by location
    std::vector<std::uint32_t> not_recorded;  ///< nodes: leaves of stretches in which recording was switched off
    std::vector<std::uint32_t> awaiting;      ///< nodes: leaves of calls that wait for others to change their memory
    std::vector<std::uint32_t> first_call;    ///< by location: calls of the locations before it
    HugeColumn<std::uint32_t> enters;         ///< node, by call of the whole program
    HugeColumn<std::uint32_t> leaves;         ///< likewise
    std::vector<std::uint32_t> next_call;     ///< likewise: the call that follows on its location; empty: as recorded
    HugeColumn<std::int32_t> callpath;        ///< likewise
    std::uint64_t callpaths = 0;              ///< of the whole program
    bool chooses = false;                     ///< as of the program (choices.hpp); of what-if replays alone
    HugeColumn<Crossing> crossings;           ///< where contention is replayed: messages between nodes, in any order
    HugeColumn<std::uint32_t> crossing_of;    ///< by edge: its crossing; kNone: none. Empty where there are none
    bool nics_share = false;                  ///< messages share their sender's NIC, and do not take turns at it
    std::vector<std::uint8_t> communicates;   ///< of the crossings: by location, as `communicating`
    std::int64_t tick_ps = 0;                 ///< likewise: of the recorded clock
    DecidedLibrary library;                   ///< what the program's library does
    std::vector<std::int64_t> apart_ps;       ///< by message class: as Turns says
    NetworkFit fit;                           ///< of the crossings
    NetworkUse use;                           ///< likewise, as the program ran; without messages: not known
    std::uint64_t rebuilt = 0;                ///< messages with another protocol than they were recorded with
    std::vector<MessageSteps> steps;          ///< of messages, by receiver and receive; where requested
    std::vector<Grant> grants;                ///< of epochs, likewise
    /// By node: where its time is stored until the last node that needs it. Empty with crossings: all times are needed.
    HugeColumn<std::uint32_t> slots;
    std::uint32_t slots_needed = 0;  ///< greatest slot + 1

    /// The slot that no node has, of time 0: of a node without a source, the time is the weight.
    static constexpr std::uint32_t kNoSource = 0;

    [[nodiscard]] std::size_t nodes() const noexcept { return first_edge.empty() ? 0 : first_edge.size() - 1; }
    [[nodiscard]] std::size_t bytes() const noexcept;

    [[nodiscard]] std::uint32_t model_of(std::uint32_t edge) const noexcept {
        const auto row = arcs[edge].row();
        return row < models.size() ? row : own_models[row - models.size()];
    }
    [[nodiscard]] std::int64_t weight_of(std::uint32_t edge) const noexcept {
        const auto row = arcs[edge].row();
        return row < models.size() ? costs[row] : own_weights[row - models.size()];
    }
    [[nodiscard]] Edge edge(std::uint32_t edge) const noexcept {
        return {arcs[edge].source, model_of(edge), weight_of(edge)};
    }
    /// Gives an edge a separate weight. Of graphs with slots: edge by edge, in their order.
    void own(std::uint32_t edge, std::int64_t weight) {
        const auto model = model_of(edge);
        arcs[edge].set_row(static_cast<std::uint32_t>(models.size() + own_weights.size()));
        own_weights.push_back(weight);
        own_models.push_back(model);
    }
    /// The weight of an edge that has a separate one.
    [[nodiscard]] std::int64_t& own_weight(std::uint32_t edge) noexcept {
        return own_weights[arcs[edge].row() - models.size()];
    }
};

/// The recorded order contradicts itself: an event would have to be before itself.
class CycleError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The graph of a program that ran on `machine`, calibrated so that a replay gives back every measured time.
///
/// `elsewhere`: where the program would run, if not where it ran. With a `network` that it ran on, messages between
/// nodes queue at NICs and share links in the order that the replay finds (contention.hpp); else they take NICs in
/// recorded order.
/// Where a message has another protocol on `planned` (its eager limit, or asynchronous progress), it is built as
/// `planned` would send it: its edges have the machine's cost, and the events that wait for it take no residual.
/// `overlapped`: what is computed behind a Wait is before it (overlapped.hpp). `with_steps`: keeps the steps of
/// messages.
/// Throws CycleError.
Graph build_graph(const Program& program, const Parameters& machine, const Parameters& planned,
                  const Surroundings* elsewhere = nullptr, const Network* network = nullptr, bool overlapped = false,
                  bool nics_share = false, bool with_steps = false);

/// Gives every node a slot, which its arcs then name as their sources: as many as there are nodes that later ones wait
/// for at the same time. The ends of a location and of its program keep theirs.
void assign_slots(Graph& graph);

/// The node that each edge comes from; kNone: none.
HugeColumn<std::uint32_t> sources_of(const Graph& graph);

/// Whether the edge only orders a server's messages: where the server is taken for no time, it
/// orders nothing.
inline bool is_queue(const EdgeModel& model) noexcept {
    return model.kind == EdgeModel::Kind::message && model.terms == kTermService;
}

/// The cost of an edge's model on a machine; 0 for what no machine changes.
std::int64_t edge_cost(const EdgeModel& model, const Cost& cost) noexcept;

/// The cost of every message class on a machine, over the recorded or the planned distance.
std::vector<Cost> class_costs(const Graph& graph, const Parameters& machine,
                              Distance MessageClass::* distance = &MessageClass::planned);

}  // namespace logpost::replay
