#include <algorithm>
#include <bit>
#include <numeric>

#include "replay/native/nearly_sorted.hpp"
#include "replay/native/whatif/draft.hpp"
#include "replay/native/whatif/topological.hpp"

namespace logpost::replay {
namespace {

constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15ULL;

std::size_t mixed(std::uint64_t sum, std::uint64_t value) noexcept {
    return (std::rotl(sum, 23) ^ value) * kOdd;
}

}  // namespace

std::size_t Draft::HashModel::operator()(const EdgeModel& model) const noexcept {
    std::uint64_t sum =
        static_cast<std::uint64_t>(model.kind) << 24U | static_cast<std::uint64_t>(model.terms) << 16U | model.count;
    sum = mixed(sum * kOdd, model.message);
    sum = mixed(sum, static_cast<std::uint32_t>(model.location));
    return mixed(sum, static_cast<std::uint32_t>(model.callpath));
}

std::size_t Draft::HashMessage::operator()(const MessageClass& message) const noexcept {
    std::uint64_t sum = mixed(message.bytes * kOdd, message.layout.block_bytes);
    sum = mixed(sum, static_cast<std::uint64_t>(message.layout.stride_bytes));
    for (const auto& [locality, hops] : {message.recorded, message.planned}) {
        sum = mixed(sum, static_cast<std::uint64_t>(locality) << 32U | static_cast<std::uint32_t>(hops));
    }
    return static_cast<std::size_t>(sum);
}

Draft::Draft(const Parameters& of, const Placement& where, const Placement& elsewhere)
    : machine(of), recorded(where), planned(elsewhere) {
    model({.kind = EdgeModel::Kind::measured});  // kMeasured
}

std::uint32_t Draft::message_class(const MessageClass& message) {
    const auto [place, added] = message_index_.try_emplace(message, static_cast<std::uint32_t>(messages.size()));
    if (added) {
        messages.push_back(message);
        const auto& [locality, hops] = message.recorded;
        class_costs.push_back(message_cost(machine, locality, message.bytes, message.layout, 1, hops));
    }
    return place->second;
}

std::uint32_t Draft::message_class(std::int32_t from, std::int32_t to, std::uint64_t bytes, const Blocks& layout) {
    return message_class({.bytes = bytes,
                          .layout = layout,
                          .recorded = {.locality = recorded.between(from, to), .hops = recorded.hops(from, to)},
                          .planned = {.locality = planned.between(from, to), .hops = planned.hops(from, to)}});
}

std::uint32_t Draft::model(const EdgeModel& given) {
    const auto [place, added] = model_index_.try_emplace(given, static_cast<std::uint32_t>(models.size()));
    if (added) {
        models.push_back(given);
        costs.push_back(given.terms == 0 ? 0 : edge_cost(given, class_costs[given.message]));
    }
    return place->second;
}

void Draft::move_edges(Graph& graph, std::span<const std::uint32_t> place, std::vector<std::uint32_t>* moved_to) {
    auto& first = graph.first_edge;
    first.assign(place.size() + 1, 0);
    for (const auto& edge : edges) {
        ++first[place[edge.target]];
    }
    for (std::uint32_t node = 0; node < place.size(); ++node) {
        if (first[place[node]] == 0) {
            add_edge(kNone, node, kMeasured);
            first[place[node]] = 1;
        }
    }
    std::partial_sum(first.begin(), first.end(), first.begin());  // the ends; filled from behind, they become begins
    graph.arcs.resize(edges.size());
    if (moved_to != nullptr) {
        moved_to->resize(edges.size());
    }
    for (auto i = edges.size(); i-- > 0;) {
        const auto& edge = edges[i];
        const auto at = --first[place[edge.target]];
        graph.arcs[at] = {edge.source == kNone ? kNone : place[edge.source], edge.model};
        if (moved_to != nullptr) {
            (*moved_to)[i] = at;
        }
    }
    edges = {};
}

ByTarget::ByTarget(const Draft& draft) : first(draft.nodes + 1), edge(draft.edges.size()) {
    for (const auto& one : draft.edges) {
        ++first[one.target];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());  // the ends; filled from behind, they become begins
    for (auto i = static_cast<std::uint32_t>(draft.edges.size()); i-- > 0;) {
        edge[--first[draft.edges[i].target]] = i;
    }
}

namespace {

/// The nodes of one cycle among those that no order reached.
std::vector<std::uint32_t> cycle(const Draft& draft, const ByTarget& incoming, std::span<const std::uint32_t> waiting) {
    // Every node that was not reached has a source that was not reached: going back must come to a node twice.
    std::uint32_t node = 0;
    while (waiting[node] == 0) {
        ++node;
    }
    std::vector<std::uint32_t> way;
    std::vector<std::uint8_t> seen(waiting.size());
    while (seen[node] == 0) {
        seen[node] = 1;
        way.push_back(node);
        for (auto i = incoming.first[node]; i < incoming.first[node + 1]; ++i) {
            const auto source = draft.edges[incoming.edge[i]].source;
            if (waiting[source] > 0) {
                node = source;
                break;
            }
        }
    }
    way.erase(way.begin(), std::ranges::find(way, node));
    std::ranges::reverse(way);
    return way;
}

}  // namespace

NodeOrder::NodeOrder(const Draft& draft) {
    const auto nodes = draft.nodes;
    nodes_ = topological_order(nodes, draft.edges, [&](std::span<const std::uint32_t> waiting) -> std::uint32_t {
        throw Cycle{cycle(draft, ByTarget(draft), waiting)};
    });
    place_.resize(nodes);
    key_.resize(nodes);
    estimate(draft);
}

void NodeOrder::update(const Draft& draft) {
    estimate(draft);
}

void NodeOrder::estimate(const Draft& draft) {
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
        place_[nodes_[i]] = i;
    }
    const ByTarget incoming(draft);
    std::vector<std::int64_t> time(nodes_.size());
    for (const auto node : nodes_) {
        std::int64_t latest = kUnobserved;
        std::int64_t key = kUnobserved;
        for (auto i = incoming.first[node]; i < incoming.first[node + 1]; ++i) {
            const auto& edge = draft.edges[incoming.edge[i]];
            latest = std::max(latest, time[edge.source] + draft.costs[edge.model]);
            key = std::max(key, key_[edge.source]);
        }
        time[node] = draft.measured[node] == kUnobserved ? latest : draft.measured[node];
        key_[node] = std::max(time[node], key);
    }
    // They stand by their places.
    sort_nearly_sorted(nodes_, [this](std::uint32_t a, std::uint32_t b) { return key_[a] < key_[b]; });
}

}  // namespace logpost::replay
