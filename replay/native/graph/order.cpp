#include <algorithm>
#include <bit>
#include <numeric>
#include <thread>

#include "replay/native/graph/draft.hpp"
#include "replay/native/graph/read_once.hpp"
#include "replay/native/graph/topological.hpp"
#include "replay/native/memory/nearly_sorted.hpp"
#include "replay/native/memory/release.hpp"
#include "replay/native/memory/threads.hpp"

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
    return static_cast<std::size_t>(mixed(sum, static_cast<std::uint64_t>(message.carried)));
}

Draft::Draft(const Parameters& of, const Placement& where, const Placement& elsewhere)
    : machine(of), recorded(where), planned(elsewhere) {
    model({.kind = EdgeModel::Kind::measured});               // kMeasured
    model({.kind = EdgeModel::Kind::measured, .own = true});  // kOwn
}

std::uint32_t Draft::message_class(const MessageClass& message) {
    const auto number = message_numbers_.of(message, messages);
    if (number == class_costs.size()) {
        const auto& [locality, hops] = message.recorded;
        class_costs.push_back(message_cost(machine, locality, message.bytes, message.layout, 1, hops, message.carried));
    }
    return number;
}

std::uint32_t Draft::message_class(Location from, Location to, std::uint64_t bytes, const Blocks& layout,
                                   Carried carried) {
    return message_class({.bytes = bytes,
                          .layout = layout,
                          .recorded = {.locality = recorded.between(from, to), .hops = recorded.hops(from, to)},
                          .planned = {.locality = planned.between(from, to), .hops = planned.hops(from, to)},
                          .carried = carried});
}

std::uint32_t Draft::model(const EdgeModel& given) {
    const auto number = model_numbers_.of(given, models);
    if (number == costs.size()) {
        costs.push_back(given.terms == 0 ? 0 : edge_cost(given, class_costs[given.message]));
    }
    return number;
}

Incoming::Incoming(HugeColumn<DraftEdge>&& given, std::uint32_t nodes, bool numbered)
    : first(nodes + 1), count_(static_cast<std::uint32_t>(given.size())) {
    for (const auto& edge : given) {
        ++first[edge.target];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());  // the ends; filled from behind, they become begins
    edges.reserve(given.size() + given.size() / 2);  // for those that are put; what is not touched costs nothing
    edges.resize(given.size());
    numbers.reserve(numbered ? edges.capacity() : 0);
    numbers.resize(numbered ? edges.size() : 0);
    constexpr std::size_t kAtOnce = 8192;
    ReadOnce read(given);
    for (auto i = given.size(); i-- > 0;) {
        const auto at = --first[given[i].target];
        edges[at] = {given[i].source, given[i].model};
        if (numbered) {
            numbers[at] = static_cast<std::uint32_t>(i);
        }
        if (i % kAtOnce == 0) {
            read.done(i, std::min(i + kAtOnce, given.size()));
        }
    }
    release(given);
}

void Incoming::make_room(const Capacity& capacity) {
    HugeColumn<std::uint32_t> more(first.size());  // by node; then of it and those before it
    capacity([&](std::uint32_t node) { ++more[node]; });
    std::partial_sum(more.begin(), more.end(), more.begin());
    auto old = first.back();
    edges.resize(old + more.back());
    numbers.resize(numbers.empty() ? 0 : edges.size());
    // In place, from behind: nothing moves forward.
    for (auto node = first.size() - 1; node-- > 0;) {
        auto to = first[node + 1] + more[node];
        first[node + 1] = to;
        for (auto left = more[node] - (node == 0 ? 0 : more[node - 1]); left > 0; --left) {
            edges[--to] = {kNone, 0};
        }
        for (; old > first[node];) {
            edges[--to] = edges[--old];
            if (!numbers.empty()) {
                numbers[to] = numbers[old];
            }
        }
    }
}

void Incoming::put(const DraftEdge& edge) {
    const auto at = end(edge.target);
    edges[at] = {edge.source, edge.model};
    if (!numbers.empty()) {
        numbers[at] = count_;
    }
    ++count_;
}

