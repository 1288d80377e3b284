#include "analyzer/archive/native/clocks/logical_clock.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/archive/native/clocks/clock.hpp"
#include "replay/native/collectives/givers.hpp"
#include "replay/native/program/shape.hpp"

namespace logpost::analyzer {
namespace {

using replay::Collective;
using replay::kNone;
using replay::kUndefined;
using replay::Program;
using replay::Shape;

constexpr std::int64_t kNoneSeen = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kNotYet = std::numeric_limits<std::int64_t>::min();
/// A clock may run faster or slower by one part in so many.
constexpr std::int64_t kRate = 100;

using Node = std::uint32_t;

/// `to` happens at least `transit_ps` after `from`.
struct Edge {
    Node from;
    Node to;
    std::int64_t transit_ps;
};

/// The instants of every process at which communication calls begin and end, and which of them cause which. A
/// collective that many processes wait for has a separate instant, a hub, after the processes' instants.
class Instants {
  public:
    explicit Instants(const Program& program) : program_(program) {
        number_processes();
        gather_times();
        add_messages();
        add_collectives();
        std::ranges::stable_sort(edges, {}, &Edge::to);
        const auto nodes = times.size() + hubs;
        incoming.assign(nodes + 1, 0);
        for (const auto& edge : edges) {
            ++incoming[edge.to + 1];
        }
        for (std::size_t i = 1; i < incoming.size(); ++i) {
            incoming[i] += incoming[i - 1];
        }
    }

    std::vector<std::uint32_t> process_of;  // by location
    std::vector<std::size_t> first;         // by process: its first instant; one more at the end
    std::vector<std::int64_t> times;        // by instant of a process
    std::size_t hubs = 0;
    std::vector<Edge> edges;              // by `to`
    std::vector<std::size_t> incoming;    // by instant: its first edge; one more at the end
    std::array<std::int64_t, 2> least{};  // transit between processes of one node, of two

  private:
    void number_processes() {
        std::unordered_map<std::int32_t, std::uint32_t> numbers;
        for (std::size_t l = 0; l < program_.timelines.size(); ++l) {
            const auto process = program_.placement[l].process;
            const auto next = static_cast<std::uint32_t>(first.size());
            if (process == kUndefined) {
                process_of.push_back(next);
                first.push_back(0);
                continue;
            }
            const auto [at, fresh] = numbers.emplace(process, next);
            process_of.push_back(at->second);
            if (fresh) {
                first.push_back(0);
            }
        }
    }

    void gather_times() {
        const auto processes = first.size();
        std::vector<std::vector<std::size_t>> locations(processes);
        for (std::size_t l = 0; l < process_of.size(); ++l) {
            locations[process_of[l]].push_back(l);
        }
        for (std::size_t p = 0; p < processes; ++p) {
            first[p] = times.size();
            for (const auto l : locations[p]) {
                program_.timelines[l].calls.for_each([&](std::size_t, const replay::Call& call) {
                    times.push_back(call.enter_ps);
                    times.push_back(call.leave_ps);
                });
            }
            const auto begin = times.begin() + static_cast<std::ptrdiff_t>(first[p]);
            std::sort(begin, times.end());
            times.erase(std::unique(begin, times.end()), times.end());
        }
        first.push_back(times.size());
    }

    [[nodiscard]] Node instant(std::size_t location, std::int64_t time) const {
        const auto p = process_of[location];
        const auto begin = times.begin() + static_cast<std::ptrdiff_t>(first[p]);
        const auto end = times.begin() + static_cast<std::ptrdiff_t>(first[p + 1]);
        return static_cast<Node>(std::lower_bound(begin, end, time) - times.begin());
    }

