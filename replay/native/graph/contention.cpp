#include "replay/native/graph/contention.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "replay/native/graph/simulation.hpp"
#include "replay/native/memory/threads.hpp"

namespace logpost::replay {
namespace {

/// When each node must have been at the latest, so that the nodes behind it can be when they were measured.
std::vector<std::int64_t> deadlines(const Graph& graph, const Recorded& recorded) {
    std::vector<std::int64_t> latest(graph.nodes(), INT64_MAX / 2);
    for (auto node = static_cast<std::uint32_t>(graph.nodes()); node-- > 0;) {
        if (recorded.measured_ps(node) != kUnobserved) {
            latest[node] = recorded.measured_ps(node);
        }
        for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
            const auto edge = graph.edge(i);
            if (edge.source != kNone && edge.weight > kNever && orders(graph, edge)) {
                latest[edge.source] = std::min(latest[edge.source], latest[node] - edge.weight);
            }
        }
    }
    return latest;
}

/// Takes off the messages what the model says beyond the recorded times.
void limit(Graph& graph, const SyncPoints& every_node, const Program& program, const Network& network,
           const Parameters& machine, const Recorded& recorded) {
    for (auto& crossing : graph.crossings) {
        const auto& model = graph.models[graph.model_of(crossing.edge)];
        crossing.bytes = static_cast<double>(graph.messages[model.message].bytes);
    }
    const auto latest = deadlines(graph, recorded);
    auto limited = graph.crossings;
    Simulation simulation(graph, every_node, program, program.placement, network, machine, &MessageClass::recorded,
                          &limited, latest);
    simulation.run([&](std::uint32_t node, const std::vector<std::int64_t>& times, const std::vector<Delay>& delays) {
        if (recorded.measured_ps(node) != kUnobserved) {
            return recorded.measured_ps(node);
        }
        std::int64_t time = INT64_MIN;
        for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
            const auto edge = graph.edge(i);
            if (!orders(graph, edge)) {
                continue;
            }
            const auto of = graph.crossing_of[i];
            const auto waited = of == kNone                          ? 0
                                : graph.crossings[of].sent_edge == i ? delays[of].sent_ps
                                                                     : delays[of].whole_ps;
            time = std::max(time, times[edge.source] + edge.weight + waited);
        }
        return time;
    });
    graph.crossings = std::move(limited);
    graph.fit.confirmed_ps = simulation.use().confirmed_ps;
    graph.fit.turns = simulation.use().turns;
}

/// What `limit` took off a message: turns at its NICs, and bytes at the rate of these.
NetworkWaits<std::int64_t> trimmed_ps(const Graph& graph, std::span<const Cost> costs, std::size_t id) {
    const auto& crossing = graph.crossings[id];
    const auto message = graph.models[graph.model_of(crossing.edge)].message;
    const auto bytes = static_cast<double>(graph.messages[message].bytes);
    const auto at_nic = bytes > 1 ? static_cast<double>(costs[message].serialization) / (bytes - 1) : 0.0;
    return {crossing.sooner_out_ps + static_cast<std::int64_t>((bytes - crossing.bytes) * at_nic),
            crossing.sooner_in_ps};
}

}  // namespace

void calibrate(Graph& graph, const Program& program, const Network& network, const Parameters& machine,
               const Recorded& recorded) {
    const auto every_node = sync_points_of(graph, true);
    limit(graph, every_node, program, network, machine, recorded);
    Simulation simulation(graph, every_node, program, program.placement, network, machine, &MessageClass::recorded);
    const auto costs = class_costs(graph, machine, &MessageClass::recorded);
    std::vector<Edge> here;
    simulation.run([&](std::uint32_t node, const std::vector<std::int64_t>& times, const std::vector<Delay>& delays) {
        for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
            if (const auto crossing = graph.crossing_of[i]; crossing != kNone) {
                const bool sent = graph.crossings[crossing].sent_edge == i;
                graph.own_weight(i) += sent ? delays[crossing].sent_ps : delays[crossing].whole_ps;
            }
        }
        here.clear();
        const auto first = graph.first_edge[node];
        for (auto i = first; i < graph.first_edge[node + 1]; ++i) {
            here.push_back(graph.edge(i));
        }
        const auto time = calibrate(graph, here, recorded.measured_ps(node), recorded.fresh(node),
                                    [&](std::uint32_t source) { return times[source]; });
        for (std::uint32_t i = 0; i < here.size(); ++i) {
            if (const auto crossing = graph.crossing_of[first + i];
                crossing != kNone && graph.crossings[crossing].edge == first + i) {
                graph.fit.unexplained_ps +=
                    static_cast<WidePs>(std::max<std::int64_t>(0, here[i].weight - graph.weight_of(first + i)));
            }
            if (here[i].weight != graph.weight_of(first + i)) {
                graph.own_weight(first + i) = here[i].weight;
            }
        }
        return time;
    });
    graph.fit.turns += simulation.use().turns;
    for (std::size_t i = 0; i < graph.crossings.size(); ++i) {
        const auto trimmed = trimmed_ps(graph, costs, i);
        graph.fit.contradicted_ps.leaving += static_cast<WidePs>(trimmed.leaving);
        graph.fit.contradicted_ps.arriving += static_cast<WidePs>(trimmed.arriving);
        graph.crossings[i].delay_ps = simulation.delays()[i].whole_ps;
        graph.crossings[i].sent_delay_ps = simulation.delays()[i].sent_ps;
    }
}

