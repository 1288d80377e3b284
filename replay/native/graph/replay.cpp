#include "replay/native/graph/replay.hpp"

#include <algorithm>
#include <utility>

#include "replay/native/graph/calibrate.hpp"
#include "replay/native/graph/pass.hpp"
#include "replay/native/memory/threads.hpp"

namespace logpost::replay {

Weights::Weights(const Graph& graph, const Parameters& machine, std::span<const Setting> settings)
    : graph_(graph), lanes_(settings.size()), delays_(settings.size()) {
    const auto rows = graph.models.size() * lanes_;
    scaled_.assign(graph.models.size(), 0);
    shift_.assign(rows, 0);
    floor_.assign(rows, 0);
    factor_.assign(rows, 1.0);
    const auto before = class_costs(graph, machine, &MessageClass::recorded);
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
        const auto& setting = settings[lane];
        const auto after = class_costs(graph, setting.machine);
        for (std::size_t m = 0; m < graph.models.size(); ++m) {
            const auto& model = graph.models[m];
            const auto row = m * lanes_ + lane;
            if (model.kind == EdgeModel::Kind::compute) {
                scaled_[m] = 1;
                factor_[row] = setting.factor(model);
            } else if (!setting.unexplained && !model.own) {
                shift_[row] = kNever;  // to nothing
                floor_[row] = is_queue(model) ? kNever : 0;
            } else if (model.terms != 0) {
                const auto cost = edge_cost(model, after[model.message]);
                shift_[row] = cost - edge_cost(model, before[model.message]);
                floor_[row] = cost == 0 && is_queue(model) ? kNever : 0;
            }
        }
    }
}

void Weights::set_delays(std::size_t lane, std::vector<Delay> of_crossing) {
    delays_[lane] = std::move(of_crossing);
}

NetworkWaits<std::int64_t> Weights::waits_longer(std::uint32_t edge, std::size_t lane) const noexcept {
    const auto* crossing = crossing_of(edge);
    if (crossing == nullptr || delays_[lane].empty()) {
        return {};
    }
    const auto& now = delays_[lane][static_cast<std::size_t>(crossing - graph_.crossings.data())];
    const auto leaving = now.sent_ps - crossing->sent_delay_ps;
    return {leaving, crossing->sent_edge == edge ? 0 : now.whole_ps - crossing->delay_ps - leaving};
}

namespace {

/// The times of all nodes.
template <std::size_t Lanes>
struct KeptTimes {
    std::vector<std::int64_t>& times;
    std::size_t lanes, first_lane;

    void edge(const LaneTimes<Lanes>&, const LaneTimes<Lanes>&) noexcept {}
    [[gnu::always_inline]] void at(std::size_t node, const LaneTimes<Lanes>& latest, bool) noexcept {
        std::copy(latest.begin(), latest.end(), times.begin() + static_cast<std::ptrdiff_t>(node * lanes + first_lane));
    }
};

template <std::size_t Lanes>
struct NothingKept {
    void edge(const LaneTimes<Lanes>&, const LaneTimes<Lanes>&) noexcept {}
    void at(std::size_t, const LaneTimes<Lanes>&, bool) noexcept {}
};

}  // namespace

template <std::size_t Lanes>
void Weights::replay(std::size_t first_lane, std::vector<std::int64_t>& times) const {
    const auto weights = group<Lanes>(first_lane);
    SlotTimes<Lanes> in_slots(graph_);
    on_this_processor([&] [[gnu::always_inline]] () {
        KeptTimes<Lanes> kept{times, lanes_, first_lane};
        replay_in_slots<Lanes>(graph_, weights, in_slots, kept);
    });
}

