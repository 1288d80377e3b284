/// Programs of ranks with threads: parallel regions whose threads do unequal work, and code outside of any.

#include <random>

#include "patterns.hpp"

namespace logpost::truth {
namespace {

constexpr std::size_t kThreads = 4;

using Works = std::vector<Time>;

Works equal(Time work) {
    return Works(kThreads, work);
}

/// The same work as that of four times `work`, of which one thread has a share.
Works one_has(std::size_t thread, Time work, double share) {
    const auto whole = static_cast<double>(work) * kThreads;
    Works works(kThreads, static_cast<Time>(whole * (1.0 - share) / (kThreads - 1)));
    works[thread] = static_cast<Time>(whole * share);
    return works;
}

/// Each thread's work with so much noise, of a generator for each rank and step.
Works noisy(Time work, double noise, int rank, int step) {
    std::mt19937_64 random(static_cast<std::uint64_t>(rank * kSteps + step));
    std::uniform_real_distribution<double> drawn(1.0 - noise, 1.0 + noise);
    Works works;
    for (std::size_t t = 0; t < kThreads; ++t) {
        works.push_back(static_cast<Time>(static_cast<double>(work) * drawn(random)));
    }
    return works;
}

/// Steps of a parallel region, whose works the function returns by rank and step, and a halo.
template <class WorksOf>
auto steps(WorksOf works_of) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kSteps; ++step) {
            std::vector<Works> phases;
            phases.push_back(works_of(rank.number(), step));
            co_await rank.parallel("sweep.c:10", phases);
            co_await halo(rank, 2048);
            co_await rank.allreduce(8);
        }
    };
}

/// Steps of a parallel region without any communication.
template <class WorksOf>
auto alone(WorksOf works_of) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kSteps; ++step) {
            std::vector<Works> phases;
            phases.push_back(works_of());
            co_await rank.parallel("sweep.c:10", phases);
        }
    };
}

/// Steps of code outside of parallel regions and a region of equal work.
auto serial_and_parallel(Time serial, Time parallel) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kSteps; ++step) {
            if (serial > 0) {
                co_await rank.compute(serial, "assemble");
            }
            std::vector<Works> phases;
            phases.push_back(equal(parallel));
            co_await rank.parallel("sweep.c:10", phases);
            co_await rank.allreduce(8);
        }
    };
}

/// Two phases with a barrier between, over which the threads' works add up to the same.
auto two_phases(bool unequal) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kSteps; ++step) {
            std::vector<Works> phases;
            if (unequal) {
                phases.push_back({kLongWork / 2, kLongWork / 2, kLongWork * 3 / 2, kLongWork * 3 / 2});
                phases.push_back({kLongWork * 3 / 2, kLongWork * 3 / 2, kLongWork / 2, kLongWork / 2});
            } else {
                phases.push_back(equal(kLongWork));
                phases.push_back(equal(kLongWork));
            }
            co_await rank.parallel("relax.c:20", phases);
            co_await halo(rank, 2048);
        }
    };
}

Case& clean(Cases& cases, std::string name, std::string story, World::Program body) {
    auto& entry = cases.add(std::move(name), std::move(story), "");
    entry.ranks = 4;
    entry.program = std::move(body);
    return entry;
}

}  // namespace

void threads(Cases& cases) {
    const auto balanced = steps([](int, int) { return equal(kLongWork); });
    add_case(cases, "omp_unequal_loop", "the last of four threads has 40 % of a loop on every rank", "thread_imbalance",
             4, Machine{}, steps([](int, int) { return one_has(3, kLongWork, 0.4); }), balanced);
    add_case(cases, "omp_unequal_alone", "the first of four threads has half of a loop, on one rank",
             "thread_imbalance", 1, Machine{}, alone([] { return one_has(0, kLongWork, 0.5); }),
             alone([] { return equal(kLongWork); }));
    add_case(cases, "omp_unequal_alternating", "another thread in each step has half of a loop", "thread_imbalance", 4,
             Machine{},
             steps([](int, int step) { return one_has(static_cast<std::size_t>(step) % kThreads, kLongWork, 0.5); }),
             balanced);
    add_case(cases, "omp_unequal_once", "one thread has half of a loop in the sixth step only", "thread_imbalance", 4,
             Machine{},
             steps([](int, int step) { return step == 5 ? one_has(1, 10 * kLongWork, 0.5) : equal(kLongWork); }),
             steps([](int, int step) { return equal(step == 5 ? 10 * kLongWork : kLongWork); }));
    add_case(cases, "omp_explicit_barrier", "two threads arrive last at a barrier, the others at the next one",
             "thread_imbalance", 4, Machine{}, two_phases(true), two_phases(false));
    add_case(cases, "omp_one_rank", "the threads of rank 3 share a loop unequally, and all wait for it in MPI",
             "thread_imbalance", 8, Machine{},
             steps([](int rank, int) { return rank == 3 ? one_has(2, kLongWork, 0.5) : equal(kLongWork); }), balanced)
        .culprits = {3};
    add_case(cases, "omp_one_rank_has_more", "rank 3 has twice the work, which its threads share equally",
             "load_imbalance", 8, Machine{},
             steps([](int rank, int) { return equal(rank == 3 ? 2 * kLongWork : kLongWork); }),
             steps([](int, int) { return equal(kLongWork * 9 / 8); }))
        .culprits = {3};
    add_case(cases, "omp_serial_part", "a third of each step is assembled by one thread", "serial_part", 4, Machine{},
             serial_and_parallel(kLongWork / 2, kLongWork),
             serial_and_parallel(0, kLongWork + kLongWork / 2 / kThreads));
    clean(cases, "omp_clean", "equal threads, small halos", program(balanced));
    clean(cases, "omp_clean_noise", "the same with 5 % noise in each thread's work",
          program(steps([](int rank, int step) { return noisy(kLongWork, 0.05, rank, step); })));
    clean(cases, "omp_little_serial", "0.5 % of each step is serial",
          program(serial_and_parallel(kLongWork / 200, kLongWork)));
    clean(cases, "omp_funneled", "large halos of the first thread between regions of equal work",
          program([](Rank& rank) -> Task<> {
              for (int step = 0; step < kSteps; ++step) {
                  std::vector<Works> phases;
                  phases.push_back(equal(kLongWork));
                  co_await rank.parallel("sweep.c:10", phases);
                  co_await halo(rank, 65536);
              }
          }));
}

}  // namespace logpost::truth
