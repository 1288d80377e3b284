#include "replay/native/graph/cure.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "replay/native/graph/recorded_queues.hpp"
#include "replay/native/graph/schedule.hpp"

namespace logpost::replay {

Cures::Cures(const Graph& graph, const Parameters& machine)
    : graph_(graph), sources_(sources_of(graph)), queue_(graph.arcs.size()), compute_(graph.arcs.size()) {
    if (!graph.crossings.empty()) {
        throw std::invalid_argument("cures are replayed without contention in the network");
    }
    const std::vector<Setting> recorded{{.machine = machine}};
    const Weights weights(graph, machine, recorded);
    weights_.reserve(graph.arcs.size());
    for (std::uint32_t edge = 0; edge < graph.arcs.size(); ++edge) {
        const auto& model = graph.models[graph.model_of(edge)];
        queue_[edge] = is_queue(model) ? 1 : 0;
        compute_[edge] = model.kind == EdgeModel::Kind::compute ? 1 : 0;
        weights_.push_back(weights.weight(edge, 0));
    }
    auto queues = recorded_queues(graph, sources_);
    service_.assign(graph.nodes(), 0);
    for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
        if (const auto model = queues.service[node]; model != kNone) {
            service_[node] = weights.weight(Edge{node, model, graph.costs[model]}, 0, 0);
        }
    }
    std::vector<std::int64_t> times;
    late_ = lateness(graph, sources_, queues, [&](std::uint32_t edge) { return weights_[edge]; }, times);
    server_ = std::move(queues.server);
    servers_ = queues.servers;
}

/// One replay.
class Cures::Pass {
  public:
    Pass(const Cures& cures, const Transformation& change, bool with_path)
        : cures_(cures),
          graph_(cures.graph_),
          change_(change),
          nodes_(static_cast<std::uint32_t>(graph_.nodes()) + change.further_nodes),
          weights_(cures.weights_),
          service_(cures.service_),
          late_(cures.late_),
          server_(cures.server_),
          before_(with_path ? nodes_ : 0, kNone) {
        check();
        edges_.reserve(graph_.arcs.size());
        for (std::uint32_t node = 0; node < graph_.nodes(); ++node) {
            for (auto i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i) {
                edges_.push_back({cures.queues(i) ? kGone : cures.sources_[i], node});
            }
        }
        change_messages();
        change_calls();
        permit();
        add_edges();
        take_no_servers();
    }

    std::optional<CuredTimes> times() {
        if (!replay()) {
            return std::nullopt;
        }
        CuredTimes found;
        found.enter_ps.reserve(graph_.enters.size());
        found.leave_ps.reserve(graph_.enters.size());
        for (std::size_t call = 0; call < graph_.enters.size(); ++call) {
            found.enter_ps.push_back(time_[graph_.enters[call]]);
            found.leave_ps.push_back(time_[graph_.leaves[call]]);
        }
        for (std::size_t l = 0; l < change_.longer_at_end_ps.size(); ++l) {
            if (graph_.programs[l].takes_part()) {
                time_[graph_.programs[l].finish] += change_.longer_at_end_ps[l];
            }
        }
        const auto longest = longest_program(graph_, [&](std::uint32_t node) { return time_[node]; });
        found.program_ps = longest.length_ps;
        if (!before_.empty() && longest.location != kNoLocation) {
            found.path = path_to(graph_.programs[index(longest.location)].finish);
        }
        return found;
    }

  private:
    struct Between {
        std::uint32_t source, target;
    };
    static constexpr std::uint32_t kGone = kNone - 1;  ///< source of an edge that is not there

