#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "replay/native/endpoints.hpp"
#include "replay/native/split/message_facts.hpp"
#include "replay/native/whatif/draft.hpp"

namespace logpost::replay {
namespace {

/// The first call from `first` to `last` that answers a handshake which came at `time`; `last` if none does before.
std::uint32_t answering_call(const Program& program, const Timeline& timeline, std::uint32_t first, std::uint32_t last,
                             std::int64_t time) noexcept {
    const auto open = timeline.calls.partition_point([&](const Call& call) { return call.leave_ps < time; });
    auto at = std::clamp(static_cast<std::uint32_t>(open), first, last);
    while (at < last && !answers(program.kind(timeline.calls[at]))) {
        ++at;
    }
    return at;
}

class Builder {
  public:
    Builder(const Program& program, const Parameters& machine, const Parameters& planned)
        : program_(program), planned_(planned), draft_(machine), locations_(program.timelines.size()) {}

    Graph build() {
        add_calls();
        for (std::size_t l = 0; l < locations_; ++l) {
            add_sends(l);
        }
        for (std::size_t l = 0; l < locations_; ++l) {
            add_receives(l);
        }
        add_collectives(draft_, program_, enters_, leaves_);
        for (std::size_t l = 0; l < locations_; ++l) {
            add_own_edges(l);
        }
        auto order = first_order();
        add_queue(order, sending_);
        order.update(draft_);
        add_queue(order, receiving_);
        order.update(draft_);
        add_processors(order);
        order.update(draft_);
        return calibrated(order);
    }

  private:
    /// A message at a NIC, or at its receiver's processor: a node, and how long the server is taken.
    struct Customer {
        std::uint32_t node;
        std::uint32_t service;  // model
    };
    struct Customers {
        std::vector<Customer> between_nodes, within_node;
    };
    /// Where what follows a message's sending starts: after the overhead if `ready`, else before it.
    struct Origin {
        std::uint32_t node = kNone;
        bool ready = false;
    };
    struct Served {
        std::uint32_t call;
        Customer customer;
    };

    [[nodiscard]] NodeOrder first_order() const {
        try {
            return NodeOrder(draft_);
        } catch (const Cycle& cycle) {
            throw CycleError("the recorded calls wait for each other in a circle: " + told(cycle));
        }
    }

    /// The calls of a cycle: as many as one reads.
    [[nodiscard]] std::string told(const Cycle& cycle) const {
        constexpr std::size_t kMost = 8;
        std::vector<std::string> calls;
        for (const auto node : cycle.nodes) {
            for (std::size_t l = 0; l < locations_; ++l) {
                for (const auto* nodes : {&enters_[l], &leaves_[l]}) {
                    const auto at = std::ranges::lower_bound(*nodes, node);
                    if (at != nodes->end() && *at == node) {
                        auto text = "location " + std::to_string(l) + ", call " + std::to_string(at - nodes->begin());
                        if (calls.empty() || calls.back() != text) {
                            calls.push_back(std::move(text));
                        }
                    }
                }
            }
        }
        std::string text;
        for (std::size_t i = 0; i < std::min(calls.size(), kMost); ++i) {
            text += (i == 0 ? "" : " -> ") + calls[i];
        }
        return text + (calls.size() > kMost ? " -> ..." : "");
    }

    [[nodiscard]] bool takes_part(std::size_t location) const noexcept { return program_.accounted[location] != 0; }

    /// Whether a receive and its send are in the graph.
    [[nodiscard]] bool followed(std::size_t location, const MessageEnd& receive) const noexcept {
        return receive.match != kNone && receive.complete_call != kNone && takes_part(location) &&
               takes_part(static_cast<std::size_t>(receive.peer));
    }