namespace {

/// Of each in-edge, in a lane: how long after its source's point it ends. Of a message between nodes: how long after it
/// begins.
std::vector<std::int64_t> steps_of(const Graph& graph, const SyncPoints& points,
                                   std::span<const std::int64_t> distances, const Weights& weights, std::size_t lane) {
    std::vector<std::int64_t> steps;
    steps.reserve(points.ins.size());
    for (const auto& in : points.ins) {
        const auto edge = graph.edge(in.edge);
        steps.push_back(in.source == kNone
                            ? edge.weight
                            : distances[edge.source] + (in.crossing == kNone ? weights.weight(edge, lane, 0) : 0));
    }
    return steps;
}

/// The times of all points in a lane.
std::vector<std::int64_t> times_of_points(const Graph& graph, const SyncPoints& points, const Program& program,
                                          const Placement& placement, const Network& network, const Setting& setting,
                                          std::span<const std::int64_t> steps, Weights& weights, std::size_t lane,
                                          NetworkUse& use) {
    Simulation simulation(graph, points, program, placement, network, setting.machine, &MessageClass::planned);
    simulation.run(
        [&](std::uint32_t point, const std::vector<std::int64_t>& times, const std::vector<Delay>& delays) {
            std::int64_t latest = INT64_MIN;
            for (auto i = points.first_in[point]; i < points.first_in[point + 1]; ++i) {
                const auto& in = points.ins[i];
                if (in.source == kNone) {
                    return steps[i];
                }
                auto time = times[in.source] + steps[i];
                if (in.crossing != kNone) {
                    const auto& crossing = graph.crossings[in.crossing];
                    const auto& now = delays[in.crossing];
                    time += weights.weight(graph.edge(in.edge), lane,
                                           crossing.sent_edge == in.edge ? now.sent_ps - crossing.sent_delay_ps
                                                                         : now.whole_ps - crossing.delay_ps);
                }
                latest = std::max(latest, time);
            }
            return latest;
        },
        steps);
    use = std::move(simulation.use());
    weights.set_delays(lane, std::move(simulation.delays()));
    return std::move(simulation.times());
}

}  // namespace

std::vector<std::int64_t> times_with_contention(const Graph& graph, const SyncPoints& points, const Program& program,
                                                const Placement& placement, const Network& network,
                                                const Setting& setting, Weights& weights, std::size_t lane,
                                                NetworkUse& use) {
    auto found = distances(graph, points, weights, lane);
    const auto times = times_of_points(graph, points, program, placement, network, setting,
                                       steps_of(graph, points, found, weights, lane), weights, lane, use);
    for (std::size_t node = 0; node < found.size(); ++node) {
        found[node] += times[points.of_node[node]];
    }
    return found;
}

std::vector<std::int64_t> makespans_with_contention(const Graph& graph, const SyncPoints& points,
                                                    const Program& program, const Placement& placement,
                                                    const Network& network, std::span<const Setting> settings,
                                                    Weights& weights, unsigned threads) {
    std::vector<std::int64_t> found(settings.size());
    for_each_parallel(settings.size(), threads, 1, [&](std::size_t lane, unsigned) {
        NetworkUse use;
        const auto after = distances(graph, points, weights, lane);
        const auto times = times_of_points(graph, points, program, placement, network, settings[lane],
                                           steps_of(graph, points, after, weights, lane), weights, lane, use);
        const auto at = [&](std::uint32_t node) { return times[points.of_node[node]] + after[node]; };
        found[lane] = longest_program(graph, at).length_ps;
    });
    return found;
}

}  // namespace logpost::replay
