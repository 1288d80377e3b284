#pragma once

/// A replay of a graph in slots: one pass over its arcs, without a branch that depends on the graph.
///
/// A processor that guesses how many edges a node has guesses wrong once or twice a message, and that costs more than
/// all else. So every arc writes to its node's slot, the last one for good; and every arc takes its weight from one
/// table: what the settings make of the models' costs, made once, and behind them of the weights that single edges
/// have, made a block of arcs at a time.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/native/graph/graph.hpp"
#include "replay/native/graph/lanes.hpp"
#include "replay/native/graph/slot_times.hpp"

namespace logpost::replay {

/// Every arc in order, with the weight that it takes from the table. `weigh(model, weight, more)` makes a row of the
/// table, of which `Block` for weights of single edges fit into the first cache; `take(arc, more, node)` has each
/// arc, its row, and the node it leads to.
template <class Row, std::size_t Block, class Weigh, class Take>
[[gnu::always_inline]] inline void for_each_arc(const Graph& graph, Weigh&& weigh, Take&& take) {
    const auto shared = static_cast<std::uint32_t>(graph.models.size());
    std::vector<Row> table(shared + Block);
    for (std::uint32_t model = 0; model < shared; ++model) {
        weigh(model, graph.costs[model], table[model]);
    }
    const auto* const arcs = graph.arcs.data();
    const auto* const rows = table.data();
    std::size_t node = 0;
    std::uint32_t own = 0;  // the first separate weight in the block
    for (std::size_t begin = 0; begin < graph.arcs.size(); begin += Block) {
        const auto end = std::min(begin + Block, graph.arcs.size());
        std::uint32_t owned = 0;
        for (auto i = begin; i < end; ++i) {
            owned += arcs[i].row() >= shared ? 1 : 0;
        }
        for (std::uint32_t k = 0; k < owned; ++k) {
            weigh(graph.own_models[own + k], graph.own_weights[own + k], table[shared + k]);
        }
        for (auto i = begin; i < end; ++i) {
            const auto arc = arcs[i];
            const auto row = arc.row();
            const std::size_t last = arc.last();
            take(arc, rows[row - (row >= shared ? own : 0)], node);
            node += last;
        }
        own += owned;
    }
}

/// t_v = max over the edges u -> v of (t_u + w), for a group of lanes. In the end, nodes that no node waits for have
/// their times in their slots. For each arc, `kept.edge(at, latest)` has when it ends,
/// and the latest times of the arcs of its node before it; then `kept.at(node, latest, last)` the latest ones with it,
/// and whether they are the node's.
template <std::size_t Lanes, class Kept>
[[gnu::always_inline]] inline void replay_in_slots(const Graph& graph, const LaneWeights<Lanes>& weights,
                                                   SlotTimes<Lanes>& times, Kept& kept) {
    // Captured as values: through references, compilers read them anew behind every store.
    const auto* const slots = graph.slots.data();
    auto* const time = times.data();
    LaneTimes<Lanes> latest;
    latest.fill(INT64_MIN);
    for_each_arc<LaneTimes<Lanes>, 2048 / Lanes>(
        graph,
        [&] [[gnu::always_inline]] (std::uint32_t model, std::int64_t weight, LaneTimes<Lanes>& more) {
            weights.change(model, weight, more);
        },
        [&kept, &latest, slots, time] [[gnu::always_inline]] (const auto& arc, const LaneTimes<Lanes>& weight,
                                                              std::size_t node) {
            const auto& source = time[arc.source];
            LaneTimes<Lanes> at;
            for (std::size_t lane = 0; lane < Lanes; ++lane) {
                at[lane] = source[lane] + weight[lane];
            }
            kept.edge(at, latest);
            for (std::size_t lane = 0; lane < Lanes; ++lane) {
                latest[lane] = latest[lane] < at[lane] ? at[lane] : latest[lane];
            }
            time[slots[node]] = latest;
            const bool last = arc.last() != 0;
            kept.at(node, latest, last);
            for (std::size_t lane = 0; lane < Lanes; ++lane) {
                latest[lane] = last ? INT64_MIN : latest[lane];
            }
        });
}

}  // namespace logpost::replay
