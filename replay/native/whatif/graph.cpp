#include "replay/native/whatif/graph.hpp"

namespace logpost::replay {

std::size_t Graph::bytes() const noexcept {
    const auto of = [](const auto& column) { return column.size() * sizeof(column[0]); };
    return of(first_edge) + of(edges) + of(models) + of(messages) + of(begins) + of(ends) + of(first_call) +
           of(enters) + of(leaves) + of(slots) + of(crossings) + of(crossing_of);
}

void assign_slots(Graph& graph) {
    const auto nodes = static_cast<std::uint32_t>(graph.nodes());
    std::vector<std::uint32_t> last(nodes);  // the last node that needs it; itself: none does
    for (std::uint32_t node = 0; node < nodes; ++node) {
        last[node] = node;
        for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
            if (graph.edges[i].source != kNone) {
                last[graph.edges[i].source] = node;
            }
        }
    }
    for (const auto end : graph.ends) {
        if (end != kNone) {
            last[end] = kNone;
        }
    }
    graph.slots.resize(nodes);
    graph.slots_needed = 0;
    std::vector<std::uint32_t> free;
    for (std::uint32_t node = 0; node < nodes; ++node) {
        // A node's time is written when all of its edges have been read: it may take the place of a source.
        for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
            const auto source = graph.edges[i].source;
            if (source != kNone && last[source] == node) {
                free.push_back(graph.slots[source]);
                last[source] = kNone;  // once, however many edges there are
            }
        }
        if (free.empty()) {
            free.push_back(graph.slots_needed++);
        }
        graph.slots[node] = free.back();
        free.pop_back();
        if (last[node] == node) {
            free.push_back(graph.slots[node]);
        }
    }
}

std::int64_t edge_cost(const EdgeModel& model, const Cost& cost) noexcept {
    std::int64_t sum = 0;
    sum += (model.terms & kTermSend) != 0 ? cost.o_s + cost.l_mw / 2 : 0;
    sum += (model.terms & kTermLatency) != 0 ? cost.L : 0;
    sum += (model.terms & kTermSerialization) != 0 ? cost.serialization : 0;
    sum += (model.terms & kTermService) != 0 ? cost.service : 0;
    sum += (model.terms & kTermReceive) != 0 ? cost.l_mw - cost.l_mw / 2 + cost.o_r : 0;
    sum += (model.terms & kTermControl) != 0 ? cost.o_control : 0;
    return sum * model.count;
}

std::vector<Cost> class_costs(const Graph& graph, const Parameters& machine, Distance MessageClass::* distance) {
    std::vector<Cost> costs;
    costs.reserve(graph.messages.size());
    for (const auto& message : graph.messages) {
        const auto& [locality, hops] = message.*distance;
        costs.push_back(message_cost(machine, locality, message.bytes, message.layout, 1, hops));
    }
    return costs;
}

}  // namespace logpost::replay
