#pragma once

/// The servers of a graph (NICs, locations' ends of the memory), and by how much messages arrive there later than the
/// model has them.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/native/graph/graph.hpp"

namespace logpost::replay {

/// By node; kNone: none.
struct RecordedQueues {
    std::vector<std::uint32_t> server;   ///< at which it queues
    std::vector<std::uint32_t> service;  ///< model of its service time
    std::vector<std::uint32_t> before;   ///< node that is served before it
    std::uint32_t servers = 0;
};

/// A server is a chain of queue edges. Its last message occupies it for as long as one of its class does. `sources` as
/// sources_of.
RecordedQueues recorded_queues(const Graph& graph, std::span<const std::uint32_t> sources);

/// By how much each node at a server arrives later than the model has it: not before those that were recorded before
/// it. `weight(edge)`: as recorded; `times`: of all nodes with these weights.
template <class Weight>
std::vector<std::int64_t> lateness(const Graph& graph, std::span<const std::uint32_t> sources,
                                   const RecordedQueues& queues, Weight&& weight, std::vector<std::int64_t>& times) {
    std::vector<std::int64_t> late(graph.nodes(), 0);
    std::vector<std::int64_t> latest(queues.servers, INT64_MIN);
    times.resize(graph.nodes());
    for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
        std::int64_t arrival = INT64_MIN;
        std::int64_t served = INT64_MIN;
        for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
            auto& at = is_queue(graph.models[graph.model_of(i)]) ? served : arrival;
            at = std::max(at, (sources[i] == kNone ? 0 : times[sources[i]]) + weight(i));
        }
        times[node] = std::max(arrival, served);
        if (const auto server = queues.server[node]; server != kNone) {
            latest[server] = std::max(latest[server], arrival);
            late[node] = latest[server] - arrival;
        }
    }
    return late;
}

}  // namespace logpost::replay
