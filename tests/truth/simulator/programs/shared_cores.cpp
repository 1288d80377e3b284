/// Programs whose ranks take turns on too few cores of a node, cured where each has one.
///
/// What a rank does without a core has no label in the truth: these are for the finding and its gain alone.

#include "shared_cores.hpp"

#include "patterns.hpp"

namespace logpost::truth {
namespace {

/// Work with 5 % noise, a halo and a sum in each step.
auto stencil(Time work, int steps, int sums) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < steps; ++step) {
            const double drawn =
                uniform(11, static_cast<std::uint64_t>(rank.number()), static_cast<std::uint64_t>(step));
            co_await rank.compute(static_cast<Time>(static_cast<double>(work) * (0.95 + 0.1 * drawn)), "relax");
            co_await halo(rank, 4096);
            for (int i = 0; i < sums; ++i) {
                co_await rank.allreduce(8);
            }
        }
    };
}

Machine node_of(int ranks, int cores, bool yields) {
    Machine machine;
    machine.ranks_per_node = ranks;
    machine.scheduling.cores_per_node = cores;
    machine.scheduling.yields = yields;
    return machine;
}

template <class Body>
void add_shared_cores(Cases& cases, std::string name, std::string story, int ranks, const Machine& machine, Body body) {
    auto& entry = add_case(cases, std::move(name), std::move(story), "shared_cores", ranks, machine, body, body);
    entry.cured_machine.scheduling.cores_per_node = 0;
}

}  // namespace

void shared_cores(Cases& cases) {
    const auto ms = kMillisecond;
    add_shared_cores(cases, "two_a_core_spin", "two ranks a core, which spin in calls", 8, node_of(8, 4, false),
                     stencil(2 * ms, 60, 1));
    add_shared_cores(cases, "two_a_core_yield", "two ranks a core, which yield in calls", 8, node_of(8, 4, true),
                     stencil(2 * ms, 60, 1));
    add_shared_cores(cases, "four_a_core_spin", "four ranks a core", 8, node_of(8, 2, false), stencil(2 * ms, 40, 1));
    add_shared_cores(cases, "four_a_core_yield", "four ranks a core, which yield", 8, node_of(8, 2, true),
                     stencil(2 * ms, 40, 1));
    add_shared_cores(cases, "long_steps_spin", "two ranks a core, and steps of several slices", 6, node_of(6, 3, false),
                     stencil(15 * ms, 30, 1));
    add_shared_cores(cases, "some_more_ranks_spin", "eight ranks on six cores", 8, node_of(8, 6, false),
                     stencil(3 * ms, 60, 1));
    add_shared_cores(cases, "two_nodes_spin", "two nodes of four ranks and two cores each", 8, node_of(4, 2, false),
                     stencil(2 * ms, 60, 1));
    add_shared_cores(cases, "sums_spin", "two ranks a core, and eight sums in a step", 8, node_of(8, 4, false),
                     stencil(1 * ms, 40, 8));
    add_shared_cores(cases, "sums_yield", "the same, which yield", 8, node_of(8, 4, true), stencil(1 * ms, 40, 8));
    const auto clean = [&](std::string name, std::string story, double odds, Time length) {
        auto& entry = cases.add(std::move(name), std::move(story), "");
        entry.machine = node_of(8, 8, false);
        entry.machine.scheduling.daemon_odds = odds;
        entry.machine.scheduling.daemon_length = length;
        entry.program = program(stencil(2 * ms, 60, 1));
    };
    clean("enough_cores", "a core for each rank", 0.0, 0);
    clean("enough_cores_noise", "a core for each rank, which daemons take now and then", 0.02, 1 * ms);
}

}  // namespace logpost::truth
