#pragma once

/// Calibration: edges get the weights with which a replay gives back the measured times.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "replay/native/graph/graph.hpp"
#include "replay/native/memory/huge_column.hpp"

namespace logpost::replay {

inline constexpr std::int64_t kUnobserved = std::numeric_limits<std::int64_t>::min();
/// Of an edge that never binds; sums with times do not overflow.
inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min() / 4;

/// What a trace shows of a draft's nodes: of the first ones, when they were.
class Measured {
  public:
    void reserve(std::size_t nodes) { ps_.reserve(nodes); }
    void push_back(std::int64_t ps) { ps_.push_back(ps); }
    [[nodiscard]] std::size_t size() const noexcept { return ps_.size(); }
    /// kUnobserved: the trace does not show it.
    [[nodiscard]] std::int64_t operator[](std::uint32_t node) const noexcept {
        return node < ps_.size() ? ps_[node] : kUnobserved;
    }
    /// Whether the node's edges keep the models' cost, and none takes a residual.
    [[nodiscard]] bool fresh(std::uint32_t node) const noexcept { return node < fresh_.size() && fresh_[node]; }
    void set_fresh(std::uint32_t node) {
        fresh_.resize(ps_.size());
        fresh_[node] = true;
    }
    /// Whether the node keeps its time, whatever is changed.
    [[nodiscard]] bool fixed(std::uint32_t node) const noexcept { return node < fixed_.size() && fixed_[node]; }
    void set_fixed(std::uint32_t node) {
        fixed_.resize(ps_.size());
        fixed_[node] = true;
    }

  private:
    HugeColumn<std::int64_t> ps_;
    std::vector<bool> fresh_, fixed_;
};

/// The same by a graph's nodes, which are in another order.
class Recorded {
  public:
    /// `nodes`: by place in the graph. What is given must outlive this.
    Recorded(const Measured& measured, std::span<const std::uint32_t> nodes) : measured_(measured), nodes_(nodes) {}

    [[nodiscard]] std::int64_t measured_ps(std::uint32_t place) const noexcept { return measured_[nodes_[place]]; }
    [[nodiscard]] bool fresh(std::uint32_t place) const noexcept { return measured_.fresh(nodes_[place]); }

  private:
    const Measured& measured_;
    std::span<const std::uint32_t> nodes_;
};

/// Whether an edge that weighs what its model costs orders anything: a queue at a server that is taken for no time
/// does not.
inline bool orders(const Graph& graph, const Edge& edge) noexcept {
    return edge.weight != 0 || !is_queue(graph.models[edge.model]);
}

/// A node's time. Its edges `here` have the models' cost and get their weights: of what was measured, the binding one
/// takes the residual, and every other one at most what was measured. `fresh`: as Measured says. `time(source)`: of the
/// nodes before.
template <class Time>
std::int64_t calibrate(const Graph& graph, std::span<Edge> here, std::int64_t measured, bool fresh, const Time& time) {
    if (here.front().source == kNone) {
        here.front().weight = measured;
        return measured;
    }
    std::int64_t latest = kUnobserved;
    const Edge* binding = nullptr;
    for (const auto& edge : here) {
        if (graph.models[edge.model].kind == EdgeModel::Kind::compute) {
            binding = &edge;  // no model says how long a program computes: all of the time is its
            latest = std::numeric_limits<std::int64_t>::max();
        } else if (orders(graph, edge) && time(edge.source) + edge.weight > latest) {
            latest = time(edge.source) + edge.weight;
            binding = &edge;
        }
    }
    if (measured == kUnobserved) {
        return latest;
    }
    if (fresh) {
        return measured;
    }
    for (auto& edge : here) {
        const auto whole = measured - time(edge.source);
        edge.weight = &edge == binding ? whole : std::min(edge.weight, whole);
    }
    return measured;
}

}  // namespace logpost::replay
