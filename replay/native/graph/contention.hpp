#pragma once

/// Contention: messages between nodes wait for NICs, and share the links of the network while they are in flight.
///
/// Times and waits depend on each other. Events are taken in the order of their times, messages enter and leave the
/// network as they occur, and so one pass finds the times at which both agree: nothing is iterated. A message
///
///     ready -> its sender's NIC is free, max(g, B G) after the message before -> (B - 1) G + stretch + L -> the
///     receiver's NIC is free, g after the message before
///
/// where the stretch is the time of B bytes beyond B G at the max-min fair rate (flow_sharing.hpp) of the links on
/// their route and of both NICs. No wait is longer than the recorded times leave room for: what the model says beyond
/// that is taken off the message's bytes and waits, once and for all (Crossing). With the same inputs the pass is the
/// same to the last picosecond: as the graph was calibrated by it, an unchanged program has its measured times.

#include <cstdint>
#include <span>
#include <vector>

#include "replay/native/graph/calibrate.hpp"
#include "replay/native/graph/graph.hpp"
#include "replay/native/graph/replay.hpp"
#include "replay/native/graph/sync_points.hpp"
#include "replay/native/memory/huge_column.hpp"
#include "replay/native/program/surroundings.hpp"
#include "replay/native/program/wide.hpp"

namespace logpost::replay {

/// How a graph's messages between nodes travel over a network, whatever the setting. What is given must outlive this.
struct Routes {
    struct Route {
        std::uint32_t pair;   ///< of the network; kNone: it has no route for them
        std::uint32_t model;  ///< of the edge
        bool between_nodes;   ///< where the program would run
    };

    Routes(const Graph& graph, const Placement& placement, const Network& network);

    const Placement& placement;
    const Network& network;
    std::vector<Route> of_crossing;
};

/// Calibrates a graph that has crossings, over the network that the program ran on. Edges that cross it, and those to
/// nodes that were measured, have separate weights.
void calibrate(Graph& graph, const Program& program, const Network& network, const Parameters& machine,
               const Recorded& recorded);

/// The times of all nodes in one lane, whose delays `weights` is given. `setting` is the lane's.
HugeColumn<std::int64_t> times_with_contention(const Graph& graph, const SyncPoints& points, const Routes& routes,
                                               const Setting& setting, Weights& weights, std::size_t lane,
                                               NetworkUse& use);

/// The same of the program as it ran, where its graph knows how it used the network: the waits are those that it was
/// calibrated by, and no event is followed.
HugeColumn<std::int64_t> recorded_times(const Graph& graph, Weights& weights, std::size_t lane);

/// From the earliest begin to the latest end, by lane.
std::vector<std::int64_t> makespans_with_contention(const Graph& graph, const SyncPoints& points, const Routes& routes,
                                                    std::span<const Setting> settings, const Weights& weights,
                                                    unsigned threads);

}  // namespace logpost::replay
