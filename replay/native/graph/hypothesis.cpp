#include "replay/native/graph/hypothesis.hpp"

#include <algorithm>
#include <stdexcept>

#include "replay/native/graph/replay.hpp"

namespace logpost::replay {
namespace {

constexpr std::int32_t kNobody = -2;  ///< of `Hypothesis::earlier`

void check(const RecordedGraph& graph, const Hypothesis& hypothesis, std::size_t messages) {
    const auto fits = [](const auto& column, std::size_t size) { return column.empty() || column.size() == size; };
    const auto n = graph.calls();
    if (!fits(hypothesis.gap_ps, n) || !fits(hypothesis.work_ps, n) || !fits(hypothesis.share, n) ||
        !fits(hypothesis.freed, n) || !fits(hypothesis.later, n) || !fits(hypothesis.member_ps, n) ||
        !fits(hypothesis.stay_ps, n) || !fits(hypothesis.earlier, n) || !fits(hypothesis.less_ps, messages) ||
        !fits(hypothesis.most_ps, messages) || !fits(hypothesis.of, messages) || !fits(hypothesis.instead, messages) ||
        hypothesis.instead.size() != hypothesis.lag_ps.size()) {
        throw std::invalid_argument("a hypothesis needs a value for every call or message");
    }
    for (std::uint32_t call = 0; call < hypothesis.later.size(); ++call) {
        const auto later = hypothesis.later[call];
        if (later >= 0 && (static_cast<std::uint32_t>(later) >= n || static_cast<std::uint32_t>(later) <= call ||
                           graph.location[static_cast<std::size_t>(later)] != graph.location[call])) {
            throw std::invalid_argument("waits can only be moved to a later call of the same location");
        }
    }
    for (std::uint32_t call = 0; call < hypothesis.earlier.size(); ++call) {
        const auto earlier = hypothesis.earlier[call];
        if (earlier < kNobody || earlier >= static_cast<std::int32_t>(call) ||
            (earlier >= 0 && graph.location[static_cast<std::size_t>(earlier)] != graph.location[call])) {
            throw std::invalid_argument("calls can only be waited for where an earlier call of their location ends");
        }
    }
    if (std::ranges::any_of(hypothesis.instead, [&](std::int32_t node) {
            return node < -1 || (node >= 0 && static_cast<std::uint32_t>(node) >= 2 * n);
        })) {
        throw std::invalid_argument("a message can only wait for the enter or the leave of a call");
    }
}

/// Whether it is the receiver's wait for a message's send.
bool receives(const RecordedGraph& graph, std::uint32_t call, const RecordedWait& wait) noexcept {
    return wait.reason == Reason::send && graph.location[graph.call_of(wait.source)] != graph.location[call];
}

/// The order of the nodes where receivers wait for other nodes; of those in a cycle, the earliest of the run goes
/// first.
HugeColumn<std::uint32_t> order_with(const RecordedGraph& graph, const Hypothesis& hypothesis) {
    auto edges = graph.dependencies();
    for (std::uint32_t call = 0; call < graph.calls(); ++call) {
        for (const auto& wait : graph.waits_of(call)) {
            const auto instead = wait.message < 0 ? -1 : hypothesis.instead[static_cast<std::size_t>(wait.message)];
            if (instead >= 0 && receives(graph, call, wait)) {
                edges.push_back({static_cast<std::uint32_t>(instead), RecordedGraph::leave_node(call)});
            }
        }
    }
    return graph.in_order(edges).order;
}

/// The graph as the hypothesis has it, its nodes in their order.
class Edges {
  public:
    Edges(const RecordedGraph& graph, const Hypothesis& hypothesis)
        : order(hypothesis.instead.empty() ? graph.order : order_with(graph, hypothesis)),
          graph_(graph),
          hypothesis_(hypothesis),
          place_(order.size()) {
        for (std::uint32_t i = 0; i < place_.size(); ++i) {
            place_[order[i]] = i;
        }
        take_moved();
        first.reserve(place_.size() + 1);
        edges.reserve(2 * static_cast<std::size_t>(graph.calls()) + graph.waits.size() + graph.member.size());
        for (const auto node : order) {
            first.push_back(static_cast<std::uint32_t>(edges.size()));
            const auto call = node / 2;
            if (node >= 2 * graph.calls()) {
                meet(node - 2 * graph.calls());
            } else if (node % 2 == 0) {
                enter(call);
            } else {
                leave(call);
            }
        }
        first.push_back(static_cast<std::uint32_t>(edges.size()));
    }