    void check() const {
        const auto fits = [](const auto& column, std::size_t size) { return column.empty() || column.size() == size; };
        const auto calls = graph_.enters.size();
        const auto messages = graph_.steps.size();
        if (!fits(change_.longer_ps, calls) || !fits(change_.lasts_ps, calls) || !fits(change_.permitted, calls)) {
            throw std::invalid_argument("a transformation needs a value for each of the " + std::to_string(calls) +
                                        " calls");
        }
        if (!fits(change_.sent, messages) || !fits(change_.send_as, messages) || !fits(change_.receive_as, messages) ||
            !fits(change_.sent_from, messages) || !fits(change_.posted_by, messages) ||
            !fits(change_.received_by, messages) || !fits(change_.as_modelled, messages) ||
            !fits(change_.shorter_send_ps, messages) || !fits(change_.shorter_receive_ps, messages) ||
            !fits(change_.more_latency_ps, messages) || !fits(change_.more_service_ps, messages) ||
            !fits(change_.more_received_ps, messages) || !fits(change_.more_handled_ps, messages) ||
            !fits(change_.arrives_through, messages)) {
            throw std::invalid_argument("a transformation needs a value for each of the " + std::to_string(messages) +
                                        " messages");
        }
        if (!fits(change_.longer_at_end_ps, graph_.programs.size())) {
            throw std::invalid_argument("a transformation needs a value for each of the " +
                                        std::to_string(graph_.programs.size()) + " locations");
        }
        const auto within = [](std::span<const std::int32_t> of, std::size_t size) {
            return std::ranges::all_of(
                of, [&](std::int32_t one) { return one >= -1 && (one < 0 || static_cast<std::size_t>(one) < size); });
        };
        if (!within(change_.send_as, messages) || !within(change_.receive_as, messages) ||
            !within(change_.posted_by, calls) || !within(change_.sent_from, calls) ||
            !within(change_.received_by, calls)) {
            throw std::invalid_argument("a transformation refers to a call or a message that is not there");
        }
        const auto ends = 2 * calls + change_.further_nodes;
        const auto ends_within = [&](std::uint32_t end) { return end < ends; };
        if (change_.from.size() != change_.to.size() || change_.from.size() != change_.weight_ps.size() ||
            !std::ranges::all_of(change_.from, ends_within) || !std::ranges::all_of(change_.to, ends_within)) {
            throw std::invalid_argument("an edge of a transformation leads to a call that is not there");
        }
    }

    /// Back from a node along the latest source, from one end of a call to the next.
    [[nodiscard]] std::vector<CuredTimes::OnPath> path_to(std::uint32_t last) const {
        std::vector<std::uint32_t> call_of(nodes_, kNone);
        for (std::uint32_t call = 0; call < graph_.enters.size(); ++call) {
            call_of[graph_.enters[call]] = call_of[graph_.leaves[call]] = call;
        }
        std::vector<CuredTimes::OnPath> found;
        auto end = last;  // of the stretch
        while (call_of[end] == kNone && before_[end] != kNone) {
            end = before_[end];
        }
        for (auto node = before_[end]; end != kNone && call_of[end] != kNone; node = before_[end]) {
            while (node != kNone && call_of[node] == kNone && before_[node] != kNone) {
                node = before_[node];
            }
            const auto call = call_of[end];
            if (node != kNone && time_[node] < time_[end]) {
                const auto what = end == graph_.enters[call]    ? CuredStretch::code
                                  : node == graph_.enters[call] ? CuredStretch::work
                                                                : CuredStretch::wait;
                found.push_back({call, what, time_[node], time_[end]});
            }
            if (node == kNone) {
                break;
            }
            end = node;
        }
        std::ranges::reverse(found);
        return found;
    }

    [[nodiscard]] std::uint32_t node_of(std::uint32_t end) const noexcept {
        const auto call = end / 2;
        return call >= graph_.enters.size()
                   ? static_cast<std::uint32_t>(graph_.nodes() + end - 2 * graph_.enters.size())
               : end % 2 == 0 ? graph_.enters[call]
                              : graph_.leaves[call];
    }
    void add(std::uint32_t source, std::uint32_t target, std::int64_t weight) {
        edges_.push_back({source, target});
        weights_.push_back(weight);
    }
    /// Calls `body` for the edges from one node to another that are there.
    template <class Body>
    void between(std::uint32_t source, std::uint32_t target, Body&& body) {
        if (source == kNone || target == kNone) {
            return;
        }
        for (auto i = graph_.first_edge[target]; i < graph_.first_edge[target + 1]; ++i) {
            if (cures_.sources_[i] == source && edges_[i].source == source) {
                body(i);
            }
        }
    }
    void drop(std::uint32_t source, std::uint32_t target) {
        between(source, target, [&](std::uint32_t i) { edges_[i].source = kGone; });
    }
    /// The edge ends at another node.
    void lead(std::uint32_t source, std::uint32_t target, std::uint32_t instead) {
        between(source, target, [&](std::uint32_t i) {
            edges_[i].source = kGone;
            add(source, instead, weights_[i]);
        });
    }

