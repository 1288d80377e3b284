#pragma once

/// Replays of a graph: under other machines and speeds of computation, several in one pass.

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "replay/native/graph/graph.hpp"
#include "replay/native/graph/lanes.hpp"

namespace logpost::replay {

/// What is changed: one lane of a pass.
struct Setting {
    Parameters machine;
    double compute = 1;                    ///< factor of every time between calls
    std::vector<double> by_location = {};  ///< further factors; empty: 1
    std::vector<double> by_callpath = {};  ///< of the call that follows; empty: 1
    bool unexplained = true;               ///< calls that move data last what no model explains, too

    /// The factor of an edge of computation.
    [[nodiscard]] double factor(const EdgeModel& model) const noexcept {
        return compute * (by_location.empty() ? 1.0 : by_location[index(model.location)]) *
               (by_callpath.empty() || model.callpath < 0 ? 1.0
                                                          : by_callpath[static_cast<std::size_t>(model.callpath)]);
    }
};

/// What a message between nodes waits for NICs and links.
struct Delay {
    std::int64_t whole_ps = 0;  ///< until it has arrived
    std::int64_t sent_ps = 0;   ///< until it has left its sender
};

/// What the settings make of every edge's weight.
class Weights {
  public:
    /// `machine` is the one that the graph was built on.
    Weights(const Graph& graph, const Parameters& machine, std::span<const Setting> settings);

    [[nodiscard]] std::size_t lanes() const noexcept { return lanes_; }
    [[nodiscard]] std::int64_t weight(std::uint32_t edge, std::size_t lane) const noexcept {
        return weight(graph_.edge(edge), lane, delayed(edge, lane));
    }
    /// Of an edge that waits `delayed_ps` longer for NICs and links than as recorded.
    [[nodiscard]] std::int64_t weight(const Edge& edge, std::size_t lane, std::int64_t delayed_ps) const noexcept {
        const auto row = static_cast<std::size_t>(edge.model) * lanes_ + lane;
        if (!scaled_[edge.model]) {
            return shifted(edge.weight, shift_[row] + delayed_ps, floor_[row]);
        }
        return scaled(edge.weight, factor_[row]);
    }
    /// Whether the weight cannot fall further: it does not depend on the machine there.
    [[nodiscard]] bool at_bound(std::uint32_t edge, std::size_t lane) const noexcept {
        const auto [source, model, weight] = graph_.edge(edge);
        const auto moved = weight + shift_[static_cast<std::size_t>(model) * lanes_ + lane] + delayed(edge, lane);
        return moved < std::min<std::int64_t>(weight, 0);
    }
    /// What messages between nodes wait for NICs and links in a lane, by crossing (contention.hpp).
    void set_delays(std::size_t lane, std::vector<Delay> of_crossing);
    [[nodiscard]] const std::vector<Delay>& delays(std::size_t lane) const noexcept { return delays_[lane]; }
    /// Of it, what an edge has.
    [[nodiscard]] std::int64_t delay(std::uint32_t edge, std::size_t lane) const noexcept {
        const auto* crossing = crossing_of(edge);
        if (crossing == nullptr || delays_[lane].empty()) {
            return 0;
        }
        const auto& now = delays_[lane][static_cast<std::size_t>(crossing - graph_.crossings.data())];
        return crossing->sent_edge == edge ? now.sent_ps : now.whole_ps;
    }
    /// By how much its message waits longer than as recorded.
    [[nodiscard]] NetworkWaits<std::int64_t> waits_longer(std::uint32_t edge, std::size_t lane) const noexcept;
    /// The times of all nodes: lane after lane for each node. Of a graph without crossings.
    [[nodiscard]] std::vector<std::int64_t> times() const;
    /// Likewise the length of the longest program, by lane. Keeps no times but those that later nodes need.
    /// With `released`, a message that arrives at a NIC before the one that was recorded there before it does not wait
    /// for that one: what the recorded order may cost too much where messages overtake each other.
    [[nodiscard]] std::vector<std::int64_t> makespans(unsigned threads, bool released = false) const;
    /// Of a group of lanes.
    template <std::size_t Lanes>
    [[nodiscard]] LaneWeights<Lanes> group(std::size_t first_lane) const {
        return {graph_.models.size(), lanes_, first_lane, scaled_, shift_, floor_, factor_};
    }

  private:
    template <std::size_t Lanes>
    void replay(std::size_t first_lane, std::vector<std::int64_t>& times) const;
    template <std::size_t Lanes, bool Released>
    void replay(std::size_t first_lane, std::span<std::int64_t> found) const;

    [[nodiscard]] const Crossing* crossing_of(std::uint32_t edge) const noexcept {
        if (graph_.crossing_of.empty()) {
            return nullptr;
        }
        const auto crossing = graph_.crossing_of[edge];
        return crossing == kNone ? nullptr : &graph_.crossings[crossing];
    }

