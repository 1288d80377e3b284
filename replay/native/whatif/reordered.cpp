#include "replay/native/whatif/reordered.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace logpost::replay {
namespace {

constexpr std::size_t kRecorded = 0;
constexpr std::size_t kPlanned = 1;

class Reordering {
  public:
    Reordering(const Graph& graph, const Parameters& machine, const Setting& setting)
        : graph_(graph),
          weights_(graph, machine, std::vector<Setting>{{.machine = machine}, setting}),
          sources_(sources_of(graph)) {
        find_servers();
    }

    std::optional<Graph> graph(bool as_recorded) {
        late_.assign(nodes(), 0);
        if (as_recorded) {
            find_lateness();
        }
        replay();
        if (!changed_) {
            return std::nullopt;
        }
        return built();
    }

  private:
    struct Server {
        std::uint32_t last = kNone;  // node: whom it has taken last
        std::int64_t free = INT64_MIN;
    };

    [[nodiscard]] bool queues(std::uint32_t edge) const noexcept {
        return is_queue(graph_.models[graph_.model_of(edge)]);
    }
    [[nodiscard]] std::uint32_t nodes() const noexcept { return static_cast<std::uint32_t>(graph_.nodes()); }
    template <class Body>
    void for_each_edge(std::uint32_t node, Body&& body) const {
        for (auto i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i) {
            body(i);
        }
    }

    /// A server is a chain of queue edges. Its last customer takes it for as long as one message of its class does.
    void find_servers() {
        server_.assign(nodes(), kNone);
        service_.assign(nodes(), kNone);
        before_.assign(nodes(), kNone);
        for (std::uint32_t node = 0; node < nodes(); ++node) {
            for_each_edge(node, [&](std::uint32_t i) {
                if (!queues(i)) {
                    return;
                }
                const auto source = sources_[i];
                if (server_[source] == kNone) {
                    server_[source] = static_cast<std::uint32_t>(servers_.size());
                    servers_.emplace_back();
                }
                server_[node] = server_[source];
                service_[source] = graph_.model_of(i);
                before_[node] = source;
            });
        }
        std::vector<std::uint32_t> of_class(graph_.messages.size(), kNone);
        for (std::uint32_t m = 0; m < graph_.models.size(); ++m) {
            if (is_queue(graph_.models[m]) && graph_.models[m].count == 1) {
                of_class[graph_.models[m].message] = m;
            }
        }
        for (std::uint32_t i = 0; i < graph_.arcs.size(); ++i) {
            const auto source = sources_[i];
            const auto& model = graph_.models[graph_.model_of(i)];
            if (source != kNone && server_[source] != kNone && service_[source] == kNone && model.terms != 0) {
                service_[source] = of_class[model.message];
            }
        }
    }

    /// By how much a customer comes later than the model has it come on the recorded machine: not before those that
    /// were recorded before it.
    void find_lateness() {
        std::vector<std::int64_t> time(nodes());
        std::vector<std::int64_t> latest(servers_.size(), INT64_MIN);
        for (std::uint32_t node = 0; node < nodes(); ++node) {
            std::int64_t arrival = INT64_MIN;
            std::int64_t served = INT64_MIN;
            for_each_edge(node, [&](std::uint32_t i) {
                const auto at = (sources_[i] == kNone ? 0 : time[sources_[i]]) + weights_.weight(i, kRecorded);
                (queues(i) ? served : arrival) = std::max(queues(i) ? served : arrival, at);
            });
            time[node] = std::max(arrival, served);
            if (server_[node] != kNone) {
                auto& last = latest[server_[node]];
                last = std::max(last, arrival);
                late_[node] = last - arrival;
            }
        }
    }

