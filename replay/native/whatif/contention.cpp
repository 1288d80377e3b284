#include "replay/native/whatif/contention.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <span>
#include <utility>

#include "replay/native/endpoints.hpp"
#include "replay/native/flow_sharing.hpp"
#include "replay/native/threads.hpp"
#include "replay/native/wide.hpp"

namespace logpost::replay {
namespace {

/// A graph's events in the order of time, and the messages that are under way.
class Simulation {
  public:
    /// With `deadlines` of the nodes, no message waits longer than they allow, and what the model says beyond that is
    /// noted down in `limited`.
    Simulation(const Graph& graph, const Program& program, const Placement& placement, const Network& network,
               const Parameters& machine, Distance MessageClass::* distance, std::vector<Crossing>* limited = nullptr,
               std::span<const std::int64_t> deadlines = {})
        : graph_(graph),
          limited_(limited),
          deadlines_(deadlines),
          network_(network),
          costs_(class_costs(graph, machine, distance)),
          links_(static_cast<std::size_t>(network.links)),
          times_(graph.nodes()),
          delays_(graph.crossings.size()) {
        use_.busy_ps.assign(links_, 0);
        use_.waited_ps.assign(links_, 0);
        find_nics(program, placement, machine.nics_per_node);
        find_routes(placement);
        find_targets();
    }

    /// `resolve(node, times, delays)` is a node's time, once its sources have theirs.
    template <class Resolve>
    void run(Resolve&& resolve) {
        FlowSharing sharing(links_ + 2 * nics_);
        for (std::uint32_t node = 0; node < times_.size(); ++node) {
            if (waiting_[node] == 0) {
                ready_.push_back(node);
            }
        }
        std::size_t done = 0;
        for (;;) {
            for (; done < ready_.size(); ++done) {
                const auto node = ready_[done];
                times_[node] = resolve(node, times_, delays_);
                release(node);
            }
            if (!events_.empty() && events_.top().time <= clock_) {
                take_event(sharing);
                continue;
            }
            const auto end = sharing.next_end();
            if (events_.empty() ? end == INT64_MAX : false) {
                break;
            }
            if (events_.empty() || end <= events_.top().time) {
                clock_ = std::max(clock_, end);
                left_network(sharing.end(), end);
            } else {
                clock_ = events_.top().time;
                take_event(sharing);
            }
        }
        if (done != times_.size()) {
            throw CycleError("the recorded calls wait for each other's messages");
        }
    }

    [[nodiscard]] std::vector<std::int64_t>& times() noexcept { return times_; }
    [[nodiscard]] std::vector<Delay>& delays() noexcept { return delays_; }
    [[nodiscard]] NetworkUse& use() noexcept { return use_; }

  private:
    enum class What : std::uint8_t { asks, leaves, due, comes };  // for its NIC; it; has left; to the receiver's NIC
    static constexpr std::uint32_t kNowhere = UINT32_MAX;
    struct Event {
        std::int64_t time;
        std::uint32_t crossing;
        What what;
        friend bool operator>(const Event& a, const Event& b) noexcept {
            return a.time != b.time ? a.time > b.time : a.crossing > b.crossing;
        }
    };
    struct Way {
        std::size_t pair = Network::kNoPair;
        bool between_nodes = false;
        std::int64_t asked = 0;          // when it asked for its sender's NIC
        std::int64_t started = 0;        // when it had it
        std::int64_t begun = 0;          // likewise, as the network saw it
        std::int64_t room = 0;           // that recorded times leave for its waits; without deadlines: any
        std::uint32_t place = kNowhere;  // among the flows
    };

    void find_nics(const Program& program, const Placement& placement, std::int32_t nics_per_node) {
        nic_.assign(program.timelines.size(), 0);
        const auto groups = endpoint_groups(program, placement, nics_per_node);
        nics_ = groups.size() + 1;  // the last one: of locations that exchange no messages of their own
        for (std::size_t i = 0; i < groups.size(); ++i) {
            for (const auto location : groups[i]) {
                nic_[location] = i + 1;
            }
        }
        // Members of collective operations that send no other message: with others of their node, or alone.
        for (std::size_t l = 0; l < nic_.size(); ++l) {
            if (nic_[l] != 0) {
                continue;
            }
            for (std::size_t other = 0; other < l && nic_[l] == 0; ++other) {
                if (placement[other].node == placement[l].node && placement[l].node != kUndefined) {
                    nic_[l] = nic_[other];
                }
            }
            nic_[l] = nic_[l] == 0 ? nics_++ : nic_[l];
        }
        out_free_.assign(nics_, INT64_MIN / 2);
        in_free_.assign(nics_, INT64_MIN / 2);
    }