    void add_calls() {
        classes_.resize(locations_);
        enters_.resize(locations_);
        leaves_.resize(locations_);
        begins_.assign(locations_, kNone);
        ends_.assign(locations_, kNone);
        origins_.resize(locations_);
        bases_.resize(locations_);
        completions_.resize(locations_);
        sending_.resize(locations_);
        receiving_.resize(locations_);
        served_.resize(locations_);
        for (std::size_t l = 0; l < locations_; ++l) {
            if (!takes_part(l)) {
                continue;
            }
            const auto& timeline = program_.timelines[l];
            auto last = begins_[l] = draft_.add_node(timeline.first_ps);
            const auto computes = [&](std::int32_t callpath) {
                return draft_.model(
                    {.kind = EdgeModel::Kind::compute, .location = static_cast<std::int32_t>(l), .callpath = callpath});
            };
            timeline.calls.for_each([&](std::size_t, const Call& call) {
                const auto enter = draft_.add_node(call.enter_ps);
                draft_.add_edge(last, enter, computes(call.callpath));
                last = draft_.add_node(call.leave_ps);
                enters_[l].push_back(enter);
                leaves_[l].push_back(last);
            });
            ends_[l] = draft_.add_node(timeline.last_ps);
            draft_.add_edge(last, ends_[l], computes(-1));
            completions_[l].assign(timeline.calls.size(), 0);
            timeline.receives.for_each([&](std::size_t, const MessageEnd& receive) {
                if (followed(l, receive)) {
                    ++completions_[l][receive.complete_call];
                }
            });
        }
    }

    [[nodiscard]] Blocks blocks(const Timeline& sender, std::uint32_t send, std::size_t& next) const noexcept {
        while (next < sender.layouts.size() && sender.layouts[next].send < send) {
            ++next;
        }
        if (next == sender.layouts.size() || sender.layouts[next].send != send) {
            return {};
        }
        const auto& layout = program_.layouts[static_cast<std::size_t>(sender.layouts[next].layout)];
        return layout.blocks <= 1 && layout.stride_bytes == 0
                   ? Blocks{}
                   : Blocks{.block_bytes = layout.block_bytes, .stride_bytes = layout.stride_bytes};
    }

    /// What the calls of a location start. A call that starts several messages, or one beside receiving, does so one
    /// after the other.
    void add_sends(std::size_t l) {
        if (!takes_part(l)) {
            return;
        }
        const auto& timeline = program_.timelines[l];
        bases_[l] = enters_[l];
        origins_[l].resize(timeline.sends.size());
        classes_[l].assign(timeline.sends.size(), kNone);
        std::vector<std::uint32_t> starts(timeline.calls.size());
        timeline.sends.for_each([&](std::size_t, const MessageEnd& send) { ++starts[send.call]; });
        std::size_t layout = 0;
        for (std::uint32_t i = 0; i < timeline.sends.size(); ++i) {
            const auto& send = timeline.sends[i];
            if (send.peer == kUndefined) {
                continue;
            }
            const auto here = static_cast<std::int32_t>(l);
            const auto message = draft_.message_class({.bytes = send.bytes,
                                                       .layout = blocks(timeline, i, layout),
                                                       .locality = program_.placement.between(here, send.peer),
                                                       .hops = program_.placement.hops(here, send.peer)});
            classes_[l][i] = message;
            const auto overhead = draft_.message_model(message, kTermSend);
            if (starts[send.call] == 1 && completions_[l][send.call] == 0) {
                draft_.add_edge(enters_[l][send.call], leaves_[l][send.call], overhead);
                origins_[l][i] = {enters_[l][send.call], false};
                bases_[l][send.call] = kNone;  // the edge is there
            } else {
                const auto ready = draft_.add_node(kUnobserved);
                draft_.add_edge(bases_[l][send.call], ready, overhead);
                bases_[l][send.call] = ready;
                origins_[l][i] = {ready, true};
            }
        }
    }

    void add_receives(std::size_t l) {
        const auto& timeline = program_.timelines[l];
        for (std::uint32_t i = 0; i < timeline.receives.size(); ++i) {
            const auto& receive = timeline.receives[i];
            if (followed(l, receive)) {
                add_message(l, i);
            }
        }
    }