    /// Every node once all that it waits for has its time; of those at a NIC, who comes first.
    void replay() {
        std::vector<std::uint32_t> first(nodes() + 1), waits(nodes());
        for (std::uint32_t node = 0; node < nodes(); ++node) {
            for_each_edge(node, [&](std::uint32_t i) {
                if (sources_[i] != kNone && !queues(i)) {
                    ++first[sources_[i] + 1];
                    ++waits[node];
                }
            });
        }
        std::partial_sum(first.begin(), first.end(), first.begin());
        std::vector<std::pair<std::uint32_t, std::uint32_t>> outs(first.back());  // node and edge, by source
        std::vector<std::int64_t> time(nodes(), INT64_MIN);
        {
            auto next = first;
            for (std::uint32_t node = 0; node < nodes(); ++node) {
                for_each_edge(node, [&](std::uint32_t i) {
                    if (sources_[i] == kNone) {
                        time[node] = weights_.weight(i, kPlanned);
                    } else if (!queues(i)) {
                        outs[next[sources_[i]]++] = {node, i};
                    }
                });
            }
        }
        using Customer = std::tuple<std::int64_t, std::uint32_t>;  // when it comes, node
        std::priority_queue<Customer, std::vector<Customer>, std::greater<>> coming;
        std::vector<std::uint32_t> ready;
        const auto come = [&](std::uint32_t node) {
            if (server_[node] == kNone) {
                ready.push_back(node);
            } else {
                coming.emplace(time[node] + late_[node], node);
            }
        };
        for (std::uint32_t node = 0; node < nodes(); ++node) {
            if (waits[node] == 0) {
                come(node);
            }
        }
        order_.reserve(nodes());
        while (!ready.empty() || !coming.empty()) {
            std::uint32_t node = kNone;
            if (!ready.empty()) {
                node = ready.back();
                ready.pop_back();
            } else {
                node = std::get<1>(coming.top());
                coming.pop();
                serve(node, time[node]);
            }
            order_.push_back(node);
            for (auto k = first[node]; k < first[node + 1]; ++k) {
                const auto [target, edge] = outs[k];
                time[target] = std::max(time[target], time[node] + weights_.weight(edge, kPlanned));
                if (--waits[target] == 0) {
                    come(target);
                }
            }
        }
    }

    void serve(std::uint32_t node, std::int64_t& time) {
        auto& server = servers_[server_[node]];
        const auto service =
            service_[node] == kNone
                ? 0
                : weights_.weight(Edge{node, service_[node], graph_.costs[service_[node]]}, kPlanned, 0);
        time = std::max(time, server.free);
        changed_ = changed_ || before_[node] != server.last;
        before_[node] = server.last;
        server = {node, service > 0 ? time + service : INT64_MIN};  // who takes it for no time holds nobody up
    }

    [[nodiscard]] Graph built() const {
        Graph found;
        found.models = graph_.models;
        found.costs = graph_.costs;
        found.messages = graph_.messages;
        found.first_call = graph_.first_call;
        found.rebuilt = graph_.rebuilt;
        found.arcs.reserve(graph_.arcs.size());
        found.own_weights.reserve(graph_.own_weights.size());
        found.own_models.reserve(graph_.own_models.size());
        std::vector<std::uint32_t> place(nodes());
        for (std::uint32_t at = 0; at < nodes(); ++at) {
            place[order_[at]] = at;
        }
        for (const auto node : order_) {
            found.first_edge.push_back(static_cast<std::uint32_t>(found.arcs.size()));
            for_each_edge(node, [&](std::uint32_t i) {
                if (queues(i)) {
                    return;
                }
                const auto edge = graph_.edge(i);
                found.arcs.emplace_back(sources_[i] == kNone ? kNone : place[sources_[i]], edge.model);
                if (graph_.arcs[i].row() >= graph_.models.size()) {
                    found.own(static_cast<std::uint32_t>(found.arcs.size() - 1), edge.weight);
                }
            });
            if (const auto before = before_[node]; before != kNone && service_[before] != kNone) {
                found.arcs.emplace_back(place[before], service_[before]);
            }
        }
        found.first_edge.push_back(static_cast<std::uint32_t>(found.arcs.size()));
        const auto moved = [&](const std::vector<std::uint32_t>& from, std::vector<std::uint32_t>& to) {
            std::ranges::transform(from, std::back_inserter(to),
                                   [&](std::uint32_t node) { return node == kNone ? kNone : place[node]; });
        };
        moved(graph_.begins, found.begins);
        moved(graph_.ends, found.ends);
        moved(graph_.enters, found.enters);
        moved(graph_.leaves, found.leaves);
        moved(graph_.started, found.started);
        moved(graph_.stopping, found.stopping);
        assign_slots(found);
        return found;
    }

    const Graph& graph_;
    Weights weights_;
    std::vector<std::uint32_t> sources_;  // by edge: node; kNone: none
    std::vector<Server> servers_;
    std::vector<std::uint32_t> server_;   // by node: which one it queues at; kNone: none
    std::vector<std::uint32_t> service_;  // by node: model of how long it takes it
    std::vector<std::uint32_t> before_;   // by node: who is served before it
    std::vector<std::int64_t> late_;      // by node
    std::vector<std::uint32_t> order_;    // of the nodes
    bool changed_ = false;
};

}  // namespace

std::optional<Graph> reordered(const Graph& graph, const Parameters& machine, const Setting& setting,
                               bool as_recorded) {
    if (!graph.crossings.empty()) {
        return std::nullopt;
    }
    return Reordering(graph, machine, setting).graph(as_recorded);
}

}  // namespace logpost::replay
