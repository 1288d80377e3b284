#pragma once

/// The makespan T(x) as a function of one parameter, from below: its value and its slope at given points.
///
/// Every weight is the larger one of two linear functions of x (what the model moves, and the bound below which it
/// does not fall), and costs are maxima of linear functions: T is convex and piecewise linear, and a tangent is nowhere
/// above it. Costs are not rounded to picoseconds here. Waits for links are no such functions: of a graph without
/// crossings.

#include <span>
#include <vector>

#include "replay/native/graph/replay.hpp"

namespace logpost::replay {

/// What a point moves: the ranges of its machine are those of `at_zero.machine`, and x times those of `step`.
struct Direction {
    Setting at_zero;
    Parameters step;
    Parameters unit;  ///< ranges with 1 for each value that is moved: what counts its occurrences on a path
};

/// A longest path at x, as a line.
struct Tangent {
    double makespan_ps = 0;  ///< at x
    double slope = 0;        ///< picoseconds per unit of x, to the right
    double count = 0;        ///< how often the path takes what is moved; of times per byte: bytes
};

/// The tangents at each x. `machine` is the one that the graph was built on.
std::vector<Tangent> tangents(const Graph& graph, const Parameters& machine, const Direction& direction,
                              std::span<const double> x, unsigned threads);

}  // namespace logpost::replay
