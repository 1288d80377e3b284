#pragma once

/// The messages of a replay that wait for NICs and share links, event by event (contention.hpp).

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "replay/native/graph/contention.hpp"
#include "replay/native/graph/schedule.hpp"
#include "replay/native/memory/huge_column.hpp"
#include "replay/native/program/wide.hpp"
#include "replay/native/servers/endpoints.hpp"
#include "replay/native/servers/flow_sharing.hpp"

namespace logpost::replay {

/// A graph's points in the order of time, and the messages in flight.
class Simulation {
  public:
    /// With `deadlines` of the nodes, no message waits longer than they allow, and what the model says beyond that is
    /// noted down in `limited`.
    Simulation(const Graph& graph, const SyncPoints& points, const Routes& routes, const Parameters& machine,
               Distance MessageClass::* distance, HugeColumn<Crossing>* limited = nullptr,
               std::span<const std::int64_t> deadlines = {})
        : graph_(graph),
          points_(points),
          limited_(limited),
          deadlines_(deadlines),
          routes_(routes.of_crossing),
          network_(routes.network),
          costs_(class_costs(graph, machine, distance)),
          links_(static_cast<std::size_t>(routes.network.links)),
          times_(points.size()),
          delays_(graph.crossings.size()),
          ways_(graph.crossings.size()),
          room_(limited == nullptr ? 0 : graph.crossings.size()),
          schedule_(points.followers.sources) {
        use_.busy_ps.assign(links_, 0);
        use_.waited_ps.assign(links_, 0);
        find_nics(routes.placement, machine.nics_per_node);
        find_targets();
    }

    /// `resolve(point)` is a point's time, once its sources have theirs; `begin_ps(in)` the time at which an in-edge of
    /// a message between nodes begins, once the point has its time that it comes from.
    template <class Resolve, class BeginPs>
    void run(Resolve&& resolve, BeginPs&& begin_ps) {
        FlowSharing sharing(links_ + 2 * nics_);
        for (std::uint32_t point = 0; point < times_.size(); ++point) {
            if (schedule_.waits(point) == 0) {
                schedule_.ready(point);
            }
        }
        const auto settle = [&](std::uint32_t point) {
            times_[point] = resolve(point);
            release(point, begin_ps);
        };
        const auto happen = [&](const Event& event) {
            clock_ = std::max(clock_, event.time);
            take_event(sharing, event);
        };
        const auto leave_network = [&](const Event* next) {
            const auto end = sharing.next_end();
            if (end == INT64_MAX || (next != nullptr && (next->time <= clock_ || next->time < end))) {
                return false;
            }
            clock_ = std::max(clock_, end);
            left_network(sharing.end(), end);
            return true;
        };
        if (schedule_.run(settle, happen, leave_network) != times_.size()) {
            throw CycleError("the recorded calls wait for each other's messages");
        }
    }

    [[nodiscard]] HugeColumn<std::int64_t>& times() noexcept { return times_; }
    [[nodiscard]] std::vector<Delay>& delays() noexcept { return delays_; }
    [[nodiscard]] NetworkUse& use() noexcept { return use_; }

  private:
    enum class What : std::uint8_t {
        requests,
        leaves,
        due,
        arrives
    };  // for its NIC; it; has left; to the receiver's NIC
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
        std::int64_t started = 0;        // when it had its sender's NIC
        std::int64_t begun = 0;          // likewise, as the network saw it
        std::uint32_t place = kNowhere;  // among the flows
        std::uint32_t target = 0;        // point that waits until it has arrived
        std::uint32_t sender = 0;        // likewise until it has left
    };

    void find_nics(const Placement& placement, std::int32_t nics_per_node) {
        nic_.assign(graph_.communicates.size(), 0);
        const auto groups = endpoint_groups(graph_.communicates, placement, nics_per_node);
        nics_ = groups.size() + 1;  // the last one: of locations that exchange no messages
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
        otherwise_free_.assign(nics_, INT64_MIN / 2);
        in_free_.assign(2 * nics_, INT64_MIN / 2);
    }

