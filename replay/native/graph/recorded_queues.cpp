#include "replay/native/graph/recorded_queues.hpp"

namespace logpost::replay {

RecordedQueues recorded_queues(const Graph& graph, std::span<const std::uint32_t> sources) {
    const auto nodes = graph.nodes();
    RecordedQueues found{.server = std::vector<std::uint32_t>(nodes, kNone),
                         .service = std::vector<std::uint32_t>(nodes, kNone),
                         .before = std::vector<std::uint32_t>(nodes, kNone)};
    for (std::uint32_t node = 0; node < nodes; ++node) {
        for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
            const auto model = graph.model_of(i);
            if (!is_queue(graph.models[model])) {
                continue;
            }
            const auto source = sources[i];
            if (found.server[source] == kNone) {
                found.server[source] = found.servers++;
            }
            found.server[node] = found.server[source];
            found.service[source] = model;
            found.before[node] = source;
        }
    }
    std::vector<std::uint32_t> of_class(graph.messages.size(), kNone);
    for (std::uint32_t m = 0; m < graph.models.size(); ++m) {
        if (is_queue(graph.models[m]) && graph.models[m].count == 1) {
            of_class[graph.models[m].message] = m;
        }
    }
    for (std::uint32_t i = 0; i < graph.arcs.size(); ++i) {
        const auto source = sources[i];
        const auto& model = graph.models[graph.model_of(i)];
        if (source != kNone && found.server[source] != kNone && found.service[source] == kNone && model.terms != 0) {
            found.service[source] = of_class[model.message];
        }
    }
    return found;
}

}  // namespace logpost::replay