    void add_message(std::size_t l, std::uint32_t index) {
        const auto& receive = program_.timelines[l].receives[index];
        const auto s = static_cast<std::size_t>(receive.peer);
        const auto& sender = program_.timelines[s];
        const auto& send = sender.sends[receive.match];
        const auto message = classes_[s][receive.match];
        const auto origin = origins_[s][receive.match];
        const int overhead = origin.ready ? 0 : kTermSend;
        const auto& kind = draft_.messages[message];
        const MessageId id{static_cast<std::int32_t>(l), index};
        const auto planned = message_cost(planned_, kind.locality, kind.bytes, kind.layout, 1, kind.hops);
        const bool recorded = is_rendezvous(program_, id, draft_.cost(message).rendezvous);
        const bool asynchronous = draft_.machine.asynchronous_progress;
        bool rendezvous = recorded;
        if (planned.rendezvous != draft_.cost(message).rendezvous) {
            const auto mode = program_.kind(sender.calls[send.call]);
            rendezvous = mode == CallKind::send_synchronous || (mode != CallKind::send_buffered && planned.rendezvous);
        }
        const bool changed = rendezvous != recorded || (rendezvous && planned_.asynchronous_progress != asynchronous);
        rebuilt_ += changed ? 1 : 0;

        const auto inject = draft_.add_node(kUnobserved);
        if (rendezvous) {
            handshake(l, receive, send, message, origin, inject);
        } else {
            draft_.add_edge(origin.node, inject, draft_.message_model(message, overhead));
        }
        const auto first_byte = draft_.add_node(kUnobserved);
        draft_.add_edge(inject, first_byte, draft_.message_model(message, kTermLatency));
        const auto complete = leaves_[l][receive.complete_call];
        const auto completion = draft_.message_model(message, kTermSerialization | kTermReceive);
        const auto service = draft_.message_model(message, kTermReceive);
        if (completions_[l][receive.complete_call] == 1) {
            draft_.add_edge(first_byte, complete, completion);
            draft_.add_edge(bases_[l][receive.complete_call], complete, service);
        } else {
            const auto served = draft_.add_node(kUnobserved);
            draft_.add_edge(first_byte, served, completion);
            draft_.add_edge(bases_[l][receive.complete_call], served, service);
            draft_.add_edge(served, complete, Draft::kMeasured);
            served_[l].push_back({receive.complete_call, {served, service}});
        }
        const auto busy = draft_.message_model(message, kTermService);
        const bool far = kind.locality == Locality::other_node;
        (far ? sending_[s].between_nodes : sending_[s].within_node).push_back({inject, busy});
        (far ? receiving_[l].between_nodes : receiving_[l].within_node).push_back({first_byte, busy});
        if (rendezvous && send.complete_call != kNone) {
            draft_.add_edge(inject, leaves_[s][send.complete_call], draft_.message_model(message, kTermSerialization));
        }
        // A probe right before the receive waits for the same message.
        const auto& calls = program_.timelines[l].calls;
        if (!rendezvous && receive.call == receive.complete_call && receive.call > 0 &&
            program_.kind(calls[receive.call - 1]) == CallKind::probe &&
            calls[receive.call - 1].leave_ps > sender.calls[send.call].enter_ps) {
            draft_.add_edge(first_byte, leaves_[l][receive.call - 1],
                            draft_.message_model(message, kTermSerialization));
        }
        if (changed) {
            draft_.fresh[complete] = 1;
            draft_.fresh[leaves_[s][send.complete_call == kNone ? send.call : send.complete_call]] = 1;
        }
    }