/// Likewise, where a message that arrives at a NIC before the one that was recorded there before it does not wait for
/// it.
template <std::size_t Lanes>
[[gnu::always_inline]] inline void replay_released(const Graph& graph, const LaneWeights<Lanes>& weights,
                                                   SlotTimes<Lanes>& times) {
    struct Weighed {
        LaneTimes<Lanes> weight;
        bool queues;
    };
    SlotTimes<Lanes> arrivals(graph);  // at a queue, not served
    const auto* const slots = graph.slots.data();
    auto* const time = times.data();
    auto* const arrived = arrivals.data();
    LaneTimes<Lanes> latest;
    latest.fill(INT64_MIN);
    LaneTimes<Lanes> served{};
    auto queue = kNone;  // the slot of the message before; a message is in one queue
    for_each_arc<Weighed, 1024 / Lanes>(
        graph,
        [&] [[gnu::always_inline]] (std::uint32_t model, std::int64_t weight, Weighed& row) {
            weights.change(model, weight, row.weight);
            row.queues = is_queue(graph.models[model]);
        },
        [&, slots, time, arrived] [[gnu::always_inline]] (const auto& arc, const Weighed& row, std::size_t node) {
            LaneTimes<Lanes> at;
            for (std::size_t lane = 0; lane < Lanes; ++lane) {
                at[lane] = time[arc.source][lane] + row.weight[lane];
            }
            if (row.queues) {
                queue = arc.source;
                served = at;
            } else {
                for (std::size_t lane = 0; lane < Lanes; ++lane) {
                    latest[lane] = std::max(latest[lane], at[lane]);
                }
            }
            if (arc.last() == 0) {
                return;
            }
            auto found = latest;
            for (std::size_t lane = 0; queue != kNone && lane < Lanes; ++lane) {
                found[lane] = arrived[queue][lane] > latest[lane] ? latest[lane] : std::max(latest[lane], served[lane]);
            }
            arrived[slots[node]] = latest;
            time[slots[node]] = found;
            latest.fill(INT64_MIN);
            queue = kNone;
        });
}

bool sends_never_wait(const Graph& graph, const Parameters& machine, const Setting& setting, bool far) {
    const auto shorter = [](double factor) { return factor < 1; };
    // A reordered graph has no distances of sends.
    if (graph.apart_ps.size() != graph.messages.size() || shorter(setting.compute) || !setting.unexplained ||
        std::ranges::any_of(setting.by_location, shorter) || std::ranges::any_of(setting.by_callpath, shorter)) {
        return false;
    }
    const auto before = class_costs(graph, machine, &MessageClass::recorded);
    const auto after = class_costs(graph, setting.machine);
    const auto overhead = [](const Cost& cost) { return cost.o_s + cost.l_mw / 2; };
    for (std::size_t i = 0; i < graph.messages.size(); ++i) {
        const bool is_far = graph.messages[i].recorded.locality == Locality::other_node;
        if (overhead(after[i]) < overhead(before[i]) || (is_far == far && after[i].service > graph.apart_ps[i])) {
            return false;
        }
    }
    return true;
}

LongestProgram longest_program(const Graph& graph, const std::function<std::int64_t(std::uint32_t)>& time_of) {
    LongestProgram found;
    for (std::size_t l = 0; l < graph.programs.size(); ++l) {
        const auto& program = graph.programs[l];
        if (program.takes_part()) {
            const auto length_ps = program.length_ps(time_of(program.finish));
            if (found.location == kNoLocation || length_ps > found.length_ps) {
                found = {location_at(l), length_ps};
            }
        }
    }
    return found;
}

template <std::size_t Lanes, bool Released>
void Weights::replay(std::size_t first_lane, std::span<std::int64_t> found) const {
    const auto weights = group<Lanes>(first_lane);
    SlotTimes<Lanes> times(graph_);
    on_this_processor([&] [[gnu::always_inline]] () {
        if constexpr (Released) {
            replay_released<Lanes>(graph_, weights, times);
        } else {
            NothingKept<Lanes> nothing;
            replay_in_slots<Lanes>(graph_, weights, times, nothing);
        }
    });
    for (std::size_t lane = 0; lane < Lanes; ++lane) {
        found[first_lane + lane] =
            longest_program(graph_, [&](std::uint32_t node) { return times[graph_.slots[node]][lane]; }).length_ps;
    }
}

std::vector<std::int64_t> Weights::times() const {
    std::vector<std::int64_t> times(graph_.nodes() * lanes_);
    for_each_group(lanes_, [&](std::size_t first, std::size_t width) {
        of_width(width, [&](auto lanes) { replay<lanes()>(first, times); });
    });
    return times;
}

std::vector<std::int64_t> Weights::makespans(unsigned threads, bool released) const {
    std::vector<std::int64_t> found(lanes_);
    std::vector<std::pair<std::size_t, std::size_t>> groups;
    for_each_group(lanes_, [&](std::size_t first, std::size_t width) { groups.emplace_back(first, width); });
    for_each_parallel(groups.size(), threads, 1, [&](std::size_t i, unsigned) {
        of_width(groups[i].second, [&](auto lanes) {
            if (released) {
                replay<lanes(), true>(groups[i].first, found);
            } else {
                replay<lanes(), false>(groups[i].first, found);
            }
        });
    });
    return found;
}

}  // namespace logpost::replay
