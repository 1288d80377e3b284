#include "replay/native/whatif/replay.hpp"

#include <algorithm>
#include <cmath>

#include "replay/native/whatif/pass.hpp"

namespace logpost::replay {

Weights::Weights(const Graph& graph, const Parameters& machine, std::span<const Setting> settings)
    : graph_(graph), lanes_(settings.size()) {
    const auto rows = graph.models.size() * lanes_;
    scaled_.assign(graph.models.size(), 0);
    shift_.assign(rows, 0);
    factor_.assign(rows, 1.0);
    const auto before = class_costs(graph, machine);
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
        const auto& setting = settings[lane];
        const auto after = class_costs(graph, setting.machine);
        for (std::size_t m = 0; m < graph.models.size(); ++m) {
            const auto& model = graph.models[m];
            const auto row = m * lanes_ + lane;
            if (model.kind == EdgeModel::Kind::compute) {
                scaled_[m] = 1;
                factor_[row] = setting.factor(model);
            } else if (model.terms != 0) {
                shift_[row] = edge_cost(model, after[model.message]) - edge_cost(model, before[model.message]);
            }
        }
    }
}

std::int64_t Weights::scaled(std::int64_t weight, double factor) noexcept {
    // A double does not hold every time of hours in picoseconds: unchanged must be unchanged.
    return factor == 1.0 ? weight : std::llround(static_cast<double>(weight) * factor);
}

template <std::size_t Lanes>
void Weights::replay(std::size_t first_lane, std::vector<std::int64_t>& times) const {
    const auto relax = [&](const Edge& edge, const std::int64_t* source, std::array<std::int64_t, Lanes>& latest) {
        const auto row = static_cast<std::size_t>(edge.model) * lanes_ + first_lane;
        if (scaled_[edge.model] != 0) {
            for (std::size_t lane = 0; lane < Lanes; ++lane) {
                latest[lane] = std::max(latest[lane], source[lane] + scaled(edge.weight, factor_[row + lane]));
            }
        } else {
            for (std::size_t lane = 0; lane < Lanes; ++lane) {
                latest[lane] = std::max(latest[lane], source[lane] + shifted(edge.weight, shift_[row + lane]));
            }
        }
    };
    pass<Lanes>(graph_.first_edge, graph_.edges, lanes_, first_lane, times, relax);
}

std::vector<std::int64_t> Weights::times() const {
    std::vector<std::int64_t> times(graph_.nodes() * lanes_);
    std::size_t lane = 0;
    for (; lane + 8 <= lanes_; lane += 8) {
        replay<8>(lane, times);
    }
    if (lane + 4 <= lanes_) {
        replay<4>(lane, times);
        lane += 4;
    }
    if (lane + 2 <= lanes_) {
        replay<2>(lane, times);
        lane += 2;
    }
    if (lane < lanes_) {
        replay<1>(lane, times);
    }
    return times;
}

}  // namespace logpost::replay