    /// Request, match, clear-to-send: the receiver answers in the call that the recorded times say, and so does the
    /// sender; with asynchronous progress the posted receive and the send suffice.
    void handshake(std::size_t l, const MessageEnd& receive, const MessageEnd& send, std::uint32_t message,
                   Origin origin, std::uint32_t inject) {
        const auto s = static_cast<std::size_t>(receive.peer);
        const auto& receiver = program_.timelines[l];
        const auto& sender = program_.timelines[s];
        const auto& cost = draft_.cost(message);
        const int overhead = origin.ready ? 0 : kTermSend;
        const auto match = draft_.add_node(kUnobserved);
        if (planned_.asynchronous_progress) {
            draft_.add_edge(origin.node, match, draft_.message_model(message, overhead | kTermLatency));
            draft_.add_edge(enters_[l][receive.call], match, Draft::kMeasured);
            draft_.add_edge(match, inject, draft_.message_model(message, kTermLatency));
            return;
        }
        const auto sent =
            send.complete_call == kNone ? static_cast<std::uint32_t>(sender.calls.size() - 1) : send.complete_call;
        const auto request = std::max(receiver.calls[receive.call].enter_ps,
                                      sender.calls[send.call].enter_ps + cost.o_s + cost.l_mw / 2 + cost.L);
        auto answer = answering_call(program_, receiver, receive.call, receive.complete_call, request);
        if (receiver.calls[answer].enter_ps >= sender.calls[sent].leave_ps) {
            answer = receive.call;  // the sender was done before: it was answered earlier than the calls tell
        }
        draft_.add_edge(origin.node, match, draft_.message_model(message, overhead | kTermLatency | kTermControl));
        draft_.add_edge(enters_[l][answer], match, draft_.message_model(message, kTermControl));
        const auto clear = std::max(request, receiver.calls[answer].enter_ps) + cost.o_control + cost.L;
        const auto reply = answering_call(program_, sender, send.call, sent, clear);
        draft_.add_edge(match, inject, draft_.message_model(message, kTermLatency | kTermControl));
        if (reply != send.call) {
            draft_.add_edge(enters_[s][reply], inject, draft_.message_model(message, kTermControl));
        }
    }

    /// From each call's enter, or the last thing that it started, to its leave.
    void add_own_edges(std::size_t l) {
        for (std::size_t call = 0; call < enters_[l].size(); ++call) {
            const auto base = bases_[l][call];
            if (base != kNone && (completions_[l][call] == 0 || base != enters_[l][call])) {
                draft_.add_edge(base, leaves_[l][call], Draft::kMeasured);
            }
        }
    }

    /// Messages queue at an endpoint: within a node at the location's own, between nodes at the NIC.
    void add_queue(const NodeOrder& order, const std::vector<Customers>& customers) {
        for (const auto& here : customers) {
            add_server(order, here.within_node);
        }
        for (const auto& group : endpoint_groups(program_, draft_.machine.nics_per_node)) {
            std::vector<Customer> all;
            for (const auto location : group) {
                const auto& here = customers[location].between_nodes;
                all.insert(all.end(), here.begin(), here.end());
            }
            add_server(order, std::move(all));
        }
    }

    /// A server takes its customers in the order in which they came.
    void add_server(const NodeOrder& order, std::vector<Customer> customers) {
        std::ranges::sort(customers,
                          [&](const Customer& a, const Customer& b) { return order.before(a.node, b.node); });
        for (std::size_t i = 1; i < customers.size(); ++i) {
            draft_.add_edge(customers[i - 1].node, customers[i].node, customers[i - 1].service);
        }
    }

    /// A call that completes several receives does so one after the other.
    void add_processors(const NodeOrder& order) {
        for (auto& served : served_) {
            std::ranges::sort(served, [&](const Served& a, const Served& b) {
                return a.call != b.call ? a.call < b.call : order.before(a.customer.node, b.customer.node);
            });
            for (std::size_t i = 1; i < served.size(); ++i) {
                if (served[i].call == served[i - 1].call) {
                    // Its own completion, once the processor is free of the one before.
                    draft_.add_edge(served[i - 1].customer.node, served[i].customer.node, served[i].customer.service);
                }
            }
        }
    }