HugeColumn<std::uint32_t> Draft::move_edges(Graph& graph, std::span<const std::uint32_t> in_order) {
    HugeColumn<std::uint32_t> moved_to(numbered ? next_edge() : 0, kNone);
    graph.arcs.reserve(next_edge() + in_order.size() / 8);
    graph.first_edge.reserve(in_order.size() + 1);
    ReadOnce moved(incoming.edges);
    for (const auto node : in_order) {
        graph.first_edge.push_back(static_cast<std::uint32_t>(graph.arcs.size()));
        const auto end = measured.fixed(node) ? incoming.first[node] : incoming.end(node);
        if (incoming.first[node] == end) {
            graph.arcs.emplace_back(kNone, kOwn);
        }
        for (auto i = incoming.first[node]; i < end; ++i) {
            if (numbered) {
                moved_to[incoming.numbers[i]] = static_cast<std::uint32_t>(graph.arcs.size());
            }
            graph.arcs.push_back(incoming.edges[i]);
        }
        moved.done(incoming.first[node], incoming.first[node + 1]);
    }
    graph.first_edge.push_back(static_cast<std::uint32_t>(graph.arcs.size()));
    release(incoming);
    return moved_to;
}

namespace {

/// The nodes of one cycle among those that no order reached.
std::vector<std::uint32_t> cycle(const Incoming& incoming, std::span<const std::uint32_t> waiting) {
    // Every node that was not reached has a source that was not reached: going back must reach a node twice.
    std::uint32_t node = 0;
    while (waiting[node] == 0) {
        ++node;
    }
    std::vector<std::uint32_t> way;
    std::vector<std::uint8_t> seen(waiting.size());
    while (seen[node] == 0) {
        seen[node] = 1;
        way.push_back(node);
        for (auto i = incoming.first[node]; i < incoming.end(node); ++i) {
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
        const auto end = incoming.end(node);
        for (auto i = incoming.first[node]; i < end; ++i) {
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

/// The same in quarters, two at a time, and these together: what is in memory next to the nodes is half as long.
void sort_by_key(HugeColumn<std::uint32_t>& nodes, std::span<const std::int64_t> keys) {
    const auto earlier = [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; };
    if (nodes.size() < 2 || sorted_by_insertion(nodes, earlier)) {  // a few always are
        return;
    }
    constexpr std::size_t kParts = 4;
    const auto threads = std::min(std::thread::hardware_concurrency(), 2U);
    const auto begin = [&](std::size_t part) {
        return nodes.begin() + static_cast<std::ptrdiff_t>(part * nodes.size() / kParts);
    };
    for_each_parallel(kParts, threads, 1,
                      [&](std::size_t i, unsigned) { sort_by_stretches({begin(i), begin(i + 1)}, keys); });
    for_each_parallel(kParts / 2, threads, 1, [&](std::size_t i, unsigned) {
        std::inplace_merge(begin(2 * i), begin(2 * i + 1), begin(2 * i + 2), earlier);
    });
    std::inplace_merge(begin(0), begin(kParts / 2), begin(kParts), earlier);
}

}  // namespace

NodeOrder::NodeOrder(Draft& draft) {
    nodes_ = topological_order(draft.nodes, draft.edges, [&](std::span<const std::uint32_t> waiting) -> std::uint32_t {
        throw Cycle{cycle(Incoming(HugeColumn<DraftEdge>(draft.edges), draft.nodes, false), waiting)};
    });
    draft.take_in();
    sort(draft);
}

void NodeOrder::update(const Draft& draft) {
    if (draft.incoming.count() > edges_) {
        sort(draft);
    }
}

void NodeOrder::sort(const Draft& draft) {
    release(place_);
    edges_ = draft.incoming.count();
    {
        const auto keys = keys_of(draft, nodes_);
        sort_by_key(nodes_, keys);
    }
    give_back_unused(nodes_.size() * sizeof(std::int64_t));  // what threads kept for the next sort
    place_.resize(nodes_.size());
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
        place_[nodes_[i]] = i;
    }
}

}  // namespace logpost::replay
