#include <algorithm>
#include <bit>
#include <numeric>

#include "replay/native/nearly_sorted.hpp"
#include "replay/native/read_once.hpp"
#include "replay/native/release.hpp"
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
    const auto number = message_numbers_.of(message, messages);
    if (number == class_costs.size()) {
        const auto& [locality, hops] = message.recorded;
        class_costs.push_back(message_cost(machine, locality, message.bytes, message.layout, 1, hops));
    }
    return number;
}

std::uint32_t Draft::message_class(std::int32_t from, std::int32_t to, std::uint64_t bytes, const Blocks& layout) {
    return message_class({.bytes = bytes,
                          .layout = layout,
                          .recorded = {.locality = recorded.between(from, to), .hops = recorded.hops(from, to)},
                          .planned = {.locality = planned.between(from, to), .hops = planned.hops(from, to)}});
}

std::uint32_t Draft::model(const EdgeModel& given) {
    const auto number = model_numbers_.of(given, models);
    if (number == costs.size()) {
        costs.push_back(given.terms == 0 ? 0 : edge_cost(given, class_costs[given.message]));
    }
    return number;
}

void Incoming::add(HugeColumn<DraftEdge>&& more, std::uint32_t nodes, bool numbered) {
    const auto old = static_cast<std::uint32_t>(edges.size());
    const auto olds = [&](std::uint32_t node) { return node + 1 < first.size() ? first[node + 1] - first[node] : 0; };
    HugeColumn<std::uint32_t> ends(nodes + 1);
    for (const auto& edge : more) {
        ++ends[edge.target];
    }
    for (std::uint32_t node = 0; node < nodes; ++node) {
        ends[node] += olds(node);
    }
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    if (old == 0) {
        edges.reserve(more.size() + more.size() / 2);  // queues add more; what is not touched costs nothing
    }
    edges.resize(old + more.size());
    numbers.resize(numbered ? edges.size() : 0);
    // In place, from behind: nothing moves forward.
    for (auto node = static_cast<std::uint32_t>(old == 0 ? 0 : first.size() - 1); node-- > 0;) {
        const auto end = (node == 0 ? 0 : ends[node - 1]) + olds(node);
        const auto move = [&](auto& column) {
            std::move_backward(column.begin() + first[node], column.begin() + first[node + 1], column.begin() + end);
        };
        move(edges);
        if (numbered) {
            move(numbers);
        }
    }
    constexpr std::size_t kAtOnce = 8192;
    ReadOnce given(more);
    for (auto i = more.size(); i-- > 0;) {
        const auto at = --ends[more[i].target];
        edges[at] = {more[i].source, more[i].model};
        if (numbered) {
            numbers[at] = old + static_cast<std::uint32_t>(i);
        }
        if (i % kAtOnce == 0) {
            given.done(i, std::min(i + kAtOnce, more.size()));
        }
    }
    release(more);
    for (std::uint32_t node = 0; node < nodes; ++node) {
        ends[node] -= olds(node);  // they are begins now
    }
    first = std::move(ends);
}

HugeColumn<std::uint32_t> Draft::move_edges(Graph& graph, std::span<const std::uint32_t> in_order) {
    HugeColumn<std::uint32_t> moved_to(incoming.numbers.size());
    graph.arcs.reserve(incoming.edges.size() + in_order.size() / 8);
    graph.first_edge.reserve(in_order.size() + 1);
    ReadOnce moved(incoming.edges);
    for (const auto node : in_order) {
        graph.first_edge.push_back(static_cast<std::uint32_t>(graph.arcs.size()));
        const auto end = incoming.first[node + 1];
        if (incoming.first[node] == end) {
            graph.arcs.emplace_back(kNone, kMeasured);
        }
        for (auto i = incoming.first[node]; i < end; ++i) {
            if (numbered) {
                moved_to[incoming.numbers[i]] = static_cast<std::uint32_t>(graph.arcs.size());
            }
            graph.arcs.push_back(incoming.edges[i]);
        }
        moved.done(incoming.first[node], end);
    }
    graph.first_edge.push_back(static_cast<std::uint32_t>(graph.arcs.size()));
    release(incoming);
    return moved_to;
}

