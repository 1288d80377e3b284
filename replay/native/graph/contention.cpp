#include "replay/native/graph/contention.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "replay/native/graph/simulation.hpp"
#include "replay/native/memory/threads.hpp"
#include "replay/native/servers/endpoints.hpp"

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

/// When nodes were, once the point that they are or follow has its time: as measured, or so long after that.
class RecordedTimes {
  public:
    /// What is given must outlive this.
    RecordedTimes(const Graph& graph, const SyncPoints& points, const Recorded& recorded)
        : points_(points), times_(graph.nodes()), known_(graph.nodes()) {
        points.for_each_other([&](std::uint32_t node) {
            const auto edge = graph.edge(graph.first_edge[node]);
            known_[node] = recorded.measured_ps(node) != kUnobserved || known_[edge.source];
            times_[node] = recorded.measured_ps(node) != kUnobserved ? recorded.measured_ps(node)
                                                                     : times_[edge.source] + edge.weight;
        });
    }
    [[nodiscard]] std::int64_t operator()(std::uint32_t node, std::span<const std::int64_t> of_points) const noexcept {
        return known_[node] ? times_[node] : of_points[points_.of_node[node]] + times_[node];
    }

  private:
    const SyncPoints& points_;
    std::vector<std::int64_t> times_;  // by node; of those that are not known, how long after their points
    std::vector<bool> known_;          // whatever the time of the point
};

/// Takes off the messages what the model says beyond the recorded times.
void limit(Graph& graph, const SyncPoints& points, const RecordedTimes& when, const Routes& routes,
           const Parameters& machine, const Recorded& recorded) {
    for (auto& crossing : graph.crossings) {
        const auto& model = graph.models[graph.model_of(crossing.edge)];
        crossing.bytes = static_cast<double>(graph.messages[model.message].bytes);
    }
    const auto latest = deadlines(graph, recorded);
    auto limited = graph.crossings;
    Simulation simulation(graph, points, routes, machine, &MessageClass::recorded, &limited, latest);
    const auto& delays = simulation.delays();
    const auto time_of = [&](std::uint32_t node) { return when(node, simulation.times()); };
    const auto resolve = [&](std::uint32_t point) {
        const auto node = points.nodes[point];
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
            time = std::max(time, time_of(edge.source) + edge.weight + waited);
        }
        return time;
    };
    simulation.run(resolve, [&](std::uint32_t in) { return time_of(graph.arcs[points.ins[in].edge].source); });
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

Routes::Routes(const Graph& graph, const Placement& where, const Network& over) : placement(where), network(over) {
    of_crossing.reserve(graph.crossings.size());
    for (const auto& crossing : graph.crossings) {
        const auto pair = network.pair(placement[index(crossing.from)].node, placement[index(crossing.to)].node);
        of_crossing.push_back({pair == Network::kNoPair ? kNone : static_cast<std::uint32_t>(pair),
                               graph.model_of(crossing.edge),
                               placement.between(crossing.from, crossing.to) == Locality::other_node});
    }
}