    Graph calibrated(const NodeOrder& order) {
        const ByTarget incoming(draft_);
        const auto nodes = order.nodes();
        Graph graph;
        std::vector<std::uint32_t> place(nodes.size());
        for (std::uint32_t i = 0; i < nodes.size(); ++i) {
            place[nodes[i]] = i;
        }
        graph.first_edge.reserve(nodes.size() + 1);
        graph.edges.reserve(draft_.edges.size() + locations_);
        std::vector<std::int64_t> time(nodes.size());  // by place
        for (std::uint32_t i = 0; i < nodes.size(); ++i) {
            graph.first_edge.push_back(static_cast<std::uint32_t>(graph.edges.size()));
            const auto node = nodes[i];
            time[i] = calibrate(graph, incoming, node, place, time);
        }
        graph.first_edge.push_back(static_cast<std::uint32_t>(graph.edges.size()));
        graph.models = std::move(draft_.models);
        graph.messages = std::move(draft_.messages);
        graph.rebuilt = rebuilt_;
        const auto placed = [&](std::uint32_t node) { return node == kNone ? kNone : place[node]; };
        std::uint32_t calls = 0;
        for (std::size_t l = 0; l < locations_; ++l) {
            graph.begins.push_back(placed(begins_[l]));
            graph.ends.push_back(placed(ends_[l]));
            graph.first_call.push_back(calls);
            for (std::size_t call = 0; call < enters_[l].size(); ++call) {
                graph.enters.push_back(place[enters_[l][call]]);
                graph.leaves.push_back(place[leaves_[l][call]]);
            }
            calls += static_cast<std::uint32_t>(enters_[l].size());
        }
        graph.first_call.push_back(calls);
        assign_slots(graph);
        return graph;
    }

    /// Adds the node's edges to the graph; the node's time. The binding edge of what was measured takes the residual.
    std::int64_t calibrate(Graph& graph, const ByTarget& incoming, std::uint32_t node,
                           const std::vector<std::uint32_t>& place, const std::vector<std::int64_t>& time) const {
        const auto begin = incoming.first[node];
        const auto end = incoming.first[node + 1];
        const auto measured = draft_.measured[node];
        if (begin == end) {
            graph.edges.push_back({kNone, Draft::kMeasured, measured});
            return measured;
        }
        std::int64_t latest = kUnobserved;
        std::size_t binding = 0;
        for (auto i = begin; i < end; ++i) {
            const auto& edge = draft_.edges[incoming.edge[i]];
            const auto source = place[edge.source];
            const auto weight = draft_.costs[edge.model];
            if (time[source] + weight > latest) {
                latest = time[source] + weight;
                binding = graph.edges.size();
            }
            graph.edges.push_back({source, edge.model, weight});
        }
        if (measured == kUnobserved) {
            return latest;
        }
        if (draft_.fresh[node] != 0) {
            return measured;
        }
        for (auto i = graph.edges.size() - (end - begin); i < graph.edges.size(); ++i) {
            auto& edge = graph.edges[i];
            const auto whole = measured - time[edge.source];
            edge.weight = i == binding ? whole : std::min(edge.weight, whole);
        }
        return measured;
    }

    const Program& program_;
    const Parameters& planned_;
    Draft draft_;
    std::size_t locations_;
    std::vector<std::vector<std::uint32_t>> enters_, leaves_;  // node by [location][call]
    std::vector<std::uint32_t> begins_, ends_;                 // node by location
    std::vector<std::vector<std::uint32_t>> bases_;            // node by [location][call]: what its completions follow
    std::vector<std::vector<std::uint32_t>> completions_;      // receives by [location][call]
    std::vector<std::vector<std::uint32_t>> classes_;          // message class by [location][send]
    std::vector<std::vector<Origin>> origins_;                 // by [location][send]
    std::vector<Customers> sending_, receiving_;               // by location
    std::vector<std::vector<Served>> served_;                  // by location
    std::uint64_t rebuilt_ = 0;
};

}  // namespace

Graph build_graph(const Program& program, const Parameters& machine, const Parameters& planned) {
    return Builder(program, machine, planned).build();
}

}  // namespace logpost::replay
