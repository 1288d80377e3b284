#include "replay/native/graph/outcomes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include "replay/native/graph/lanes.hpp"
#include "replay/native/graph/pass.hpp"

namespace logpost::replay {
namespace {

/// Of a location's time: in a call, or before one.
struct Stretch {
    enum class Kind : std::uint8_t { none, in_call, between_calls };
    Kind kind = Kind::none;
    std::int32_t callpath = -1;
};

/// The times of a location that sums over calls consist of.
class Boundaries {
  public:
    Boundaries(const Graph& graph, std::size_t location)
        : graph_(graph),
          begin_(graph.begins[location]),
          call_(graph.first_call[location]),
          end_(begin_ == kNone ? call_ : graph.first_call[location + 1]) {}

    /// Those before the node `limit`, from where the last visit stopped: calls `visit(node, ended, begun)` for each,
    /// whose time ends what `ended` says and begins what `begun` says.
    template <class Visit>
    void visit_before(std::uint32_t limit, Visit&& visit) {
        using enum Stretch::Kind;
        for (; call_ < end_; ++call_, step_ = Step::enter) {
            const auto callpath = graph_.callpath[call_];
            if (step_ == Step::begin) {
                if (begin_ >= limit) {
                    return;
                }
                visit(begin_, Stretch{}, Stretch{between_calls, callpath});
                step_ = Step::enter;
            }
            if (step_ == Step::enter) {
                if (graph_.enters[call_] >= limit) {
                    return;
                }
                visit(graph_.enters[call_], Stretch{between_calls, callpath}, Stretch{in_call, callpath});
                step_ = Step::leave;
            }
            if (graph_.leaves[call_] >= limit) {
                return;
            }
            const auto next = graph_.next_call.empty() ? call_ + 1 : graph_.next_call[call_];
            visit(graph_.leaves[call_], Stretch{in_call, callpath},
                  next < end_ ? Stretch{between_calls, graph_.callpath[next]} : Stretch{});
        }
    }

  private:
    enum class Step : std::uint8_t { begin, enter, leave };

    const Graph& graph_;
    std::uint32_t begin_, call_, end_;
    Step step_ = Step::begin;
};

/// All of them. In stretches of nodes, of which the caches hold what `visit` has for each: calls that are near in time
/// have nodes that are near.
template <class Visit>
void for_each_boundary(const Graph& graph, Visit&& visit) {
    constexpr std::size_t kAtOnce = std::size_t{1} << 16U;  // a quarter of a MB where that is four bytes
    std::vector<Boundaries> locations;
    locations.reserve(graph.begins.size());
    for (std::size_t location = 0; location < graph.begins.size(); ++location) {
        locations.emplace_back(graph, location);
    }
    for (std::size_t first = 0; first < graph.nodes(); first += kAtOnce) {
        const auto end = static_cast<std::uint32_t>(std::min(first + kAtOnce, graph.nodes()));
        for (auto& one : locations) {
            one.visit_before(end, visit);
        }
    }
}

void add(LaneOutcome& outcome, const Stretch& stretch, WidePs ps) {
    if (stretch.kind != Stretch::Kind::none) {
        auto& sums = stretch.kind == Stretch::Kind::in_call ? outcome.in_calls_ps : outcome.between_calls_ps;
        sums[static_cast<std::size_t>(stretch.callpath)] += ps;
    }
}

LaneOutcome without_times(const Graph& graph) {
    return {.path = {},
            .ends_ps = std::vector<std::int64_t>(graph.ends.size()),
            .in_calls_ps = std::vector<WidePs>(graph.callpaths),
            .between_calls_ps = std::vector<WidePs>(graph.callpaths)};
}

/// Nodes whose times end and begin the same are added up together.
class Roles {
  public:
    explicit Roles(const Graph& graph) : of_node_(graph.nodes()) {
        std::unordered_map<std::uint64_t, std::uint32_t> known;
        const auto keys = 2 * (graph.callpaths + 1);
        const auto key = [](const Stretch& one) {  // -1 stands for none
            return static_cast<std::uint64_t>(std::int64_t{one.callpath} + 1) << 1U |
                   (one.kind == Stretch::Kind::in_call ? 1U : 0U);
        };
        // What most often follows a call is what followed the one before of its callpath.
        struct Latest {
            std::uint64_t begun = UINT64_MAX;
            std::uint32_t role = kNoRole;
        };
        std::vector<Latest> latest(keys);  // by key of what ends
        for_each_boundary(graph, [&](std::uint32_t node, const Stretch& ended, const Stretch& begun) {
            auto& last = latest[key(ended)];
            if (last.begun != key(begun)) {
                const auto both = key(ended) * keys + key(begun);
                const auto [place, added] = known.try_emplace(both, static_cast<std::uint32_t>(stretches_.size()));
                if (added) {
                    stretches_.emplace_back(ended, begun);
                }
                last = {key(begun), place->second};
            }
            of_node_[node] = last.role;
        });
    }

    static constexpr std::uint32_t kNoRole = 0;
    [[nodiscard]] std::uint32_t of(std::size_t node) const noexcept { return of_node_[node]; }
    [[nodiscard]] std::size_t size() const noexcept { return stretches_.size(); }
    /// Adds the sum of the times of a role's nodes.
    void add_up(LaneOutcome& outcome, std::size_t role, WidePs sum) const {
        add(outcome, stretches_[role].first, sum);
        add(outcome, stretches_[role].second, -sum);
    }