    void change_messages() {
        const auto of = [](const auto& column, std::size_t i, auto otherwise) {
            return column.empty() ? otherwise : static_cast<decltype(otherwise)>(column[i]);
        };
        for (std::size_t i = 0; i < graph_.steps.size(); ++i) {
            const auto& one = graph_.steps[i];
            const auto sent = static_cast<Sent>(of(change_.sent, i, std::uint8_t{0}));
            if (of(change_.as_modelled, i, std::uint8_t{0}) != 0) {
                take_as_modelled(one);
            }
            if (const auto less = of(change_.shorter_send_ps, i, std::int64_t{0}); less != 0) {
                const auto leave = one.send_call == kNone ? kNone : graph_.leaves[one.send_call];
                for (const auto node : {one.origin, one.match, one.inject, leave}) {
                    shorten(node, kTermSend, less);
                }
            }
            if (const auto less = of(change_.shorter_receive_ps, i, std::int64_t{0}); less != 0) {
                const auto leave = one.received_call == kNone ? kNone : graph_.leaves[one.received_call];
                shorten(one.received, kTermReceive, less);
                if (leave != one.received) {
                    shorten(leave, kTermReceive, less);
                }
            }
            if (const auto more = of(change_.more_latency_ps, i, std::int64_t{0}); more != 0) {
                between(one.inject, one.first_byte, [&](std::uint32_t e) { weights_[e] += more; });
            }
            if (const auto more = of(change_.more_service_ps, i, std::int64_t{0}); more != 0) {
                for (const auto node : {one.inject, one.first_byte}) {
                    service_[node] = std::max<std::int64_t>(0, service_[node] + more);
                }
            }
            if (const auto more = of(change_.more_received_ps, i, std::int64_t{0}); more != 0) {
                between(one.first_byte, one.received, [&](std::uint32_t e) { weights_[e] += more; });
            }
            if (const auto more = of(change_.more_handled_ps, i, std::int64_t{0}); more != 0) {
                at_processor(one.received,
                             [&](std::uint32_t e) { weights_[e] = std::max<std::int64_t>(0, weights_[e] + more); });
            }
            arrive_through(one.first_byte, of(change_.arrives_through, i, std::int32_t{-1}));
            if (sent == Sent::never) {
                remove(one);
                continue;
            }
            if (const auto poster = of(change_.posted_by, i, std::int32_t{-1}); poster >= 0) {
                post(one, graph_.enters[static_cast<std::size_t>(poster)]);
            }
            if (sent == Sent::eager) {
                send_at_once(one);
            }
            if (const auto from = of(change_.sent_from, i, std::int32_t{-1}); from >= 0) {
                start(one, graph_.enters[static_cast<std::size_t>(from)]);
            }
            if (const auto as = of(change_.send_as, i, std::int32_t{-1}); as >= 0) {
                send_as(one, graph_.steps[static_cast<std::size_t>(as)]);
            }
            if (const auto as = of(change_.receive_as, i, std::int32_t{-1}); as >= 0) {
                const auto& other = graph_.steps[static_cast<std::size_t>(as)];
                lead(one.first_byte, one.received, other.received);
                if (other.post_call != kNone) {
                    post(one, graph_.enters[other.post_call]);
                }
            }
            if (const auto by = of(change_.received_by, i, std::int32_t{-1}); by >= 0) {
                lead(one.first_byte, one.received, graph_.leaves[static_cast<std::size_t>(by)]);
            }
        }
    }

    void take_as_modelled(const MessageSteps& one) {
        const auto modelled = [&](std::uint32_t i) {
            weights_[i] = std::min(weights_[i], graph_.costs[graph_.model_of(i)]);
        };
        between(one.inject, one.first_byte, modelled);
        between(one.inject, one.sent, modelled);
        between(one.first_byte, one.sent, modelled);
        between(one.first_byte, one.received, modelled);
        if (one.received_call != kNone) {
            between(one.received, graph_.leaves[one.received_call], modelled);
        }
        late_[one.inject] = late_[one.first_byte] = 0;
    }

    /// What of a node's time is a processor's handling of messages lasts less.
    void shorten(std::uint32_t node, std::uint8_t handling, std::int64_t less) {
        for (auto i = node == kNone ? 0 : graph_.first_edge[node]; node != kNone && i < graph_.first_edge[node + 1];
             ++i) {
            const auto& model = graph_.models[graph_.model_of(i)];
            if (edges_[i].source != kGone && model.kind == EdgeModel::Kind::message && (model.terms & handling) != 0) {
                weights_[i] = std::max<std::int64_t>(0, weights_[i] - less);
            }
        }
    }

    /// No one waits for the message, and no processor handles it.
    void remove(const MessageSteps& one) {
        drop(one.first_byte, one.received);
        drop(one.inject, one.sent);
        drop(one.first_byte, one.sent);
        drop(poster_of(one), one.sent);
        drop_hold(one);
        for (const auto node : {one.origin, one.received}) {
            at_processor(node, [&](std::uint32_t i) { weights_[i] = 0; });
        }
    }