    [[nodiscard]] std::uint32_t place(std::uint32_t node) const noexcept { return place_[node]; }
    [[nodiscard]] std::int64_t work(std::uint32_t call) const noexcept {
        return shared(call, hypothesis_.work_ps.empty() ? graph_.work_ps[call] : hypothesis_.work_ps[call]);
    }

    HugeColumn<std::uint32_t> order;  ///< all nodes, causes first
    std::vector<std::uint32_t> first;
    std::vector<Edge> edges;

  private:
    struct Moved {
        std::uint32_t to, from;
    };

    void take_moved() {
        for (std::uint32_t call = 0; call < hypothesis_.later.size(); ++call) {
            if (hypothesis_.later[call] >= 0) {
                moved_.push_back({static_cast<std::uint32_t>(hypothesis_.later[call]), call});
            }
        }
        std::ranges::sort(moved_, {}, &Moved::to);
    }

    [[nodiscard]] std::int64_t shared(std::uint32_t call, std::int64_t time) const noexcept {
        return hypothesis_.share.empty() ? time : scaled(time, hypothesis_.share[call]);
    }
    void add(std::uint32_t source, std::int64_t weight) { edges.push_back({place_[source], 0, weight}); }

    void enter(std::uint32_t call) {
        const auto gap = hypothesis_.gap_ps.empty() ? graph_.gap_ps[call] : hypothesis_.gap_ps[call];
        if (graph_.has_before(call)) {
            add(RecordedGraph::leave_node(call - 1), gap);
        } else {
            edges.push_back({kNone, 0, graph_.enter_ps[call] - graph_.gap_ps[call] + gap});
        }
    }

    void leave(std::uint32_t call) {
        add(RecordedGraph::enter_node(call), work(call));
        if (hypothesis_.later.empty() || hypothesis_.later[call] < 0) {
            wait_as(call, 0);
        }
        for (auto one = std::ranges::lower_bound(moved_, call, {}, &Moved::to); one != moved_.end() && one->to == call;
             ++one) {
            wait_as(one->from, graph_.work_ps[call]);
        }
        if (!hypothesis_.stay_ps.empty()) {
            add(RecordedGraph::enter_node(call), hypothesis_.stay_ps[call]);
        }
    }

    /// What `call` waits for, and `behind` that.
    void wait_as(std::uint32_t call, std::int64_t behind) {
        if (!hypothesis_.freed.empty() && hypothesis_.freed[call] != 0) {
            return;
        }
        for (const auto& wait : graph_.waits_of(call)) {
            const bool of = hypothesis_.of.empty() ||
                            (wait.message >= 0 && hypothesis_.of[static_cast<std::size_t>(wait.message)] != 0);
            if (of && (hypothesis_.dropped >> static_cast<unsigned>(wait.reason) & 1U) != 0) {
                continue;
            }
            if (wait.message >= 0 && !hypothesis_.instead.empty() &&
                hypothesis_.instead[static_cast<std::size_t>(wait.message)] >= 0) {
                wait_instead(call, wait, behind);
                continue;
            }
            auto lag = wait.source == RecordedGraph::enter_node(call) ? shared(call, wait.lag_ps) : wait.lag_ps;
            if (wait.reason == Reason::member && !hypothesis_.member_ps.empty()) {
                lag = std::min(lag, hypothesis_.member_ps[call]);
            }
            if (wait.message >= 0) {
                const auto message = static_cast<std::size_t>(wait.message);
                if (!hypothesis_.less_ps.empty()) {
                    // A part for which there was no time did not delay this call.
                    const auto less = std::max<std::int64_t>(0, hypothesis_.less_ps[message] - wait.cut_ps);
                    lag = std::max<std::int64_t>(0, lag - less);
                }
                lag = hypothesis_.most_ps.empty() ? lag : std::min(lag, hypothesis_.most_ps[message]);
            }
            if (const auto source = moved_source(call, wait.source); source != kNone) {
                add(source, lag + behind);
            }
        }
    }

