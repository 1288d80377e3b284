#include "replay/native/graph/calibrated.hpp"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "replay/native/graph/calibrate.hpp"
#include "replay/native/graph/contention.hpp"
#include "replay/native/memory/release.hpp"

namespace logpost::replay {
namespace {

class Calibration {
  public:
    Calibration(Draft&& draft, HugeColumn<std::uint32_t>&& nodes, Events&& events, const Exchanged& exchanged,
                const Program& program, const Network* network)
        : draft_(std::move(draft)),
          nodes_(std::move(nodes)),
          events_(std::move(events)),
          exchanged_(exchanged),
          program_(program),
          network_(network) {}

    Graph graph() {
        Graph graph;
        graph.nics_share = draft_.nics_share;
        const auto moved_to = draft_.move_edges(graph, nodes_);
        give_back_unused(graph.arcs.size() * sizeof(Arc));
        graph.models = std::move(draft_.models);
        graph.costs = std::move(draft_.costs);
        graph.messages = std::move(draft_.messages);
        std::vector<bool> absent(exchanged_.only_planned.empty() ? 0 : graph.arcs.size());
        for_each_in(exchanged_.only_planned, moved_to, [&](std::size_t edge) { absent[edge] = true; });
        add_crossings(graph, moved_to);
        for (const auto& [edge, takes_ps] : exchanged_.work) {
            if (moved_to[edge] != kNone) {
                work_.emplace(moved_to[edge], takes_ps);
            }
        }
        HugeColumn<std::uint32_t> place;  // by node of the draft
        if (graph.crossings.empty()) {
            calibrate_in_order(graph, absent);
            place = placed(graph);
        } else {
            place = placed(graph);
            const Recorded recorded(draft_.measured, nodes_);
            own_weights(graph, recorded, absent);
            calibrate(graph, program_, *network_, draft_.machine, recorded);
            for (std::uint32_t i = 0; i < absent.size(); ++i) {
                if (absent[i]) {
                    graph.own_weight(i) = graph.costs[graph.model_of(i)];
                }
            }
            for (const auto& [edge, takes_ps] : work_) {
                graph.own_weight(edge) = takes_ps;
            }
        }
        if (!exchanged_.only_recorded.empty()) {
            exchange(graph, moved_to);
        }
        release(nodes_);
        const auto at = [&](std::uint32_t node) { return node == kNone ? kNone : place[node]; };
        std::uint32_t calls = 0;
        for (std::size_t l = 0; l < events_.enters.size(); ++l) {
            graph.begins.push_back(at(events_.begins[l]));
            graph.ends.push_back(at(events_.ends[l]));
            graph.first_call.push_back(calls);
            add_program(graph, l, place);
            for (std::size_t call = 0; call < events_.enters[l].size(); ++call) {
                graph.enters.push_back(place[events_.enters[l][call]]);
                graph.leaves.push_back(place[events_.leaves[l][call]]);
                graph.callpath.push_back(program_.timelines[l].calls[call].callpath);
            }
            const auto& epochs = program_.timelines[l].epochs;
            for (std::uint32_t i = 0; i < epochs.size(); ++i) {
                const auto& epoch = epochs[i];
                if (epoch.kind == Epoch::Kind::change && epoch.begin_call < events_.leaves[l].size()) {
                    graph.awaiting.push_back(place[events_.leaves[l][epoch.begin_call]]);
                }
            }
            calls += static_cast<std::uint32_t>(events_.enters[l].size());
            release(events_.enters[l], events_.leaves[l]);
        }
        graph.first_call.push_back(calls);
        graph.callpaths = program_.callpaths();
        for (auto& one : draft_.steps) {
            for (auto* node :
                 {&one.origin, &one.match, &one.inject, &one.first_byte, &one.received, &one.sent, &one.taken}) {
                *node = at(*node);
            }
        }
        graph.steps = std::move(draft_.steps);
        for (auto& one : draft_.grants) {
            one.node = at(one.node);
        }
        graph.grants = std::move(draft_.grants);
        release(draft_.measured, place);
        give_back_unused(graph.arcs.size() * sizeof(Arc));
        if (graph.crossings.empty()) {
            assign_slots(graph);  // else all times are needed at once
        }
        return graph;
    }

  private:
    using Range = std::pair<std::size_t, std::size_t>;  // of edges of the draft