    /// The call that sends it does not wait until its receiver takes it.
    void drop_hold(const MessageSteps& one) {
        if (one.taken != kNone) {
            drop(one.taken, graph_.leaves[one.send_call]);
        }
    }

    /// Calls `body` for the edges of what a processor does for a message that end at a node.
    template <class Body>
    void at_processor(std::uint32_t node, Body&& body) {
        for (auto i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i) {
            const auto& model = graph_.models[graph_.model_of(i)];
            if (edges_[i].source != kGone && model.kind == EdgeModel::Kind::message &&
                (model.terms == kTermReceive || model.terms == kTermSend)) {
                body(i);
            }
        }
    }

    /// The node's message is at another server, as `arrives_through` has it.
    void arrive_through(std::uint32_t node, std::int32_t number) {
        if (number == Transformation::kAsRecorded || server_[node] == kNone) {
            return;
        }
        if (number < Transformation::kAsRecorded) {
            server_[node] = cures_.server_[graph_.steps.at(static_cast<std::size_t>(-2 - number)).first_byte];
        } else {
            server_[node] = cures_.servers_ + static_cast<std::uint32_t>(number);
            further_servers_ = std::max(further_servers_, static_cast<std::uint32_t>(number) + 1);
        }
    }

    [[nodiscard]] std::uint32_t poster_of(const MessageSteps& one) const noexcept {
        return one.post_call == kNone ? kNone : graph_.enters[one.post_call];
    }

    /// The receive is posted, and the request answered, at another node.
    void post(const MessageSteps& one, std::uint32_t at) {
        if (one.match != kNone) {
            for (auto i = graph_.first_edge[one.match]; i < graph_.first_edge[one.match + 1]; ++i) {
                if (edges_[i].source != one.origin && edges_[i].source != kGone) {
                    edges_[i].source = at;
                }
            }
            return;
        }
        for (const auto node : {one.inject, one.sent}) {
            between(poster_of(one), node, [&](std::uint32_t i) { edges_[i].source = at; });
        }
    }

    void send_at_once(const MessageSteps& one) {
        if (one.match != kNone) {
            lead(one.origin, one.match, one.inject);
            for (auto i = graph_.first_edge[one.inject]; i < graph_.first_edge[one.inject + 1]; ++i) {
                edges_[i].source = kGone;
            }
        } else {
            drop(poster_of(one), one.inject);
        }
        drop(poster_of(one), one.sent);
        drop(one.inject, one.sent);
        drop(one.first_byte, one.sent);
        drop_hold(one);
    }

    /// Its sender starts it at another node, and has attended to its handshake by then.
    void start(const MessageSteps& one, std::uint32_t at) {
        const auto first = one.match == kNone ? one.inject : one.match;
        between(one.origin, first, [&](std::uint32_t i) { edges_[i].source = at; });
        if (one.match != kNone) {
            for (auto i = graph_.first_edge[one.inject]; i < graph_.first_edge[one.inject + 1]; ++i) {
                if (edges_[i].source != one.match && edges_[i].source != kGone) {
                    edges_[i].source = at;
                }
            }
        }
    }

    /// The message is started and completed at its sender where another one was.
    void send_as(const MessageSteps& one, const MessageSteps& other) {
        start(one, other.origin);
        if (one.sent != kNone && other.sent != kNone && one.sent != other.sent) {
            lead(one.inject, one.sent, other.sent);
            lead(one.first_byte, one.sent, other.sent);
            lead(poster_of(one), one.sent, other.sent);
        }
    }

    void change_calls() {
        for (std::size_t call = 0; call < change_.longer_ps.size(); ++call) {
            const auto node = graph_.enters[call];
            const auto more = change_.longer_ps[call];
            for (auto i = graph_.first_edge[node]; more != 0 && i < graph_.first_edge[node + 1]; ++i) {
                weights_[i] += cures_.compute_[i] != 0 ? more : 0;
            }
        }
        for (std::size_t call = 0; call < change_.lasts_ps.size(); ++call) {
            if (change_.lasts_ps[call] == Transformation::kAsRecorded) {
                continue;
            }
            const auto node = graph_.leaves[call];
            for (auto i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i) {
                edges_[i].source = kGone;
            }
            add(graph_.enters[call], node, change_.lasts_ps[call]);
        }
    }

    /// Neither a call nor a transfer waits for these permissions.
    void permit() {
        if (change_.permitted.empty()) {
            return;
        }
        std::vector<bool> permitted(graph_.nodes(), false);
        for (const auto& one : graph_.grants) {
            permitted[one.node] = change_.permitted[graph_.first_call[index(one.location)] + one.call] != 0;
        }
        for (auto& edge : edges_) {
            if (edge.source < graph_.nodes() && permitted[edge.source]) {
                edge.source = kGone;
            }
        }
    }

