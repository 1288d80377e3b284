/// Programs whose time is spent in collectives: waiting for members, or the operations themselves.

#include "patterns.hpp"

namespace logpost::truth {
namespace {

auto before_barrier(int late, double factor) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kSteps; ++step) {
            const double times = rank.number() == late ? factor : 1.0;
            co_await rank.compute(static_cast<Time>(static_cast<double>(kWork) * times), "relax");
            co_await rank.barrier();
        }
    };
}

/// In odd steps one half of the ranks works longer, in even steps the other: over the run everybody works the same.
auto alternating(double factor) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kSteps; ++step) {
            const bool longer = (rank.number() + step) % 2 == 0;
            co_await rank.compute(static_cast<Time>(static_cast<double>(kWork) * (longer ? factor : 2.0 - factor)),
                                  step % 2 == 0 ? "even" : "odd");
            co_await rank.allreduce(8);
        }
    };
}

/// Work varies at random from step to step; barriers after each step add up the maxima.
auto barriers(bool needless) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kSteps; ++step) {
            const double drawn =
                uniform(3, static_cast<std::uint64_t>(rank.number()), static_cast<std::uint64_t>(step));
            co_await rank.compute(static_cast<Time>(static_cast<double>(kWork) * (0.6 + 0.8 * drawn)), "relax");
            if (needless) {
                co_await rank.barrier();
            }
        }
    };
}

auto reductions(int count, std::uint64_t bytes) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kSteps; ++step) {
            co_await rank.compute(kWork / 4, "relax");
            for (int i = 0; i < count; ++i) {
                co_await rank.allreduce(bytes);
            }
        }
    };
}

auto root_late(Time root_work, bool broadcast) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kSteps; ++step) {
            co_await rank.compute(rank.number() == 0 ? root_work : kWork / 2, "prepare");
            if (broadcast) {
                co_await rank.bcast(0, 1024);
            } else {
                co_await rank.reduce(0, 1024);
            }
        }
    };
}

auto exchange(std::uint64_t bytes) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kSteps / 2; ++step) {
            co_await rank.compute(kWork, "transform");
            co_await rank.alltoall(bytes);
        }
    };
}

}  // namespace

void collectives(Cases& cases) {
    const Machine machine;
    add_case(cases, "barrier_slow_rank", "rank 5 works twice as long before each barrier", "load_imbalance", 8, machine,
             before_barrier(5, 2.0), before_barrier(5, 1.0))
        .culprits = {5};
    add_case(cases, "alternating_imbalance", "halves of the ranks work longer alternately; the sums are equal",
             "load_imbalance", 8, machine, alternating(1.5), alternating(1.0));
    add_case(cases, "needless_barrier", "work varies from step to step, and a barrier after each adds up the maxima",
             "needless_barrier", 8, machine, barriers(true), barriers(false));
    add_case(cases, "many_reductions", "12 reductions of 8 bytes in a row could be one of 96", "collective_cost", 16,
             machine, reductions(12, 8), reductions(1, 96));
    add_case(cases, "late_root", "rank 0 prepares longer than the others work before it broadcasts", "load_imbalance",
             8, machine, root_late(kWork, true), root_late(kWork / 2, true))
        .culprits = {0};
    add_case(cases, "early_root", "rank 0 waits in Reduce for the others", "", 8, machine, root_late(kWork / 4, false),
             root_late(kWork / 2, false));
    add_case(cases, "transpose", "an all-to-all of 8 KiB a pair dominates", "collective_cost", 8, machine,
             exchange(8192), exchange(1024));
}

}  // namespace logpost::truth