    /// The least transit of a pair of processes follows from the two directions together: what one clock is ahead adds
    /// to one and is taken from the other.
    void add_messages() {
        std::unordered_map<std::uint64_t, std::int64_t> quickest;  // by sender and receiver
        std::vector<std::uint8_t> distant;                         // by edge
        for (std::size_t l = 0; l < program_.timelines.size(); ++l) {
            const auto& receiver = program_.timelines[l];
            receiver.receives.for_each([&](std::size_t, const replay::MessageEnd& receive) {
                if (receive.match == kNone || receive.complete_call == kNone) {
                    return;
                }
                const auto from = index(receive.peer);
                if (process_of[from] == process_of[l]) {
                    return;
                }
                const auto& sender = program_.timelines[from];
                const auto sent = sender.calls[sender.sends[receive.match].call].enter_ps;
                const auto received = receiver.calls[receive.complete_call].leave_ps;
                edges.push_back({instant(from, sent), instant(l, received), received - sent});
                distant.push_back(program_.placement[from].node != program_.placement[l].node ? 1 : 0);
                const auto key = (static_cast<std::uint64_t>(process_of[from]) << 32) | process_of[l];
                auto& least_of_pair = quickest.emplace(key, kNoneSeen).first->second;
                least_of_pair = std::min(least_of_pair, received - sent);
                node_of_[process_of[l]] = program_.placement[l].node;
                node_of_[process_of[from]] = program_.placement[from].node;
            });
        }
        std::array<std::int64_t, 2> found{kNoneSeen, kNoneSeen};
        for (const auto& [key, there] : quickest) {
            const auto back = quickest.find((key << 32) | (key >> 32));
            if (back != quickest.end()) {
                const auto apart = node_of_.at(static_cast<std::uint32_t>(key >> 32)) !=
                                   node_of_.at(static_cast<std::uint32_t>(key & 0xffffffffU));
                auto& of = found[apart ? 1 : 0];
                of = std::min(of, std::max<std::int64_t>(0, (there + back->second) / 2));
            }
        }
        for (std::size_t i = 0; i < 2; ++i) {
            least[i] = found[i] == kNoneSeen ? 0 : found[i];
        }
        for (std::size_t i = 0; i < edges.size(); ++i) {
            auto& transit = edges[i].transit_ps;
            transit = transit < 0 ? least[distant[i]] : std::min(transit, least[distant[i]]);
        }
    }

    void add_collectives() {
        std::vector<std::vector<std::pair<std::size_t, const Collective*>>> instances(program_.collective_instances);
        for (std::size_t l = 0; l < program_.timelines.size(); ++l) {
            program_.timelines[l].collectives.for_each([&](std::size_t, const Collective& operation) {
                if (operation.instance != kNone && operation.operation != replay::Operation::fence) {
                    instances[operation.instance].emplace_back(l, &operation);
                }
            });
        }
        for (const auto& members : instances) {
            if (members.size() > 1) {
                add_collective(members);
            }
        }
    }

    [[nodiscard]] Node begin_of(std::size_t location, const Collective& operation) const {
        return instant(location, program_.timelines[location].calls[operation.call].enter_ps);
    }
    void end_after(std::size_t location, const Collective& operation, Node cause) {
        if (operation.complete_call != kNone && replay::gets_something(operation)) {
            const auto leave = program_.timelines[location].calls[operation.complete_call].leave_ps;
            edges.push_back({cause, instant(location, leave), 0});
        }
    }
    [[nodiscard]] Node new_hub() { return static_cast<Node>(times.size() + hubs++); }

    /// An Alltoallv: members need the givers that may have had something for them, see `Givers`.
    void add_exchange(const std::vector<std::pair<std::size_t, const Collective*>>& members) {
        replay::Givers<Node> givers;
        for (const auto& [l, operation] : members) {
            if (replay::gives_something(*operation)) {
                const auto begin = begin_of(l, *operation);
                givers.add(times[begin], operation->bytes_sent, begin);
            }
        }
        givers.sort();
        std::vector<Node> until;  // by giver: a hub behind it and those before
        for (std::size_t i = 0; i < givers.size(); ++i) {
            until.push_back(new_hub());
            edges.push_back({givers[i], until[i], 0});
            if (i > 0) {
                edges.push_back({until[i - 1], until[i], 0});
            }
        }
        for (const auto& [l, operation] : members) {
            if (operation->complete_call != kNone) {
                const auto leave = program_.timelines[l].calls[operation->complete_call].leave_ps;
                const auto last = givers.last_needed(leave, operation->bytes_received);
                if (last < givers.size()) {
                    end_after(l, *operation, until[last]);
                }
            }
        }
    }