    void add_edges() {
        for (std::size_t i = 0; i < change_.from.size(); ++i) {
            add(node_of(change_.from[i]), node_of(change_.to[i]), change_.weight_ps[i]);
        }
    }

    /// Steps behind which there is no call any more occupy no server.
    void take_no_servers() {
        std::vector<std::uint32_t> followers(nodes_, 0);
        std::vector<bool> event(nodes_, false);
        for (const auto* nodes : {&graph_.enters, &graph_.leaves}) {
            for (const auto node : *nodes) {
                event[node] = true;
            }
        }
        for (const auto& edge : edges_) {
            if (edge.source < kGone) {
                ++followers[edge.source];
            }
        }
        std::vector<std::uint32_t> last;
        for (std::uint32_t node = 0; node < graph_.nodes(); ++node) {
            if (followers[node] == 0 && !event[node]) {
                last.push_back(node);
            }
        }
        // Edges that were added lead from and to calls, or from a step that has its own further edge.
        while (!last.empty()) {
            const auto node = last.back();
            last.pop_back();
            service_[node] = 0;
            for (auto i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i) {
                const auto source = edges_[i].source;
                if (source < kGone && --followers[source] == 0 && source < graph_.nodes() && !event[source]) {
                    last.push_back(source);
                }
            }
        }
    }

    /// Every node once all that it waits for has its time; of those at a server, the first to arrive.
    bool replay() {
        time_.assign(nodes_, INT64_MIN);
        for (std::uint32_t i = 0; i < edges_.size(); ++i) {
            if (edges_[i].source == kNone) {
                time_[edges_[i].target] = weights_[i];
            }
        }
        const Followers followers(nodes_, static_cast<std::uint32_t>(edges_.size()), [&](std::uint32_t i) {
            return std::pair{edges_[i].source == kGone ? kNone : edges_[i].source, edges_[i].target};
        });
        servers_.assign(cures_.servers_ + further_servers_, {});
        Schedule<Arrival> schedule(followers.sources);
        const auto arrive = [&](std::uint32_t node) {
            if (node >= graph_.nodes() || server_[node] == kNone) {
                schedule.ready(node);
            } else {
                schedule.at({time_[node] + late_[node], node});
            }
        };
        for (std::uint32_t node = 0; node < nodes_; ++node) {
            if (schedule.waits(node) == 0) {
                // Of a message that no one sends: it has no time, and none waits for it.
                time_[node] = time_[node] == INT64_MIN ? INT64_MIN / 4 : time_[node];
                arrive(node);
            }
        }
        const auto settle = [&](std::uint32_t node) {
            followers.for_each(node, [&](std::uint32_t edge) {
                const auto target = edges_[edge].target;
                const auto at = time_[node] + weights_[edge];
                if (at > time_[target]) {
                    time_[target] = at;
                    follow(target, node);
                }
                if (schedule.arrive(target)) {
                    arrive(target);
                }
            });
        };
        const auto happen = [&](const Arrival& arrival) {
            serve(arrival.second);
            schedule.ready(arrival.second);
        };
        return schedule.run(settle, happen) == nodes_;
    }

    void follow(std::uint32_t node, std::uint32_t source) noexcept {
        if (!before_.empty()) {
            before_[node] = source;
        }
    }

    void serve(std::uint32_t node) {
        auto& server = servers_[server_[node]];
        const auto before = server.last;
        const auto start = server.serve(node, time_[node], service_[node]);
        if (start > time_[node]) {
            time_[node] = start;
            follow(node, before);
        }
    }

    using Arrival = std::pair<std::int64_t, std::uint32_t>;

    const Cures& cures_;
    const Graph& graph_;
    const Transformation& change_;
    std::uint32_t nodes_;
    std::vector<std::int64_t> weights_;         // by edge
    std::vector<std::int64_t> service_, late_;  // by node
    std::vector<std::uint32_t> server_;         // likewise
    std::uint32_t further_servers_ = 0;
    std::vector<Between> edges_;  // the graph's in their order, then further ones
    std::vector<std::int64_t> time_;
    std::vector<std::uint32_t> before_;  // by node: what its time follows from; empty: not requested
    std::vector<Server> servers_;
};

std::optional<CuredTimes> Cures::replay(const Transformation& change, bool with_path) const {
    return Pass(*this, change, with_path).times();
}

}  // namespace logpost::replay