void calibrate(Graph& graph, const Program& program, const Network& network, const Parameters& machine,
               const Recorded& recorded) {
    graph.communicates = communicating(program);
    graph.tick_ps = static_cast<std::int64_t>(std::ceil(1e12 / static_cast<double>(program.ticks_per_second)));
    const auto points = sync_points_of(graph);
    const RecordedTimes when(graph, points, recorded);
    const Routes routes(graph, program.placement, network);
    limit(graph, points, when, routes, machine, recorded);
    Simulation simulation(graph, points, routes, machine, &MessageClass::recorded);
    const auto costs = class_costs(graph, machine, &MessageClass::recorded);
    const auto& delays = simulation.delays();
    const auto time_of = [&](std::uint32_t node) { return when(node, simulation.times()); };
    std::vector<Edge> here;
    const auto resolve = [&](std::uint32_t node) {
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
        const auto time = calibrate(graph, here, recorded.measured_ps(node), recorded.fresh(node), time_of);
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
    };
    simulation.run([&](std::uint32_t point) { return resolve(points.nodes[point]); },
                   [&](std::uint32_t in) { return time_of(graph.arcs[points.ins[in].edge].source); });
    points.for_each_other(resolve);
    graph.fit.turns += simulation.use().turns;
    graph.use = std::move(simulation.use());
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
HugeColumn<std::int64_t> steps_of(const Graph& graph, const SyncPoints& points, std::span<const std::int64_t> distances,
                                  const Weights& weights, std::size_t lane) {
    HugeColumn<std::int64_t> steps;
    steps.reserve(points.ins.size());
    for (const auto& in : points.ins) {
        const auto edge = graph.edge(in.edge);
        steps.push_back(in.source == kNone
                            ? edge.weight
                            : distances[edge.source] + (in.crossing == kNone ? weights.weight(edge, lane, 0) : 0));
    }
    return steps;
}

/// What following the messages of a lane finds.
struct OfMessages {
    HugeColumn<std::int64_t> times;  // of the points
    std::vector<Delay> delays;       // by crossing
    NetworkUse use;
};

OfMessages follow_messages(const Graph& graph, const SyncPoints& points, const Routes& routes, const Setting& setting,
                           std::span<const std::int64_t> steps, const Weights& weights, std::size_t lane) {
    Simulation simulation(graph, points, routes, setting.machine, &MessageClass::planned);
    const auto& times = simulation.times();
    const auto& delays = simulation.delays();
    const auto begin_ps = [&](std::uint32_t in) { return times[points.ins[in].source] + steps[in]; };
    const auto resolve = [&](std::uint32_t point) {
        std::int64_t latest = INT64_MIN;
        for (auto i = points.first_in[point]; i < points.first_in[point + 1]; ++i) {
            const auto& in = points.ins[i];
            if (in.source == kNone) {
                return steps[i];
            }
            auto time = begin_ps(i);
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
    };
    simulation.run(resolve, begin_ps);
    return {std::move(simulation.times()), std::move(simulation.delays()), std::move(simulation.use())};
}

}  // namespace

HugeColumn<std::int64_t> times_with_contention(const Graph& graph, const SyncPoints& points, const Routes& routes,
                                               const Setting& setting, Weights& weights, std::size_t lane,
                                               NetworkUse& use) {
    auto found = distances(graph, points, weights, lane);
    auto there =
        follow_messages(graph, points, routes, setting, steps_of(graph, points, found, weights, lane), weights, lane);
    use = std::move(there.use);
    weights.set_delays(lane, std::move(there.delays));
    for (std::size_t node = 0; node < found.size(); ++node) {
        found[node] += there.times[points.of_node[node]];
    }
    return found;
}

HugeColumn<std::int64_t> recorded_times(const Graph& graph, Weights& weights, std::size_t lane) {
    std::vector<Delay> delays;
    delays.reserve(graph.crossings.size());
    for (const auto& crossing : graph.crossings) {
        delays.push_back({crossing.delay_ps, crossing.sent_delay_ps});
    }
    weights.set_delays(lane, std::move(delays));
    HugeColumn<std::int64_t> times(graph.nodes());
    for (std::uint32_t node = 0; node < times.size(); ++node) {
        auto latest = INT64_MIN;
        for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
            const auto edge = graph.edge(i);
            const auto weight = weights.weight(edge, lane, 0);
            latest = std::max(latest, edge.source == kNone ? weight : times[edge.source] + weight);
        }
        times[node] = latest;
    }
    return times;
}

std::vector<std::int64_t> makespans_with_contention(const Graph& graph, const SyncPoints& points, const Routes& routes,
                                                    std::span<const Setting> settings, const Weights& weights,
                                                    unsigned threads) {
    std::vector<std::int64_t> found(settings.size());
    for_each_parallel(settings.size(), threads, 1, [&](std::size_t lane, unsigned) {
        const auto after = distances(graph, points, weights, lane);
        const auto there = follow_messages(graph, points, routes, settings[lane],
                                           steps_of(graph, points, after, weights, lane), weights, lane);
        const auto at = [&](std::uint32_t node) { return there.times[points.of_node[node]] + after[node]; };
        found[lane] = longest_program(graph, at).length_ps;
    });
    return found;
}

}  // namespace logpost::replay
