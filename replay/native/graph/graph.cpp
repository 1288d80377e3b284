#include "replay/native/graph/graph.hpp"

namespace logpost::replay {

std::size_t Graph::bytes() const noexcept {
    const auto of = [](const auto& column) { return column.size() * sizeof(column[0]); };
    return of(first_edge) + of(arcs) + of(models) + of(costs) + of(own_weights) + of(own_models) + of(messages) +
           of(begins) + of(ends) + of(programs) + of(not_recorded) + of(awaiting) + of(first_call) + of(enters) +
           of(leaves) + of(next_call) + of(callpath) + of(slots) + of(crossings) + of(crossing_of);
}

void assign_slots(Graph& graph) {
    const auto nodes = static_cast<std::uint32_t>(graph.nodes());
    HugeColumn<std::uint32_t> last(nodes);  // the last node that needs it; itself: none does
    for (std::uint32_t node = 0; node < nodes; ++node) {
        last[node] = node;
        for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
            if (graph.arcs[i].source != kNone) {
                last[graph.arcs[i].source] = node;
            }
        }
    }
    for (std::size_t l = 0; l < graph.ends.size(); ++l) {
        for (const auto kept : {graph.ends[l], graph.programs[l].finish}) {
            if (kept != kNone) {
                last[kept] = kNone;
            }
        }
    }
    graph.slots.resize(nodes);
    graph.slots_needed = Graph::kNoSource + 1;
    std::vector<std::uint32_t> free;
    for (std::uint32_t node = 0; node < nodes; ++node) {
        // A replay writes to a node's slot before it has read all of its sources: it takes the place of none of them.
        if (free.empty()) {
            free.push_back(graph.slots_needed++);
        }
        const auto slot = free.back();
        graph.slots[node] = slot;
        free.pop_back();
        const auto end = graph.first_edge[node + 1];
        for (auto i = graph.first_edge[node]; i < end; ++i) {
            auto& source = graph.arcs[i].source;
            if (source == kNone) {
                source = Graph::kNoSource;
                continue;
            }
            if (last[source] == node) {
                free.push_back(graph.slots[source]);
                last[source] = kNone;  // once, however many edges there are
            }
            source = graph.slots[source];
        }
        graph.arcs[end - 1].set_last();
        if (last[node] == node) {
            free.push_back(slot);
        }
    }
}

HugeColumn<std::uint32_t> sources_of(const Graph& graph) {
    HugeColumn<std::uint32_t> found(graph.arcs.size());
    std::vector<std::uint32_t> in_slot(graph.slots_needed, kNone);
    for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
        for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
            const auto source = graph.arcs[i].source;
            found[i] = graph.slots.empty() ? source : in_slot[source];
        }
        if (!graph.slots.empty()) {
            in_slot[graph.slots[node]] = node;
        }
    }
    return found;
}

std::int64_t edge_cost(const EdgeModel& model, const Cost& cost) noexcept {
    std::int64_t sum = 0;
    sum += (model.terms & kTermSend) != 0 ? cost.o_s + cost.l_mw / 2 : 0;
    sum += (model.terms & kTermLatency) != 0 ? cost.L : 0;
    sum += (model.terms & kTermSerialization) != 0 ? cost.serialization : 0;
    sum += (model.terms & (kTermService | kTermTurn)) != 0 ? cost.service : 0;
    sum += (model.terms & kTermReceive) != 0 ? cost.l_mw - cost.l_mw / 2 + cost.o_r : 0;
    sum += (model.terms & kTermControl) != 0 ? cost.o_control : 0;
    return sum * model.count;
}

std::vector<Cost> class_costs(const Graph& graph, const Parameters& machine, Distance MessageClass::* distance) {
    std::vector<Cost> costs;
    costs.reserve(graph.messages.size());
    for (const auto& message : graph.messages) {
        const auto& [locality, hops] = message.*distance;
        costs.push_back(message_cost(machine, locality, message.bytes, message.layout, 1, hops, message.carried));
    }
    return costs;
}

}  // namespace logpost::replay
