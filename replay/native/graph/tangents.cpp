#include "replay/native/graph/tangents.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "replay/native/graph/lanes.hpp"
#include "replay/native/graph/pass.hpp"
#include "replay/native/memory/threads.hpp"

namespace logpost::replay {
namespace {

constexpr std::size_t kLanes = 8;

/// Times, and how they move, side by side in loops that become vector instructions.
struct Moving {
    std::array<double, kLanes> time{}, slope{}, count{};
};

constexpr double kNeverAt = -std::numeric_limits<double>::infinity();
constexpr Moving kNothingCame = [] {
    Moving nothing;
    nothing.time.fill(kNeverAt);
    return nothing;
}();

Parameters at(const Direction& direction, double x) {
    auto machine = direction.at_zero.machine;
    for (std::size_t l = 0; l < kLocalities; ++l) {
        auto& ranges = machine.localities[l].ranges;
        for (std::size_t r = 0; r < ranges.size(); ++r) {
            const auto& step = direction.step.localities[l].ranges[r];
            ranges[r].L += x * step.L;
            ranges[r].o_s += x * step.o_s;
            ranges[r].o_s_per_byte += x * step.o_s_per_byte;
            ranges[r].o_r += x * step.o_r;
            ranges[r].o_r_per_byte += x * step.o_r_per_byte;
            ranges[r].g += x * step.g;
            ranges[r].G += x * step.G;
        }
    }
    return machine;
}

double sum(const EdgeModel& model, const CostTerms& cost) {
    double all = 0;
    all += (model.terms & kTermSend) != 0 ? cost.o_s + cost.l_mw / 2 : 0;
    all += (model.terms & kTermLatency) != 0 ? cost.L : 0;
    all += (model.terms & kTermSerialization) != 0 ? cost.serialization : 0;
    all += (model.terms & (kTermService | kTermTurn)) != 0 ? cost.service : 0;
    all += (model.terms & kTermReceive) != 0 ? cost.l_mw / 2 + cost.o_r : 0;
    all += (model.terms & kTermControl) != 0 ? cost.o_control : 0;
    return all * model.count;
}

MessageShape shape_of(const MessageClass& message, const Distance& distance) {
    return {.bytes = static_cast<double>(message.bytes),
            .block_bytes = static_cast<double>(message.layout.block_bytes),
            .stride_bytes = static_cast<double>(message.layout.stride_bytes),
            .hops = static_cast<double>(distance.hops),
            .carried = message.carried};
}

/// What a point makes of every model's edges: by model and lane.
class PointWeights {
  public:
    PointWeights(const Graph& graph, const Parameters& machine, const Direction& direction, std::span<const double> x)
        : shift_(graph.models.size()), absent_(graph.models.size()), factor_(graph.models.size(), -1.0) {
        const auto by_class = [&](const auto& terms, Distance MessageClass::* distance = & MessageClass::planned) {
            std::vector<CostTerms> found;
            found.reserve(graph.messages.size());
            for (const auto& message : graph.messages) {
                found.push_back(terms((message.*distance).locality, shape_of(message, message.*distance)));
            }
            return found;
        };
        const auto before =
            by_class([&](auto... message) { return cost_terms(machine, message...); }, &MessageClass::recorded);
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const auto here = at(direction, x[std::min(lane, x.size() - 1)]);
            const auto after = by_class([&](auto... message) { return cost_terms(here, message...); });
            const auto slopes =
                by_class([&](auto... message) { return cost_slopes(here, direction.step, message...); });
            const auto counts =
                by_class([&](auto... message) { return cost_slopes(here, direction.unit, message...); });
            for (std::size_t m = 0; m < graph.models.size(); ++m) {
                const auto& model = graph.models[m];
                if (model.terms != 0) {
                    const bool orders = !is_queue(model) || sum(model, after[model.message]) > 0 ||
                                        sum(model, slopes[model.message]) > 0;
                    absent_[m] = orders ? 0 : 1;
                    auto& shift = shift_[m];
                    shift.time[lane] = sum(model, after[model.message]) - sum(model, before[model.message]);
                    shift.slope[lane] = sum(model, slopes[model.message]);
                    shift.count[lane] = sum(model, counts[model.message]);
                }
            }
        }
        for (std::size_t m = 0; m < graph.models.size(); ++m) {
            if (graph.models[m].kind == EdgeModel::Kind::compute) {
                factor_[m] = direction.at_zero.factor(graph.models[m]);
            }
        }
    }

