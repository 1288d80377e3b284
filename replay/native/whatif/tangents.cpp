#include "replay/native/whatif/tangents.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "replay/native/threads.hpp"

namespace logpost::replay {
namespace {

constexpr std::size_t kLanes = 4;

/// A time, and how it moves.
struct Moving {
    double time = 0, slope = 0, count = 0;
};

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
            .hops = static_cast<double>(distance.hops)};
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
                    shift_[m][lane] = {sum(model, after[model.message]) - sum(model, before[model.message]),
                                       sum(model, slopes[model.message]), sum(model, counts[model.message])};
                }
            }
        }
        for (std::size_t m = 0; m < graph.models.size(); ++m) {
            if (graph.models[m].kind == EdgeModel::Kind::compute) {
                factor_[m] = direction.at_zero.factor(graph.models[m]);
            }
        }
    }

    [[nodiscard]] bool absent(const Edge& edge) const noexcept { return absent_[edge.model] != 0; }
    /// What an edge makes of its source's time.
    [[nodiscard]] Moving moved(const Edge& edge, std::size_t lane, const Moving& source) const noexcept {
        const auto weight = static_cast<double>(edge.weight);
        if (factor_[edge.model] >= 0) {
            return {source.time + weight * factor_[edge.model], source.slope, source.count};
        }
        const auto& shift = shift_[edge.model][lane];
        const double least = std::min(weight, 0.0);
        const double moved = weight + shift.time;
        if (moved > least || (moved == least && shift.slope > 0)) {
            return {source.time + moved, source.slope + shift.slope, source.count + shift.count};
        }
        return {source.time + least, source.slope, source.count};
    }

  private:
    std::vector<std::array<Moving, kLanes>> shift_;
    std::vector<std::uint8_t> absent_;  // 1: a queue at a server that is taken for no time, whatever x is
    std::vector<double> factor_;        // of computation; negative: none
};

/// One pass: the tangents at up to kLanes points.
void pass(const Graph& graph, const PointWeights& weights, std::span<Tangent> found) {
    std::vector<std::array<Moving, kLanes>> times(graph.slots_needed);
    for (std::size_t node = 0; node < graph.nodes(); ++node) {
        std::array<Moving, kLanes> latest;
        bool first = true;
        for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
            const auto edge = graph.edge(i);
            if (weights.absent(edge)) {
                continue;
            }
            const auto& source = times[edge.source];
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                const auto arrival = weights.moved(edge, lane, source[lane]);
                // Of two paths that are equally long, the one that grows faster: the slope to the right.
                if (first || arrival.time > latest[lane].time ||
                    (arrival.time == latest[lane].time && arrival.slope > latest[lane].slope)) {
                    latest[lane] = arrival;
                }
            }
            first = false;
        }
        times[graph.slots[node]] = latest;
    }
    double begin = 0;
    bool any = false;
    for (const auto node : graph.begins) {
        if (node != kNone) {
            const auto time = static_cast<double>(graph.weight_of(graph.first_edge[node]));
            begin = any ? std::min(begin, time) : time;
            any = true;
        }
    }
    for (std::size_t lane = 0; lane < found.size(); ++lane) {
        const Moving* last = nullptr;
        for (const auto node : graph.ends) {
            if (node == kNone) {
                continue;
            }
            const auto& one = times[graph.slots[node]][lane];
            if (last == nullptr || one.time > last->time || (one.time == last->time && one.slope > last->slope)) {
                last = &one;
            }
        }
        if (last != nullptr) {
            found[lane] = {last->time - begin, last->slope, last->count};
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