    template <class Body>
    static void for_each_in(const std::vector<Range>& ranges, std::span<const std::uint32_t> moved_to, Body&& body) {
        for (const auto& [begin, end] : ranges) {
            for (auto i = begin; i < end; ++i) {
                if (moved_to[i] != kNone) {
                    body(moved_to[i]);
                }
            }
        }
    }

    /// The program of a location whose nodes are placed in the graph.
    void add_program(Graph& graph, std::size_t l, const HugeColumn<std::uint32_t>& place) const {
        auto& found = graph.programs.emplace_back();
        if (events_.begins[l] == kNone) {
            return;
        }
        const auto& span = program_.spans[l];
        const auto& timeline = program_.timelines[l];
        auto last_ps = timeline.first_ps;
        auto last = events_.begins[l];
        const auto pass = [&](std::int64_t at_ps, std::uint32_t node) {
            if (at_ps <= span.end_ps) {
                last_ps = at_ps;
                last = node;
            }
        };
        bool stops = false;
        for (std::size_t call = 0; call < events_.enters[l].size(); ++call) {
            const auto& one = timeline.calls[call];
            pass(one.enter_ps, events_.enters[l][call]);
            if (program_.kind(one) == CallKind::finalize && one.enter_ps == span.end_ps) {
                stops = true;  // what follows at the same instant is shut-down
                break;
            }
            pass(one.leave_ps, events_.leaves[l][call]);
            if (program_.kind(one) == CallKind::not_recorded && one.enter_ps < span.end_ps &&
                one.leave_ps > span.begin_ps) {
                graph.not_recorded.push_back(place[events_.leaves[l][call]]);
                found.off_ps += std::min(one.leave_ps, span.end_ps) - std::max(one.enter_ps, span.begin_ps);
            }
        }
        if (!stops && timeline.last_ps == span.end_ps) {
            pass(timeline.last_ps, events_.ends[l]);
        }
        found.finish = place[last];
        found.begin_ps = span.begin_ps;
        found.rest_ps = span.end_ps - last_ps;
    }

    /// Gives the edges their sources in the graph. By node of the draft, its place there.
    [[nodiscard]] HugeColumn<std::uint32_t> placed(Graph& graph) const {
        HugeColumn<std::uint32_t> place(nodes_.size());
        for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
            place[nodes_[i]] = i;
        }
        for (auto& arc : graph.arcs) {
            arc.source = arc.source == kNone ? kNone : place[arc.source];
        }
        return place;
    }

    /// Node after node, while edges name the draft's nodes: of most, the time is what was measured. What is `absent` as
    /// the program ran keeps its cost.
    void calibrate_in_order(Graph& graph, const std::vector<bool>& absent) const {
        const auto& measured = draft_.measured;
        const auto events = static_cast<std::uint32_t>(measured.size());
        HugeColumn<std::int64_t> found(graph.nodes() - events);  // of the nodes that the trace does not show
        const auto time = [&](std::uint32_t node) { return node < events ? measured[node] : found[node - events]; };
        // Memory that is not touched costs none, and a column that grows needs it twice.
        graph.own_weights.reserve(graph.arcs.size());
        graph.own_models.reserve(graph.arcs.size());
        std::vector<Edge> here;
        for (std::uint32_t place = 0; place < graph.nodes(); ++place) {
            const auto node = nodes_[place];
            const auto first = graph.first_edge[place];
            here.clear();
            for (auto i = first; i < graph.first_edge[place + 1]; ++i) {
                here.push_back(graph.edge(i));
                here.back().weight = !absent.empty() && absent[i] ? kNever : here.back().weight;
            }
            const auto at = logpost::replay::calibrate(graph, here, measured[node], measured.fresh(node), time);
            if (node >= events) {
                found[node - events] = at;
            }
            for (std::uint32_t i = 0; i < here.size(); ++i) {
                if (const auto work = work_.empty() ? work_.end() : work_.find(first + i); work != work_.end()) {
                    here[i].weight = work->second;
                }
                if ((absent.empty() || !absent[first + i]) && here[i].weight != graph.costs[here[i].model]) {
                    graph.own(first + i, here[i].weight);
                }
            }
        }
    }