    void find_routes(const Placement& placement) {
        ways_.resize(graph_.crossings.size());
        for (std::size_t i = 0; i < ways_.size(); ++i) {
            const auto from = graph_.crossings[i].from;
            const auto to = graph_.crossings[i].to;
            ways_[i].between_nodes = placement.between(from, to) == Locality::other_node;
            ways_[i].pair = network_.pair(placement[static_cast<std::size_t>(from)].node,
                                          placement[static_cast<std::size_t>(to)].node);
        }
    }

    /// Whether the edge's target waits for its source: not behind what takes a server for no time.
    [[nodiscard]] bool orders_nodes(const Edge& edge) const noexcept {
        const auto& of = graph_.models[edge.model];
        return edge.source != kNone && !(is_queue(of) && edge_cost(of, costs_[of.message]) == 0);
    }

    void find_targets() {
        target_.resize(graph_.edges.size());
        waiting_.assign(graph_.nodes(), 0);
        first_out_.assign(graph_.nodes() + 1, 0);
        for (std::uint32_t node = 0; node < graph_.nodes(); ++node) {
            for (auto i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i) {
                target_[i] = node;
                if (orders_nodes(graph_.edges[i])) {
                    ++waiting_[node];
                    ++first_out_[graph_.edges[i].source + 1];
                }
            }
        }
        std::partial_sum(first_out_.begin(), first_out_.end(), first_out_.begin());
        out_.resize(first_out_.back());
        auto next = first_out_;
        for (std::uint32_t i = 0; i < graph_.edges.size(); ++i) {
            if (orders_nodes(graph_.edges[i])) {
                out_[next[graph_.edges[i].source]++] = i;
            }
        }
    }

    [[nodiscard]] const EdgeModel& model(std::uint32_t crossing) const noexcept {
        return graph_.models[graph_.edges[graph_.crossings[crossing].edge].model];
    }
    [[nodiscard]] const Cost& cost(std::uint32_t crossing) const noexcept { return costs_[model(crossing).message]; }
    [[nodiscard]] double bytes(std::uint32_t crossing) const noexcept {
        return static_cast<double>(graph_.messages[model(crossing).message].bytes);
    }
    /// G of the message: how long a byte occupies its NICs.
    [[nodiscard]] double byte_ps(std::uint32_t crossing) const noexcept {
        const auto size = bytes(crossing);
        return size > 1 ? static_cast<double>(cost(crossing).serialization) / (size - 1) : 0;
    }

    void arrive(std::uint32_t node) {
        if (--waiting_[node] == 0) {
            ready_.push_back(node);
        }
    }

    void release(std::uint32_t node) {
        for (auto k = first_out_[node]; k < first_out_[node + 1]; ++k) {
            const auto edge = out_[k];
            const auto crossing = graph_.crossing_of[edge];
            if (crossing == kNone || !ways_[crossing].between_nodes) {
                arrive(target_[edge]);
            } else if (edge == graph_.crossings[crossing].edge) {
                const bool sends = (model(crossing).terms & kTermSend) != 0;
                const auto& of = cost(crossing);
                ways_[crossing].room = room(crossing);
                events_.push({times_[node] + (sends ? of.o_s + of.l_mw / 2 : 0), crossing, What::asks});
            }
        }
    }

    /// What the deadlines leave a message for waiting.
    [[nodiscard]] std::int64_t room(std::uint32_t id) const noexcept {
        if (deadlines_.empty()) {
            return INT64_MAX;
        }
        const auto& crossing = graph_.crossings[id];
        std::int64_t least = INT64_MAX;
        for (const auto at : {crossing.edge, crossing.sent_edge}) {
            if (at != kNone) {
                const auto& edge = graph_.edges[at];
                least = std::min(least, deadlines_[target_[at]] - times_[edge.source] - edge.weight);
            }
        }
        return std::max<std::int64_t>(0, least);
    }

