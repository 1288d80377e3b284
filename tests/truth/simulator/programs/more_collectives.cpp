/// Collective operations that are not called and waited for in one: nonblocking ones, and those of neighbours.

#include "patterns.hpp"

namespace logpost::truth {
namespace {

/// A reduction that is started behind work, of which one rank may have more, and completed behind other work.
auto started(int late, double factor) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kSteps; ++step) {
            const double times = rank.number() == late ? factor : 1.0;
            co_await rank.compute(static_cast<Time>(static_cast<double>(kWork) * times), "relax");
            const auto reduction = co_await rank.iallreduce(8);
            co_await rank.compute(kWork / 4, "inner");
            co_await rank.wait(reduction);
        }
    };
}

/// A reduction whose result is waited for before, or behind, work that needs none of it.
auto residual_norm(bool overlapped) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kSteps; ++step) {
            // A rank that works longer in this step works less behind it: no rank arrives last in all.
            const Time more = kWork / 4 * ((rank.number() + step) % 2);
            co_await rank.compute(kWork / 2 + more, "relax");
            const auto reduction = co_await rank.iallreduce(8);
            if (overlapped) {
                co_await rank.compute(kWork / 2 - more, "inner");
            }
            co_await rank.wait(reduction);
            if (!overlapped) {
                co_await rank.compute(kWork / 2 - more, "inner");
            }
        }
    };
}

/// An exchange with both neighbours behind work, of which one rank may have more.
auto neighbours(int late, double factor) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kSteps; ++step) {
            const double times = rank.number() == late ? factor : 1.0;
            co_await rank.compute(static_cast<Time>(static_cast<double>(kWork) * times), "relax");
            co_await rank.neighbor_alltoall(1024);
        }
    };
}

}  // namespace

void more_collectives(Cases& cases) {
    const Machine machine;
    add_case(cases, "iallreduce_slow_rank", "rank 5 works twice as long before it starts a reduction", "load_imbalance",
             8, machine, started(5, 2.0), started(5, 1.125))
        .culprits = {5};
    add_case(cases, "iallreduce_overlapped",
             "a reduction runs during work; a rank that arrives last in a step is early in the next", "", 8, machine,
             residual_norm(true), residual_norm(true));
    add_case(cases, "iallreduce_waits_first", "the Wait for a reduction is before work that needs none of it",
             "missed_overlap", 8, machine, residual_norm(false), residual_norm(true));
    add_case(cases, "neighbours_slow_rank", "rank 5 works twice as long before exchanges of neighbours",
             "load_imbalance", 8, machine, neighbours(5, 2.0), neighbours(5, 1.125))
        .culprits = {5};
    add_case(cases, "neighbours_even", "all work the same before exchanges of neighbours", "", 8, machine,
             neighbours(5, 1.0), neighbours(5, 1.0));
}

}  // namespace logpost::truth