  private:
    HugeColumn<std::uint32_t> of_node_;
    std::vector<std::pair<Stretch, Stretch>> stretches_{1};  // kNoRole
};

/// What a pass leaves of a group of lanes.
template <std::size_t Lanes>
class Followed {
  public:
    Followed(const Graph& graph, const Roles& roles)
        : roles_(roles), edges_(graph.nodes()), low_(roles.size()), high_(roles.size()) {}

    [[gnu::always_inline]] void edge(const LaneTimes<Lanes>& at, const LaneTimes<Lanes>& latest) noexcept {
        for (std::size_t lane = 0; lane < Lanes; ++lane) {
            which_[lane] = latest[lane] < at[lane] ? number_ : which_[lane];
        }
    }

    [[gnu::always_inline]] void at(std::size_t node, const LaneTimes<Lanes>& latest, bool last) {
        auto& edges = edges_[node];
        for (std::size_t lane = 0; lane < Lanes; ++lane) {
            edges[lane] = static_cast<std::uint8_t>(which_[lane]);
        }
        if (number_ >= kWide) [[unlikely]] {
            wide_[static_cast<std::uint32_t>(node)] = which_;
            for (std::size_t lane = 0; lane < Lanes; ++lane) {
                edges[lane] = static_cast<std::uint8_t>(std::min(which_[lane], kWide));
            }
        }
        // Halves of times: their sums over all nodes need no third word.
        const auto role = last ? roles_.of(node) : Roles::kNoRole;
        auto& low = low_[role];
        auto& high = high_[role];
        for (std::size_t lane = 0; lane < Lanes; ++lane) {
            low[lane] += static_cast<std::uint64_t>(latest[lane]) & 0xFFFFFFFFU;
            high[lane] += static_cast<std::uint64_t>(latest[lane] >> 32);
        }
        number_ = last ? 0 : number_ + 1;
    }

    /// The number of the edge among those of its node.
    [[nodiscard]] std::uint32_t edge(std::uint32_t node, std::size_t lane) const {
        const auto edge = edges_[node][lane];
        return static_cast<std::uint32_t>(edge < kWide ? edge : wide_.at(node)[lane]);
    }
    void add_up(LaneOutcome& outcome, std::size_t lane) const {
        for (std::size_t role = 1; role < roles_.size(); ++role) {
            const auto high = static_cast<WidePs>(static_cast<std::int64_t>(high_[role][lane]));
            roles_.add_up(outcome, role, high * (WidePs{1} << 32) + static_cast<WidePs>(low_[role][lane]));
        }
    }

  private:
    /// From this number on, a byte does not hold an edge.
    static constexpr std::int64_t kWide = 255;

    const Roles& roles_;
    HugeColumn<std::array<std::uint8_t, Lanes>> edges_;  // by node
    std::unordered_map<std::uint32_t, LaneTimes<Lanes>> wide_;
    std::vector<std::array<std::uint64_t, Lanes>> low_, high_;  // by role
    LaneTimes<Lanes> which_{};
    std::int64_t number_ = 0;
};

template <std::size_t Lanes>
void replay(const Graph& graph, const Weights& weights, std::span<const Setting> settings, const Roles& roles,
            std::size_t first_lane, std::vector<LaneOutcome>& found) {
    Followed<Lanes> followed(graph, roles);
    SlotTimes<Lanes> times(graph);
    const auto of_models = weights.group<Lanes>(first_lane);
    on_this_processor([&] [[gnu::always_inline]] () { replay_in_slots<Lanes>(graph, of_models, times, followed); });
    for (std::size_t lane = 0; lane < Lanes; ++lane) {
        auto outcome = without_times(graph);
        for (std::size_t location = 0; location < graph.ends.size(); ++location) {
            if (graph.ends[location] != kNone) {
                outcome.ends_ps[location] = times[graph.slots[graph.ends[location]]][lane];
            }
        }
        followed.add_up(outcome, lane);
        const auto time_of = [&](std::uint32_t node) { return times[graph.slots[node]][lane]; };
        outcome.path =
            critical_path(graph, weights, settings, first_lane + lane, time_of, [&](std::uint32_t node) -> Binding {
                const auto edge = graph.first_edge[node] + followed.edge(node, lane);
                const auto slot = graph.arcs[edge].source;
                if (slot == Graph::kNoSource) {
                    return {edge, kNone};
                }
                // The path leads back, and so does this: over every node once.
                auto source = node - 1;
                while (graph.slots[source] != slot) {
                    --source;
                }
                return {edge, source};
            });
        found.push_back(std::move(outcome));
    }
}

}  // namespace

std::vector<LaneOutcome> outcomes(const Graph& graph, const Weights& weights, std::span<const Setting> settings) {
    const Roles roles(graph);
    std::vector<LaneOutcome> found;
    for_each_group(settings.size(), [&](std::size_t first, std::size_t width) {
        of_width(width, [&](auto lanes) { replay<lanes()>(graph, weights, settings, roles, first, found); });
    });
    return found;
}

LaneOutcome outcome_of(const Graph& graph, std::span<const std::uint32_t> sources, const Weights& weights,
                       std::span<const Setting> settings, std::span<const std::int64_t> times, std::size_t lane) {
    auto outcome = without_times(graph);
    for (std::size_t location = 0; location < graph.ends.size(); ++location) {
        if (graph.ends[location] != kNone) {
            outcome.ends_ps[location] = times[graph.ends[location]];
        }
    }
    for_each_boundary(graph, [&](std::uint32_t node, const Stretch& ended, const Stretch& begun) {
        add(outcome, ended, times[node]);
        add(outcome, begun, -static_cast<WidePs>(times[node]));
    });
    outcome.path = critical_path(graph, sources, weights, settings, times, lane);
    return outcome;
}

}  // namespace logpost::replay