namespace {

/// The nodes of one cycle among those that no order reached.
std::vector<std::uint32_t> cycle(const Incoming& incoming, std::span<const std::uint32_t> waiting) {
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
            const auto source = incoming.edges[i].source;
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

/// By node, a key that never falls along an edge: the node's time, as far as that does not.
HugeColumn<std::int64_t> keys_of(const Draft& draft, std::span<const std::uint32_t> in_order) {
    const auto& incoming = draft.incoming;
    const auto events = static_cast<std::uint32_t>(draft.measured.size());
    HugeColumn<std::int64_t> keys(in_order.size());
    HugeColumn<std::int64_t> estimated(in_order.size() - events);  // times of the nodes that the trace does not show
    for (const auto node : in_order) {
        std::int64_t latest = kUnobserved;
        std::int64_t key = kUnobserved;
        for (auto i = incoming.first[node]; i < incoming.first[node + 1]; ++i) {
            const auto& edge = incoming.edges[i];
            const auto time = edge.source < events ? draft.measured[edge.source] : estimated[edge.source - events];
            latest = std::max(latest, time + draft.costs[edge.row()]);
            key = std::max(key, keys[edge.source]);
        }
        if (node >= events) {
            estimated[node - events] = latest;
        }
        keys[node] = std::max(node < events ? draft.measured[node] : latest, key);
    }
    return keys;
}

/// Sorts nodes by their keys, stably: into as many stretches of time as there are some nodes in each, and each of them.
void sort_by_stretches(std::span<std::uint32_t> nodes, std::span<const std::int64_t> keys) {
    constexpr std::size_t kInEach = 16;
    const auto earlier = [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; };
    const auto [least, most] = std::ranges::minmax(nodes, earlier);
    const auto since = [begin = static_cast<std::uint64_t>(keys[least])](std::int64_t key) {
        return static_cast<std::uint64_t>(key) - begin;
    };
    const auto bits = static_cast<int>(std::bit_width(nodes.size() / kInEach + 1));
    const auto shift = std::max(static_cast<int>(std::bit_width(since(keys[most]))) - bits, 0);
    HugeColumn<std::uint32_t> ends((since(keys[most]) >> shift) + 2);
    for (const auto node : nodes) {
        ++ends[(since(keys[node]) >> shift) + 1];
    }
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    {
        const HugeColumn<std::uint32_t> before(nodes.begin(), nodes.end());
        for (const auto node : before) {
            nodes[ends[since(keys[node]) >> shift]++] = node;  // begins become ends
        }
    }
    std::size_t begin = 0;
    for (const auto end : ends) {
        if (end > begin + 1) {
            sort_nearly_sorted(nodes.subspan(begin, end - begin), earlier);
        }
        begin = std::max<std::size_t>(begin, end);
    }
}

/// The same in halves, and these together: what stands beside the nodes is half as long.
void sort_by_key(HugeColumn<std::uint32_t>& nodes, std::span<const std::int64_t> keys) {
    const auto earlier = [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; };
    if (nodes.size() < 2 || sorted_by_insertion(nodes, earlier)) {
        return;
    }
    const auto half = nodes.size() / 2;
    sort_by_stretches(std::span(nodes).first(half), keys);
    sort_by_stretches(std::span(nodes).subspan(half), keys);
    std::inplace_merge(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(half), nodes.end(), earlier);
}

}  // namespace

NodeOrder::NodeOrder(Draft& draft) {
    nodes_ = topological_order(draft.nodes, draft.edges, [&](std::span<const std::uint32_t> waiting) -> std::uint32_t {
        Incoming incoming;
        incoming.add(HugeColumn<DraftEdge>(draft.edges), draft.nodes, false);
        throw Cycle{cycle(incoming, waiting)};
    });
    update(draft);
}

void NodeOrder::update(Draft& draft) {
    if (draft.edges.empty() && !place_.empty()) {
        return;
    }
    release(place_);
    if (!draft.edges.empty()) {
        draft.take_in();
    }
    give_back_unused(draft.incoming.edges.size() * sizeof(DraftEdge));
    {
        const auto keys = keys_of(draft, nodes_);
        sort_by_key(nodes_, keys);
    }
    give_back_unused(nodes_.size() * sizeof(std::int64_t));
    place_.resize(nodes_.size());
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
        place_[nodes_[i]] = i;
    }
}

}  // namespace logpost::replay