    /// The node that is waited for where another location's call could come earlier; kNone: none.
    [[nodiscard]] std::uint32_t moved_source(std::uint32_t call, std::uint32_t source) const noexcept {
        if (hypothesis_.earlier.empty() || source >= 2 * graph_.calls() || source % 2 != 0 || source / 2 == call) {
            return source;
        }
        const auto earlier = hypothesis_.earlier[source / 2];
        return earlier == kNobody ? kNone
               : earlier < 0      ? source
                                  : RecordedGraph::leave_node(static_cast<std::uint32_t>(earlier));
    }

    /// The receiver's wait for another node than the send. Where that would close a cycle, it does not wait.
    void wait_instead(std::uint32_t call, const RecordedWait& wait, std::int64_t behind) {
        const auto message = static_cast<std::size_t>(wait.message);
        const auto node = static_cast<std::uint32_t>(hypothesis_.instead[message]);
        if (receives(graph_, call, wait) && place_[node] < place_[RecordedGraph::leave_node(call)]) {
            add(node, hypothesis_.lag_ps[message] + behind);
        }
    }

    void meet(std::size_t operation) {
        for (auto i = graph_.first_member[operation]; i < graph_.first_member[operation + 1]; ++i) {
            add(RecordedGraph::enter_node(graph_.member[i]), 0);
        }
    }

    const RecordedGraph& graph_;
    const Hypothesis& hypothesis_;
    std::vector<std::uint32_t> place_;  // by node
    std::vector<Moved> moved_;
};

/// The stretches that end at the last call's leave, back to where nothing comes before.
std::vector<ReplayedStretch> path_to(std::uint32_t last, const RecordedGraph& graph, const Edges& edges,
                                     const std::vector<std::int64_t>& times) {
    std::vector<ReplayedStretch> found;
    auto at = edges.place(RecordedGraph::leave_node(last));
    while (true) {
        const auto node = edges.order[at];
        const auto call = graph.call_of(node);
        const auto* begin = edges.edges.data() + edges.first[at];
        const auto* end = edges.edges.data() + edges.first[at + 1];
        const auto* binding = std::find_if(begin, end, [&](const Edge& edge) {
            return edge.source == kNone || times[edge.source] + edge.weight == times[at];
        });
        if (binding == end) {
            break;
        }
        const bool first = binding->source == kNone;
        const auto since = first ? graph.enter_ps[call] - graph.gap_ps[call] : times[binding->source];
        const bool enters = node < 2 * graph.calls() && node % 2 == 0;
        const bool own = node < 2 * graph.calls() && !enters && binding == begin;  // a leave's first edge is its work
        if (since < times[at]) {
            found.push_back({call, enters ? OnPath::code : own ? OnPath::work : OnPath::wait, since, times[at]});
        }
        if (first) {
            break;
        }
        at = binding->source;
    }
    std::ranges::reverse(found);
    return found;
}

}  // namespace

HypothesisOutcome replay(const RecordedGraph& graph, const Hypothesis& hypothesis, std::size_t messages,
                         bool with_path) {
    check(graph, hypothesis, messages);
    const Edges edges(graph, hypothesis);
    std::vector<std::int64_t> times(edges.order.size());
    for (std::size_t at = 0; at < times.size(); ++at) {
        times[at] = INT64_MIN;
        for (auto i = edges.first[at]; i < edges.first[at + 1]; ++i) {
            const auto& [source, model, weight] = edges.edges[i];
            times[at] = source == kNone ? weight : std::max(times[at], times[source] + weight);
        }
    }
    HypothesisOutcome outcome;
    const auto n = graph.calls();
    outcome.enter_ps.resize(n);
    outcome.leave_ps.resize(n);
    outcome.waited_ps.resize(n);
    std::int64_t begin = INT64_MAX;
    std::int64_t end = INT64_MIN;
    std::uint32_t last = 0;
    for (std::uint32_t call = 0; call < n; ++call) {
        const auto entered = times[edges.place(RecordedGraph::enter_node(call))];
        const auto left = times[edges.place(RecordedGraph::leave_node(call))];
        outcome.enter_ps[call] = entered;
        outcome.leave_ps[call] = left;
        outcome.waited_ps[call] = left - entered - edges.work(call);
        if (!graph.has_before(call)) {
            begin = std::min(begin, graph.enter_ps[call] - graph.gap_ps[call]);
        }
        last = left > end ? call : last;
        end = std::max(end, left);
    }
    outcome.length_ps = n == 0 ? 0 : end - begin;
    if (with_path && n > 0) {
        outcome.path = path_to(last, graph, edges, times);
    }
    return outcome;
}

}  // namespace logpost::replay
