/// The longest path: what binds each event, from the last one back to a begin.

#include <algorithm>
#include <numeric>

#include "replay/native/graph/replay.hpp"

namespace logpost::replay {
namespace {

constexpr std::array<PathPart, 7> kPartOfTerm{
    PathPart::send_overhead, PathPart::latency,   PathPart::serialization,       PathPart::endpoint_contention,
    PathPart::recv_overhead, PathPart::handshake, PathPart::endpoint_contention,
};

/// Shares a weight among the terms of its model; what exceeds them is residual.
void share(const EdgeModel& model, const Cost& cost, std::int64_t weight, CriticalPath& path) {
    const auto part = [&](PathPart p) -> std::int64_t& { return path.parts[static_cast<std::size_t>(p)]; };
    const std::int64_t whole = edge_cost(model, cost);
    if (weight < 0 || whole <= 0) {
        part(PathPart::residual) += weight;
        return;
    }
    const std::int64_t granted = std::min(weight, whole);
    part(PathPart::residual) += weight - granted;
    std::int64_t wanted = 0;
    std::int64_t given = 0;
    for (std::size_t term = 0; term < kPartOfTerm.size(); ++term) {
        if ((model.terms & (1U << term)) == 0) {
            continue;
        }
        auto one = model;
        one.terms = static_cast<std::uint8_t>(1U << term);
        wanted += edge_cost(one, cost);
        // Shares of a weight that is shorter than its terms; their sum is exact.
        const auto until = granted == whole
                               ? wanted
                               : static_cast<std::int64_t>(static_cast<double>(granted) *
                                                           (static_cast<double>(wanted) / static_cast<double>(whole)));
        const auto bounded = wanted == whole ? granted : std::min(until, granted);
        part(kPartOfTerm[term]) += bounded - given;
        given = bounded;
    }
}

/// The derivatives of an edge's cost.
void differentiate(const EdgeModel& model, const MessageClass& message, const Parameters& machine, double count,
                   CriticalPath& path) {
    if (transfer_time(machine, message.planned.locality, message.carried) != nullptr) {
        return;  // its terms are of a table
    }
    auto& here = path.sensitivities[static_cast<std::size_t>(message.planned.locality)];
    const auto& locality = machine.localities[static_cast<std::size_t>(message.planned.locality)];
    const auto bytes = static_cast<double>(message.bytes);
    const auto& range = locality.ranges[locality.range_of(bytes)];
    const auto has = [&](CostTerm term) { return (model.terms & term) != 0; };
    here.L += has(kTermLatency) ? count : 0;
    here.o_s += (has(kTermSend) ? count : 0) + (has(kTermControl) ? count : 0);
    here.o_r += has(kTermReceive) ? count : 0;
    here.G += has(kTermSerialization) && bytes > 0 ? count * (bytes - 1) : 0;
    if (has(kTermService) || has(kTermTurn)) {
        if (bytes * range.G >= range.g) {
            here.G += count * bytes;
        } else {
            here.g += count;
        }
    }
}

}  // namespace

CriticalPath critical_path(const Graph& graph, const Weights& weights, std::span<const Setting> settings,
                           std::size_t lane, const std::function<std::int64_t(std::uint32_t)>& time_of,
                           const BindingOf& binding_of) {
    CriticalPath path;
    path.compute_by_location.assign(graph.ends.size(), 0);
    const auto longest = longest_program(graph, time_of);
    if (longest.location == kNoLocation) {
        return path;
    }
    const auto& program = graph.programs[index(longest.location)];
    path.makespan_ps = longest.length_ps;
    const auto& machine = settings[lane].machine;
    const auto part = [&](PathPart which) -> std::int64_t& { return path.parts[static_cast<std::size_t>(which)]; };
    part(PathPart::compute) += program.rest_ps;
    part(PathPart::start) -= program.off_ps;
    auto awaiting = graph.awaiting;
    auto not_recorded = graph.not_recorded;
    std::ranges::sort(awaiting);
    std::ranges::sort(not_recorded);
    const auto costs = class_costs(graph, machine);
    auto time = time_of(program.finish);
    for (auto node = program.finish;;) {
        const auto [binding, source] = binding_of(node);
        if (source == kNone) {
            part(PathPart::start) += std::max(time, program.begin_ps) - program.begin_ps;
            return path;
        }
        ++path.edges;
        const auto& model = graph.models[graph.model_of(binding)];
        const auto weight = weights.weight(binding, lane);
        // What the path has before the program begins is no part of its length, though that depends on it.
        const auto within = std::max(time, program.begin_ps) - std::max(time - weight, program.begin_ps);
        path.early_ps += std::max<std::int64_t>(0, -weight);
        path.moved_ps += std::abs(weight - graph.weight_of(binding));
        switch (model.kind) {
            case EdgeModel::Kind::measured:
                part(within < 0                                       ? PathPart::residual
                     : std::ranges::binary_search(not_recorded, node) ? PathPart::start
                     : std::ranges::binary_search(awaiting, node)     ? PathPart::synchronization
                                                                      : PathPart::other) += within;
                break;
            case EdgeModel::Kind::compute:
                part(PathPart::compute) += within;
                path.compute_ps += weight;
                path.compute_by_location[index(model.location)] += weight;
                break;
            case EdgeModel::Kind::message:
            case EdgeModel::Kind::collective:
                const auto beyond = weight - edge_cost(model, costs[model.message]);
                const auto waited = std::clamp<std::int64_t>(beyond, 0, weights.delay(binding, lane));
                path.short_ps += std::max<std::int64_t>(0, -beyond);
                const auto longer = weights.waits_longer(binding, lane);
                path.waited_more_ps.leaving += std::clamp<std::int64_t>(longer.leaving, 0, waited);
                path.waited_more_ps.arriving += std::clamp<std::int64_t>(longer.arriving, 0, waited);
                if (model.kind == EdgeModel::Kind::collective) {
                    part(within < 0 ? PathPart::residual : PathPart::collective) += within;
                } else {
                    const auto waited_within = std::min(waited, std::max<std::int64_t>(within, 0));
                    part(PathPart::network_contention) += waited_within;
                    share(model, costs[model.message], within - waited_within, path);
                }
                if (!weights.at_bound(binding, lane)) {
                    differentiate(model, graph.messages[model.message], machine, model.count, path);
                }
                path.changes_of_location += (model.terms & kTermLatency) != 0 ? 1 : 0;
                break;
        }
        node = source;
        time -= weight;
    }
}

CriticalPath critical_path(const Graph& graph, std::span<const std::uint32_t> sources, const Weights& weights,
                           std::span<const Setting> settings, std::span<const std::int64_t> times, std::size_t lane) {
    const auto time_of = [&](std::uint32_t node) { return times[node]; };
    return critical_path(graph, weights, settings, lane, time_of, [&](std::uint32_t node) -> Binding {
        for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
            if (sources[i] == kNone || times[sources[i]] + weights.weight(i, lane) == times[node]) {
                return {i, sources[i]};
            }
        }
        return {};
    });
}

}  // namespace logpost::replay