    void take_event(FlowSharing& sharing) {
        const auto event = events_.top();
        events_.pop();
        auto& way = ways_[event.crossing];
        const auto& crossing = graph_.crossings[event.crossing];
        auto* limited = limited_ == nullptr ? nullptr : &(*limited_)[event.crossing];
        const auto& of = cost(event.crossing);
        switch (event.what) {
            case What::asks: {
                auto& free = out_free_[nic_[static_cast<std::size_t>(crossing.from)]];
                way.asked = event.time;
                if (limited != nullptr) {
                    limited->sooner_out_ps = std::max<std::int64_t>(0, free - event.time - way.room);
                    way.started = std::max(event.time, free - limited->sooner_out_ps);
                    way.room -= way.started - event.time;
                } else {
                    way.started = std::max(event.time, free - crossing.sooner_out_ps);
                }
                free = way.started + of.service;
                if (way.started > clock_) {
                    events_.push({way.started, event.crossing, What::leaves});
                } else {
                    begin(sharing, event.crossing);
                }
                break;
            }
            case What::leaves:
                begin(sharing, event.crossing);
                break;
            case What::due:
                if (limited != nullptr && way.place != kNowhere) {
                    limited->bytes -= sharing.stop(event.time, way.place);
                    left_network(event.crossing, event.time);
                }
                break;
            case What::comes: {
                // Bytes of messages share the NIC; that they come no closer than g is not known there.
                auto& free = in_free_[nic_[static_cast<std::size_t>(crossing.to)]];
                const auto gap = static_cast<double>(of.service) > bytes(event.crossing) * byte_ps(event.crossing) + 1
                                     ? of.service
                                     : 0;
                auto sooner = crossing.sooner_in_ps;
                if (limited != nullptr) {
                    sooner = limited->sooner_in_ps = std::max<std::int64_t>(0, free + gap - event.time - way.room);
                }
                const auto taken = std::max(event.time, free + gap - sooner);
                free = taken;
                delays_[event.crossing].whole_ps += taken - event.time;
                use_.delayed += delays_[event.crossing].whole_ps > 0 ? 1 : 0;
                arrive(target_[crossing.edge]);
                break;
            }
        }
    }

    void begin(FlowSharing& sharing, std::uint32_t id) {
        auto& way = ways_[id];
        way.begun = std::max(way.started, clock_);
        const auto& crossing = graph_.crossings[id];
        const auto G = byte_ps(id);
        const auto size = crossing.bytes;
        ++use_.messages;
        shares_.clear();
        if (size > 1) {
            if (way.pair != Network::kNoPair) {
                for (const auto link : network_.links_of(way.pair)) {
                    shares_.push_back({static_cast<std::uint32_t>(link), network_.byte_on(link)});
                    use_.busy_ps[static_cast<std::size_t>(link)] += size * network_.byte_on(link);
                }
            }
            if (G > 0) {
                const auto nic = [&](std::int32_t location, std::size_t first) {
                    return FlowSharing::Share{
                        static_cast<std::uint32_t>(links_ + first + nic_[static_cast<std::size_t>(location)]), G};
                };
                shares_.push_back(nic(crossing.from, 0));
                shares_.push_back(nic(crossing.to, nics_));
            }
        }
        if (shares_.empty()) {
            left_network(id, way.begun);
        } else {
            way.place = sharing.start(way.begun, id, size, shares_);
            if (limited_ != nullptr) {
                events_.push({way.begun + alone(id) + way.room, id, What::due});
            }
        }
    }

    /// How long a message occupies its NICs if it has them for itself.
    [[nodiscard]] std::int64_t alone(std::uint32_t id) const noexcept {
        return static_cast<std::int64_t>(std::ceil(bytes(id) * byte_ps(id)));
    }

    void left_network(std::uint32_t id, std::int64_t time) {
        auto& way = ways_[id];
        const auto& crossing = graph_.crossings[id];
        const auto stretch = std::max<std::int64_t>(0, time - way.begun - alone(id));
        way.place = kNowhere;
        way.room -= stretch;
        const auto waited = way.started - way.asked + stretch;
        use_.total_ps += stretch;
        if (way.pair != Network::kNoPair) {
            for (const auto link : network_.links_of(way.pair)) {
                add_saturating(use_.waited_ps[static_cast<std::size_t>(link)], stretch);
            }
        }
        delays_[id] = {waited, waited};
        const auto& of = cost(id);
        events_.push({way.started + stretch + of.serialization + of.L, id, What::comes});
        if (crossing.sent_edge != kNone) {
            arrive(target_[crossing.sent_edge]);
        }
    }