    /// What an edge adds to its source's times; of one that is absent, so little that it never counts.
    [[gnu::always_inline]] void add(std::uint32_t model, std::int64_t of_edge, Moving& more) const noexcept {
        const auto weight = static_cast<double>(of_edge);
        if (factor_[model] >= 0) {
            more = {};
            more.time.fill(weight * factor_[model]);
            return;
        }
        if (absent_[model] != 0) {
            more = {};
            more.time.fill(kNeverAt);
            return;
        }
        const auto& shift = shift_[model];
        const double least = std::min(weight, 0.0);
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const double whole = weight + shift.time[lane];
            const bool moves = whole > least || (whole == least && shift.slope[lane] > 0);
            more.time[lane] = moves ? whole : least;
            more.slope[lane] = moves ? shift.slope[lane] : 0.0;
            more.count[lane] = moves ? shift.count[lane] : 0.0;
        }
    }

  private:
    std::vector<Moving> shift_;
    std::vector<std::uint8_t> absent_;  // 1: a queue at a server that is taken for no time, whatever x is
    std::vector<double> factor_;        // of computation; negative: none
};

/// The tangents of all nodes' times; as replay_in_slots, without a branch that depends on the graph.
[[gnu::always_inline]] inline void replay(const Graph& graph, const PointWeights& weights, std::vector<Moving>& times) {
    Moving latest = kNothingCame;
    for_each_arc<Moving, 128>(
        graph,
        [&] [[gnu::always_inline]] (std::uint32_t model, std::int64_t weight, Moving& more) {
            weights.add(model, weight, more);
        },
        [&] [[gnu::always_inline]] (const auto& arc, const Moving& more, std::size_t node) {
            const auto& source = times[arc.source];
            auto& at_node = times[graph.slots[node]];
            const bool last = arc.last() != 0;
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                const double time = source.time[lane] + more.time[lane];
                const double slope = source.slope[lane] + more.slope[lane];
                const double count = source.count[lane] + more.count[lane];
                // Of two paths that are equally long, the one that grows faster: the slope to the right.
                const bool later = (time > latest.time[lane]) |
                                   (static_cast<int>(time == latest.time[lane]) & (slope > latest.slope[lane]));
                latest.time[lane] = later ? time : latest.time[lane];
                latest.slope[lane] = later ? slope : latest.slope[lane];
                latest.count[lane] = later ? count : latest.count[lane];
                const bool reached = latest.time[lane] != kNeverAt;
                at_node.time[lane] = reached ? latest.time[lane] : 0.0;
                at_node.slope[lane] = reached ? latest.slope[lane] : 0.0;
                at_node.count[lane] = reached ? latest.count[lane] : 0.0;
            }
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                latest.time[lane] = last ? kNeverAt : latest.time[lane];
            }
        });
}

/// One pass: the tangents at up to kLanes points.
void pass(const Graph& graph, const PointWeights& weights, std::span<Tangent> found) {
    std::vector<Moving> times(graph.slots_needed);
    on_this_processor([&] [[gnu::always_inline]] () { replay(graph, weights, times); });
    for (std::size_t lane = 0; lane < found.size(); ++lane) {
        bool any = false;
        for (const auto& program : graph.programs) {
            if (!program.takes_part()) {
                continue;
            }
            const auto& one = times[graph.slots[program.finish]];
            const auto length_ps = one.time[lane] + static_cast<double>(program.length_ps(0));
            if (!any || length_ps > found[lane].makespan_ps ||
                (length_ps == found[lane].makespan_ps && one.slope[lane] > found[lane].slope)) {
                found[lane] = {length_ps, one.slope[lane], one.count[lane]};
            }
            any = true;
        }
    }
}

}  // namespace

std::vector<Tangent> tangents(const Graph& graph, const Parameters& machine, const Direction& direction,
                              std::span<const double> x, unsigned threads) {
    std::vector<Tangent> found(x.size());
    for_each_parallel((x.size() + kLanes - 1) / kLanes, threads, 1, [&](std::size_t group, unsigned) {
        const auto first = group * kLanes;
        const auto count = std::min(kLanes, x.size() - first);
        pass(graph, PointWeights(graph, machine, direction, x.subspan(first, count)),
             std::span(found).subspan(first, count));
    });
    return found;
}

}  // namespace logpost::replay