    void add_collective(const std::vector<std::pair<std::size_t, const Collective*>>& members) {
        const auto& any = *members.front().second;
        const auto& ranks = program_.members[static_cast<std::size_t>(any.comm)];
        // A thread's rank is its process's.
        const auto rank_of = [&](std::size_t location) {
            const auto at = std::ranges::find_if(ranks, [&](replay::Location member) {
                return member != replay::kNoLocation && process_of[replay::index(member)] == process_of[location];
            });
            return replay::rank_at(static_cast<std::size_t>(at - ranks.begin()));
        };
        const auto root = std::ranges::find_if(
            members, [&](const auto& m) { return any.root >= replay::Rank{0} && rank_of(m.first) == any.root; });
        const bool has_volumes =
            std::ranges::any_of(members, [](const auto& m) { return replay::gives_something(*m.second); });
        const auto gives = [&](const Collective& operation) {
            return !has_volumes || replay::gives_something(operation);
        };
        switch (replay::shape(any.operation)) {
            case Shape::all_to_all: {
                if (has_volumes && replay::may_skip_members(any.operation)) {
                    add_exchange(members);
                    break;
                }
                // Each group of an inter-communicator gets what the other one gives. Of a barrier's members not all
                // are held: see `CollectiveWaits::needed`.
                const bool has_groups = program_.has_groups(any.comm);
                if (has_groups && any.operation == replay::Operation::barrier) {
                    break;
                }
                const std::array<Node, 2> given{new_hub(), new_hub()};
                for (const auto& [l, operation] : members) {
                    const auto mine = has_groups ? program_.group_of(any.comm, rank_of(l)) : 0;
                    if (gives(*operation)) {
                        edges.push_back({begin_of(l, *operation), given[mine], 0});
                    }
                    end_after(l, *operation, given[has_groups ? 1 - mine : 0]);
                }
                break;
            }
            case Shape::one_to_all:
                for (auto at = members.begin(); root != members.end() && at != members.end(); ++at) {
                    if (at != root) {
                        end_after(at->first, *at->second, begin_of(root->first, *root->second));
                    }
                }
                break;
            case Shape::all_to_one:
                for (auto at = members.begin(); root != members.end() && at != members.end(); ++at) {
                    if (at != root && gives(*at->second)) {
                        end_after(root->first, *root->second, begin_of(at->first, *at->second));
                    }
                }
                break;
            case Shape::prefix: {
                std::vector<std::tuple<replay::Rank, std::size_t, const Collective*>> in_order;
                for (const auto& [l, operation] : members) {
                    in_order.emplace_back(rank_of(l), l, operation);
                }
                std::ranges::sort(in_order);
                auto before = kNone;
                for (const auto& [rank, l, operation] : in_order) {
                    const auto hub = new_hub();
                    edges.push_back({begin_of(l, *operation), hub, 0});
                    if (before != kNone) {
                        edges.push_back({before, hub, 0});
                    }
                    end_after(l, *operation, hub);
                    before = hub;
                }
                break;
            }
            case Shape::agreement:  // it may synchronize, and need not: times alone show it
            case Shape::none:
                break;
        }
    }

    const Program& program_;
    std::unordered_map<std::uint32_t, std::int32_t> node_of_;  // by process
};

/// Corrected times in the order of causes: each process as far as its causes are known.
class Forward {
  public:
    explicit Forward(const Instants& instants)
        : in_(instants),
          corrected(instants.times.size() + instants.hubs, kNotYet),
          awaited_(corrected.size(), false),
          next_(instants.first.begin(), instants.first.end() - 1) {}

    void run() {
        const auto processes = next_.size();
        // Hubs without separate causes are instants of processes that have just one.
        std::vector<std::uint32_t> runnable;
        for (std::size_t p = processes + in_.hubs; p-- > 0;) {
            runnable.push_back(static_cast<std::uint32_t>(p));
        }
        for (;;) {
            while (!runnable.empty()) {
                const auto p = runnable.back();
                runnable.pop_back();
                advance(p, runnable);
            }
            // A circle: the first instant of it is left where it was recorded.
            std::size_t stuck = 0;
            while (stuck < processes && next_[stuck] == in_.first[stuck + 1]) {
                ++stuck;
            }
            if (stuck == processes) {
                return;
            }
            ++unordered;
            settle(static_cast<Node>(next_[stuck]++), stuck, runnable);
            runnable.push_back(static_cast<std::uint32_t>(stuck));
        }
    }

  private:
    const Instants& in_;

  public:
    std::vector<std::int64_t> corrected;
    std::uint64_t unordered = 0;

  private:
    [[nodiscard]] Node hub(std::uint32_t p) const { return static_cast<Node>(in_.times.size() + p - next_.size()); }

    void advance(std::uint32_t p, std::vector<std::uint32_t>& runnable) {
        if (p >= next_.size()) {
            if (corrected[hub(p)] == kNotYet && ready(hub(p), p)) {
                settle(hub(p), p, runnable);
            }
            return;
        }
        while (next_[p] != in_.first[p + 1] && ready(static_cast<Node>(next_[p]), p)) {
            settle(static_cast<Node>(next_[p]++), p, runnable);
        }
    }

    /// Whether all causes are known; else `p` is woken when the first unknown one is.
    bool ready(Node node, std::uint32_t p) {
        for (auto e = in_.incoming[node]; e < in_.incoming[node + 1]; ++e) {
            const auto cause = in_.edges[e].from;
            if (corrected[cause] == kNotYet && cause != node) {
                awaited_[cause] = true;
                waiting_[cause].push_back(p);
                return false;
            }
        }
        return true;
    }