    const Graph& graph_;
    std::vector<Crossing>* limited_;
    std::span<const std::int64_t> deadlines_;  // by node: when the recorded times need it at the latest
    const Network& network_;
    std::vector<Cost> costs_;  // by message class
    std::size_t links_;
    std::size_t nics_ = 0;
    std::vector<std::size_t> nic_;                  // by location
    std::vector<std::int64_t> out_free_, in_free_;  // by NIC: since when; when the last message came
    std::vector<std::uint32_t> target_;             // by edge
    std::vector<std::uint32_t> first_out_, out_;    // edges by their source
    std::vector<std::uint32_t> waiting_;            // by node: sources without a time
    std::vector<std::uint32_t> ready_;              // nodes whose sources have times, in that order
    std::vector<std::int64_t> times_;
    std::vector<Delay> delays_;
    std::vector<Way> ways_;  // by crossing
    std::vector<FlowSharing::Share> shares_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::int64_t clock_ = INT64_MIN;
    NetworkUse use_;
};

}  // namespace

namespace {

/// When each node must have been at the latest, so that the nodes behind it can be when they were measured.
std::vector<std::int64_t> deadlines(const Graph& graph, const Recorded& recorded) {
    std::vector<std::int64_t> latest(graph.nodes(), INT64_MAX / 2);
    for (auto node = static_cast<std::uint32_t>(graph.nodes()); node-- > 0;) {
        if (recorded.measured_ps(node) != kUnobserved) {
            latest[node] = recorded.measured_ps(node);
        }
        for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
            const auto& edge = graph.edges[i];
            if (edge.source != kNone && edge.weight > kNever && orders(graph, edge)) {
                latest[edge.source] = std::min(latest[edge.source], latest[node] - edge.weight);
            }
        }
    }
    return latest;
}

/// Takes off the messages what the model says beyond the recorded times.
void limit(Graph& graph, const Program& program, const Network& network, const Parameters& machine,
           const Recorded& recorded) {
    for (auto& crossing : graph.crossings) {
        const auto& model = graph.models[graph.edges[crossing.edge].model];
        crossing.bytes = static_cast<double>(graph.messages[model.message].bytes);
    }
    const auto latest = deadlines(graph, recorded);
    auto limited = graph.crossings;
    Simulation simulation(graph, program, program.placement, network, machine, &MessageClass::recorded, &limited,
                          latest);
    simulation.run([&](std::uint32_t node, const std::vector<std::int64_t>& times, const std::vector<Delay>& delays) {
        if (recorded.measured_ps(node) != kUnobserved) {
            return recorded.measured_ps(node);
        }
        std::int64_t time = INT64_MIN;
        for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
            const auto& edge = graph.edges[i];
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
}

}  // namespace

void calibrate(Graph& graph, const Program& program, const Network& network, const Parameters& machine,
               const Recorded& recorded) {
    limit(graph, program, network, machine, recorded);
    Simulation simulation(graph, program, program.placement, network, machine, &MessageClass::recorded);
    simulation.run([&](std::uint32_t node, const std::vector<std::int64_t>& times, const std::vector<Delay>& delays) {
        for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
            if (const auto crossing = graph.crossing_of[i]; crossing != kNone) {
                const bool sent = graph.crossings[crossing].sent_edge == i;
                graph.edges[i].weight += sent ? delays[crossing].sent_ps : delays[crossing].whole_ps;
            }
        }
        return calibrate(graph, node, recorded, times);
    });
    for (std::size_t i = 0; i < graph.crossings.size(); ++i) {
        graph.crossings[i].delay_ps = simulation.delays()[i].whole_ps;
        graph.crossings[i].sent_delay_ps = simulation.delays()[i].sent_ps;
    }
}

std::vector<std::int64_t> times_with_contention(const Graph& graph, const Program& program, const Placement& placement,
                                                const Network& network, const Setting& setting, Weights& weights,
                                                std::size_t lane, NetworkUse& use) {
    Simulation simulation(graph, program, placement, network, setting.machine, &MessageClass::planned);
    simulation.run([&](std::uint32_t node, const std::vector<std::int64_t>& times, const std::vector<Delay>& delays) {
        std::int64_t latest = INT64_MIN;
        for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
            const auto& edge = graph.edges[i];
            if (edge.source == kNone) {
                return edge.weight;
            }
            std::int64_t delayed = 0;
            if (const auto of = graph.crossing_of[i]; of != kNone) {
                const auto& crossing = graph.crossings[of];
                delayed = crossing.sent_edge == i ? delays[of].sent_ps - crossing.sent_delay_ps
                                                  : delays[of].whole_ps - crossing.delay_ps;
            }
            latest = std::max(latest, times[edge.source] + weights.weight(edge, lane, delayed));
        }
        return latest;
    });
    use = std::move(simulation.use());
    weights.set_delays(lane, std::move(simulation.delays()));
    return std::move(simulation.times());
}

std::vector<std::int64_t> makespans_with_contention(const Graph& graph, const Program& program,
                                                    const Placement& placement, const Network& network,
                                                    std::span<const Setting> settings, Weights& weights,
                                                    unsigned threads) {
    std::vector<std::int64_t> found(settings.size());
    for_each_parallel(settings.size(), threads, 1, [&](std::size_t lane, unsigned) {
        NetworkUse use;
        const auto times =
            times_with_contention(graph, program, placement, network, settings[lane], weights, lane, use);
        std::int64_t begin = INT64_MAX;
        std::int64_t end = INT64_MIN;
        for (std::size_t l = 0; l < graph.ends.size(); ++l) {
            if (graph.ends[l] != kNone) {
                begin = std::min(begin, times[graph.begins[l]]);
                end = std::max(end, times[graph.ends[l]]);
            }
        }
        found[lane] = begin == INT64_MAX ? 0 : end - begin;
    });
    return found;
}

}  // namespace logpost::replay