    /// Gives separate weights to edges that may need one, whatever the order in which they are calibrated.
    static void own_weights(Graph& graph, const Recorded& recorded, const std::vector<bool>& absent) {
        for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
            for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
                const bool never = !absent.empty() && absent[i];
                if (never || recorded.measured_ps(node) != kUnobserved || graph.crossing_of[i] != kNone) {
                    graph.own(i, never ? kNever : graph.weight_of(i));
                }
            }
        }
    }

    void add_crossings(Graph& graph, std::span<const std::uint32_t> moved_to) {
        if (draft_.crossings.empty()) {
            return;
        }
        graph.crossings = std::move(draft_.crossings);
        graph.crossing_of.assign(graph.arcs.size(), kNone);
        for (std::uint32_t i = 0; i < graph.crossings.size(); ++i) {
            for (auto* edge : {&graph.crossings[i].edge, &graph.crossings[i].sent_edge}) {
                if (*edge != kNone) {
                    *edge = moved_to[*edge];
                    graph.crossing_of[*edge] = i;
                }
            }
        }
    }

    /// Takes away what is there only as the program ran.
    void exchange(Graph& graph, std::span<const std::uint32_t> moved_to) const {
        std::vector<bool> gone(graph.arcs.size());
        for_each_in(exchanged_.only_recorded, moved_to, [&](std::size_t edge) { gone[edge] = true; });
        std::vector<std::uint32_t> edge_of(graph.crossings.empty() ? 0 : graph.arcs.size());
        const auto shared = static_cast<std::uint32_t>(graph.models.size());
        std::uint32_t kept = 0;
        std::uint32_t own = 0;  // of these, those with a separate weight
        std::uint32_t i = 0;
        for (std::size_t node = 0; node < graph.nodes(); ++node) {
            const auto end = graph.first_edge[node + 1];
            graph.first_edge[node] = kept;
            for (; i < end; ++i) {
                if (gone[i]) {
                    continue;
                }
                if (!edge_of.empty()) {
                    edge_of[i] = kept;
                    graph.crossing_of[kept] = graph.crossing_of[i];
                }
                auto& arc = graph.arcs[kept++] = graph.arcs[i];
                if (const auto row = arc.row(); row >= shared) {
                    graph.own_weights[own] = graph.own_weights[row - shared];
                    graph.own_models[own] = graph.own_models[row - shared];
                    arc.set_row(shared + own++);
                }
            }
        }
        graph.first_edge.back() = kept;
        graph.arcs.resize(kept);
        graph.own_weights.resize(own);
        graph.own_models.resize(own);
        graph.crossing_of.resize(graph.crossing_of.empty() ? 0 : kept);
        for (auto& crossing : graph.crossings) {
            crossing.edge = edge_of[crossing.edge];
            crossing.sent_edge = crossing.sent_edge == kNone ? kNone : edge_of[crossing.sent_edge];
        }
    }

    Draft draft_;
    HugeColumn<std::uint32_t> nodes_;
    Events events_;
    const Exchanged& exchanged_;
    const Program& program_;
    const Network* network_;
    std::unordered_map<std::uint32_t, std::int64_t> work_;  // that moves: by edge, its duration where it is then
};

}  // namespace

std::string calls_of(const Cycle& cycle, const Events& events) {
    constexpr std::size_t kMost = 8;
    struct Stretch {  // of calls in a row
        std::size_t location;
        std::ptrdiff_t first, last;
    };
    std::vector<Stretch> stretches;
    for (const auto node : cycle.nodes) {
        for (std::size_t l = 0; l < events.enters.size(); ++l) {
            for (const auto* nodes : {&events.enters[l], &events.leaves[l]}) {
                const auto at = std::ranges::lower_bound(*nodes, node);
                if (at == nodes->end() || *at != node) {
                    continue;
                }
                const auto call = at - nodes->begin();
                if (!stretches.empty() && stretches.back().location == l && call - stretches.back().last <= 1 &&
                    call >= stretches.back().last) {
                    stretches.back().last = call;
                } else {
                    stretches.push_back({l, call, call});
                }
            }
        }
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(stretches.size(), kMost); ++i) {
        const auto& [location, first, last] = stretches[i];
        text += (i == 0 ? "location " : " -> location ") + std::to_string(location) +
                (first == last ? ", call " : ", calls ") + std::to_string(first) +
                (first == last ? "" : " to " + std::to_string(last));
    }
    return text + (stretches.size() > kMost ? " -> ..." : "");
}

Graph calibrated(Draft&& draft, HugeColumn<std::uint32_t>&& nodes, Events&& events, const Exchanged& exchanged,
                 const Program& program, const Network* network) {
    return Calibration(std::move(draft), std::move(nodes), std::move(events), exchanged, program, network).graph();
}

}  // namespace logpost::replay