    void settle(Node node, std::size_t p, std::vector<std::uint32_t>& runnable) {
        auto time = kNotYet + 1;
        if (p < next_.size()) {
            time = in_.times[node];
            if (node != in_.first[p]) {
                const auto passed = in_.times[node] - in_.times[node - 1];
                time = std::max(time, corrected[node - 1] + passed - passed / kRate);
            }
        }
        for (auto e = in_.incoming[node]; e < in_.incoming[node + 1]; ++e) {
            const auto& edge = in_.edges[e];
            if (corrected[edge.from] != kNotYet) {
                time = std::max(time, corrected[edge.from] + edge.transit_ps);
            }
        }
        corrected[node] = time;
        if (awaited_[node]) {
            const auto found = waiting_.find(node);
            runnable.insert(runnable.end(), found->second.begin(), found->second.end());
            waiting_.erase(found);
        }
    }

    std::vector<bool> awaited_;
    std::unordered_map<Node, std::vector<std::uint32_t>> waiting_;
    std::vector<std::size_t> next_;  // by process
};

/// The latest that each instant may be without passing an effect of it.
std::vector<std::int64_t> bounds(const Instants& in, const std::vector<std::int64_t>& corrected) {
    std::vector<std::int64_t> latest(corrected.size(), kNoneSeen);
    const auto of_processes = in.incoming[in.times.size()];
    for (std::size_t e = 0; e < of_processes; ++e) {
        const auto& edge = in.edges[e];
        latest[edge.from] = std::min(latest[edge.from], corrected[edge.to] - edge.transit_ps);
    }
    // Hubs of a prefix operation follow each other: the last one first.
    for (auto e = in.edges.size(); e-- > of_processes;) {
        const auto& edge = in.edges[e];
        latest[edge.from] = std::min(latest[edge.from], latest[edge.to]);
    }
    return latest;
}

/// The duration over which a shift is made up for; at most 53 days, beyond which no time is represented.
std::int64_t ramp(std::int64_t shift) {
    return std::min(shift, Clock::kSaturated / kRate) * kRate;
}

/// Spreads the moves of one process over the time before them.
TimeMap amortized(const Instants& in, std::size_t process, const std::vector<std::int64_t>& corrected,
                  const std::vector<std::int64_t>& latest, std::int64_t begin_ps, std::int64_t& largest) {
    const auto begin = in.first[process];
    const auto end = in.first[process + 1];
    std::vector<TimeMap::Knot> knots;
    std::int64_t later = 0;  // shift of the next instant
    for (auto i = end; i-- > begin;) {
        auto shift = corrected[i] - in.times[i];
        if (i + 1 != end) {
            const auto eased = later - ((in.times[i + 1] - in.times[i]) / kRate);
            const auto most = latest[i] == kNoneSeen ? kNoneSeen : latest[i] - in.times[i];
            shift = std::max(shift, std::min(eased, most));
        }
        knots.push_back({in.times[i], shift});
        largest = std::max(largest, shift);
        later = shift;
    }
    if (largest == 0 && std::ranges::all_of(knots, [](const auto& knot) { return knot.shift == 0; })) {
        return {};
    }
    std::ranges::reverse(knots);
    std::vector<TimeMap::Knot> kept;
    const auto head = knots.front().shift;
    if (head > 0) {
        kept.push_back({knots.front().at - ramp(head), 0});
    }
    for (std::size_t i = 0; i < knots.size(); ++i) {
        const auto changes = knots[i].shift != 0 || (i != 0 && knots[i - 1].shift != 0) ||
                             (i + 1 != knots.size() && knots[i + 1].shift != 0);
        if (changes) {
            kept.push_back(knots[i]);
        }
    }
    if (knots.back().shift > 0) {
        kept.push_back({knots.back().at + ramp(knots.back().shift), 0});
    }
    for (auto& knot : kept) {
        knot.at += begin_ps;
    }
    return TimeMap(std::move(kept));
}

}  // namespace

LogicalClock logical_clock(const Program& program, std::int64_t begin_ps) {
    const Instants instants(program);
    Forward forward(instants);
    forward.run();
    const auto latest = bounds(instants, forward.corrected);
    LogicalClock result;
    result.unordered = forward.unordered;
    std::ranges::copy(instants.least, result.least_transit_ps);
    for (std::size_t p = 0; p + 1 < instants.first.size(); ++p) {
        std::int64_t largest = 0;
        result.maps.push_back(amortized(instants, p, forward.corrected, latest, begin_ps, largest));
        result.largest_ps = std::max(result.largest_ps, largest);
        result.processes += result.maps.back().knots().empty() ? 0 : 1;
    }
    result.map_of = instants.process_of;
    return result;
}

}  // namespace logpost::analyzer