    /// Which points wait for a message; none waits for one that occupies its server for no time.
    void find_targets() {
        for (const auto& in : points_.ins) {
            if (in.crossing != kNone) {
                auto& way = ways_[in.crossing];
                (in.edge == graph_.crossings[in.crossing].edge ? way.target : way.sender) = in.target;
            }
        }
        for (const auto queue : points_.queues) {
            const auto& of = graph_.models[graph_.model_of(points_.ins[queue].edge)];
            if (edge_cost(of, costs_[of.message]) == 0) {
                idle_.resize(points_.ins.size());
                idle_[queue] = 1;
                schedule_.arrive(points_.ins[queue].target);
            }
        }
    }

    [[nodiscard]] const EdgeModel& model(std::uint32_t crossing) const noexcept {
        return graph_.models[routes_[crossing].model];
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

    /// Between messages at a NIC whose bytes share it: g where that is longer than their bytes.
    [[nodiscard]] std::int64_t gap_ps(std::uint32_t id) const noexcept {
        const auto service = cost(id).service;
        return static_cast<double>(service) > bytes(id) * byte_ps(id) + 1 ? service : 0;
    }

    /// The processor that takes a message g after the one before: a processor takes those of a collective operation
    /// once it is in it, so that none that it waits for before that is behind them.
    [[nodiscard]] std::size_t taker(std::uint32_t id) const noexcept {
        const auto nic = nic_[index(graph_.crossings[id].to)];
        return model(id).kind == EdgeModel::Kind::collective ? nics_ + nic : nic;
    }

    void arrive(std::uint32_t point) {
        if (schedule_.arrive(point)) {
            schedule_.ready(point);
        }
    }

    template <class BeginPs>
    void release(std::uint32_t point, BeginPs&& begin_ps) {
        points_.followers.for_each(point, [&](std::uint32_t number) {
            const auto& in = points_.ins[number];
            if (!idle_.empty() && idle_[number] != 0) {
                return;
            }
            if (in.crossing == kNone || !routes_[in.crossing].between_nodes) {
                arrive(in.target);
            } else if (in.edge == graph_.crossings[in.crossing].edge) {
                const bool sends = (model(in.crossing).terms & kTermSend) != 0;
                const auto& of = cost(in.crossing);
                const auto at = begin_ps(number);
                if (limited_ != nullptr) {
                    room_[in.crossing] = room(in.crossing, at);
                }
                schedule_.at({at + (sends ? of.o_s + of.l_mw / 2 : 0), in.crossing, What::requests});
            }
        });
    }

    /// What the deadlines leave a message for waiting. Both of its edges begin at the same node.
    [[nodiscard]] std::int64_t room(std::uint32_t id, std::int64_t begin_ps) const noexcept {
        const auto& crossing = graph_.crossings[id];
        std::int64_t least = INT64_MAX;
        for (const auto& [at, target] :
             {std::pair{crossing.edge, ways_[id].target}, std::pair{crossing.sent_edge, ways_[id].sender}}) {
            if (at != kNone) {
                least = std::min(least, deadlines_[points_.nodes[target]] - begin_ps - graph_.weight_of(at));
            }
        }
        return std::max<std::int64_t>(0, least);
    }

    void take_event(FlowSharing& sharing, const Event& event) {
        auto& way = ways_[event.crossing];
        const auto& crossing = graph_.crossings[event.crossing];
        auto* limited = limited_ == nullptr ? nullptr : &(*limited_)[event.crossing];
        const auto& of = cost(event.crossing);
        switch (event.what) {
            case What::requests: {
                auto& free = out_free_[nic_[index(crossing.from)]];
                auto& other = otherwise_free_[nic_[index(crossing.from)]];
                use_.turns += std::max(event.time, free) != std::max(event.time, other) ? 1 : 0;
                if (limited != nullptr) {
                    auto& room = room_[event.crossing];
                    limited->sooner_out_ps = std::max<std::int64_t>(0, free - event.time - room);
                    way.started = std::max(event.time, free - limited->sooner_out_ps);
                    room -= way.started - event.time;
                } else {
                    way.started = std::max(event.time, free - crossing.sooner_out_ps);
                }
                delays_[event.crossing].sent_ps = way.started - event.time;
                free = way.started + (graph_.nics_share ? gap_ps(event.crossing) : of.service);
                other = way.started + (graph_.nics_share ? of.service : gap_ps(event.crossing));
                if (way.started > clock_) {
                    schedule_.at({way.started, event.crossing, What::leaves});
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
            case What::arrives: {
                // Bytes of messages share the NIC; that they arrive no closer than g is not known there.
                auto& free = in_free_[taker(event.crossing)];
                const auto gap = gap_ps(event.crossing);
                auto sooner = crossing.sooner_in_ps;
                if (limited != nullptr) {
                    sooner = limited->sooner_in_ps =
                        std::max<std::int64_t>(0, free + gap - event.time - room_[event.crossing]);
                }
                const auto taken = std::max(event.time, free + gap - sooner);
                free = taken;
                delays_[event.crossing].whole_ps += taken - event.time;
                use_.delayed += delays_[event.crossing].whole_ps > 0 ? 1 : 0;
                if (limited != nullptr && room_[event.crossing] - (taken - event.time) <= graph_.tick_ps) {
                    const auto& waits = delays_[event.crossing];
                    use_.confirmed_ps.leaving += static_cast<WidePs>(waits.sent_ps);
                    use_.confirmed_ps.arriving += static_cast<WidePs>(waits.whole_ps - waits.sent_ps);
                }
                arrive(way.target);
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
            if (routes_[id].pair != kNone) {
                for (const auto link : network_.links_of(routes_[id].pair)) {
                    shares_.push_back({static_cast<std::uint32_t>(link), network_.byte_on(link)});
                    use_.busy_ps[static_cast<std::size_t>(link)] += size * network_.byte_on(link);
                }
            }
            if (G > 0) {
                const auto nic = [&](Location location, std::size_t first) {
                    return FlowSharing::Share{static_cast<std::uint32_t>(links_ + first + nic_[index(location)]), G};
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
                schedule_.at({way.begun + alone(id) + room_[id], id, What::due});
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
        if (limited_ != nullptr) {
            room_[id] -= stretch;
        }
        const auto waited = delays_[id].sent_ps + stretch;
        use_.total_ps += stretch;
        if (routes_[id].pair != kNone) {
            for (const auto link : network_.links_of(routes_[id].pair)) {
                add_saturating(use_.waited_ps[static_cast<std::size_t>(link)], stretch);
            }
        }
        delays_[id] = {waited, waited};
        const auto& of = cost(id);
        schedule_.at({way.started + stretch + of.serialization + of.L, id, What::arrives});
        if (crossing.sent_edge != kNone) {
            arrive(way.sender);
        }
    }

    const Graph& graph_;
    const SyncPoints& points_;
    HugeColumn<Crossing>* limited_;
    std::span<const std::int64_t> deadlines_;  // by node: when the recorded times need it at the latest
    std::span<const Routes::Route> routes_;
    const Network& network_;
    std::vector<Cost> costs_;  // by message class
    std::size_t links_;
    std::size_t nics_ = 0;
    std::vector<std::size_t> nic_;              // by location
    std::vector<std::int64_t> out_free_;        // by NIC: since when
    std::vector<std::int64_t> otherwise_free_;  // likewise, were NICs shared where they are not, or not where they are
    std::vector<std::int64_t> in_free_;         // by taker: when the last message arrived
    std::vector<std::uint8_t> idle_;            // by in-edge: it orders nothing; empty: all order
    HugeColumn<std::int64_t> times_;
    std::vector<Delay> delays_;
    HugeColumn<Way> ways_;            // by crossing
    std::vector<std::int64_t> room_;  // likewise: that recorded times leave for its waits; without deadlines: any
    std::vector<FlowSharing::Share> shares_;
    Schedule<Event> schedule_;  // of the points
    std::int64_t clock_ = INT64_MIN;
    NetworkUse use_;
};

}  // namespace logpost::replay