    /// By how much it waits longer than as recorded.
    [[nodiscard]] std::int64_t delayed(std::uint32_t edge, std::size_t lane) const noexcept {
        const auto* crossing = crossing_of(edge);
        if (crossing == nullptr) {
            return 0;
        }
        return delay(edge, lane) - (crossing->sent_edge == edge ? crossing->sent_delay_ps : crossing->delay_ps);
    }

    const Graph& graph_;
    std::size_t lanes_;
    std::vector<std::vector<Delay>> delays_;  // by lane and crossing
    std::vector<std::uint8_t> scaled_;        // by model: computation
    std::vector<std::int64_t> shift_;         // by model and lane
    std::vector<std::int64_t> floor_;         // likewise: 0, or so much less that the edge never counts
    std::vector<double> factor_;              // likewise
};

/// Whether no eager send within (`far`: between) nodes waits in its call for the message before it, did the library's
/// sends wait: neither as recorded nor in a setting, whose replay is then the same.
bool sends_never_wait(const Graph& graph, const Parameters& machine, const Setting& setting, bool far);

/// The location whose program is the longest, the first of equals. The makespan is its length, as everywhere else.
struct LongestProgram {
    Location location = kNoLocation;  ///< kNoLocation: no location takes part
    std::int64_t length_ps = 0;
};
/// `time_of`: of the nodes that end a program.
LongestProgram longest_program(const Graph& graph, const std::function<std::int64_t(std::uint32_t)>& time_of);

/// What the edges of a path are made of.
enum class PathPart : std::uint8_t {
    start,  ///< start-up of other locations that is waited for; and what was not recorded on the path beyond the
            ///< longest program's own such time, which is not part of its length: less than nothing, where it is less
    compute,
    send_overhead,
    latency,
    serialization,
    endpoint_contention,
    network_contention,
    recv_overhead,
    handshake,
    synchronization,  ///< in calls that wait for another process to change their memory, beyond its transfer
    collective,
    other,     ///< in calls that no machine changes
    residual,  ///< what the model does not explain: negative where the machine is too slow
};
inline constexpr std::size_t kPathParts = 13;
inline constexpr std::array<std::string_view, kPathParts> kPathPartNames{"start",
                                                                         "compute",
                                                                         "send_overhead",
                                                                         "latency",
                                                                         "serialization",
                                                                         "endpoint_contention",
                                                                         "network_contention",
                                                                         "recv_overhead",
                                                                         "handshake",
                                                                         "synchronization",
                                                                         "collective",
                                                                         "other",
                                                                         "residual"};

/// How often each parameter counts on a path: its derivative. L, o_s, o_r, g in picoseconds per picosecond; G in bytes.
struct Sensitivity {
    double L = 0, o_s = 0, o_r = 0, g = 0, G = 0;
};

/// A longest path of one lane: what the makespan consists of.
struct CriticalPath {
    std::int64_t makespan_ps = 0;                  ///< the length of the longest program
    std::array<std::int64_t, kPathParts> parts{};  ///< sum: the makespan
    std::array<Sensitivity, kLocalities> sensitivities{};
    std::int64_t compute_ps = 0;                    ///< derivative by a factor of all computation
    std::int64_t moved_ps = 0;                      ///< sum by which edges on it are longer or shorter than as recorded
    NetworkWaits<std::int64_t> waited_more_ps;      ///< by how much messages on it wait longer than as recorded
    std::int64_t early_ps = 0;                      ///< time of edges on it below 0, as a positive sum
    std::int64_t short_ps = 0;                      ///< time by which edges on it are below the model, likewise
    std::vector<std::int64_t> compute_by_location;  ///< computation on the path
    std::uint64_t edges = 0;
    std::uint64_t changes_of_location = 0;  ///< messages and collectives that the path follows
};

/// The first of the edges that a node's time follows from, and the node that it comes from.
struct Binding {
    std::uint32_t edge = kNone;
    std::uint32_t source = kNone;  ///< kNone: there is none
};
/// Used in descending order of nodes.
using BindingOf = std::function<Binding(std::uint32_t node)>;

/// The critical path of one lane: of the longest program, from its begin on. `time_of`: of the nodes that end a
/// program.
CriticalPath critical_path(const Graph& graph, const Weights& weights, std::span<const Setting> settings,
                           std::size_t lane, const std::function<std::int64_t(std::uint32_t)>& time_of,
                           const BindingOf& binding_of);
/// Likewise. `times`: the lane's, by node; `sources` as sources_of.
CriticalPath critical_path(const Graph& graph, std::span<const std::uint32_t> sources, const Weights& weights,
                           std::span<const Setting> settings, std::span<const std::int64_t> times, std::size_t lane);

}  // namespace logpost::replay
