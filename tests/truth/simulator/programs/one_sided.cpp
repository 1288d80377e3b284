/// Programs of one-sided communication: fences, post and complete, locks, and targets that do not attend.

#include "patterns.hpp"

namespace logpost::truth {
namespace {

/// Puts to both neighbours between fences; rank `late` works `factor` times as long.
auto fences(int late, double factor) {
    return [=](Rank& rank) -> Task<> {
        const int n = rank.size();
        for (int step = 0; step < kSteps; ++step) {
            const double times = rank.number() == late ? factor : 1.0;
            co_await rank.compute(static_cast<Time>(static_cast<double>(kWork) * times), "relax");
            co_await rank.fence();
            co_await rank.put((rank.number() + 1) % n, 2048);
            co_await rank.put((rank.number() + n - 1) % n, 2048);
            co_await rank.fence();
        }
    };
}

/// Work varies from step to step; all wait for the slowest at a fence, or each for its neighbours only.
auto varying(bool fence) {
    return [=](Rank& rank) -> Task<> {
        const int n = rank.size();
        std::vector<int> neighbours;
        neighbours.push_back((rank.number() + 1) % n);
        neighbours.push_back((rank.number() + n - 1) % n);
        for (int step = 0; step < kSteps; ++step) {
            const double drawn =
                uniform(5, static_cast<std::uint64_t>(rank.number()), static_cast<std::uint64_t>(step));
            const auto work = static_cast<Time>(static_cast<double>(kWork) * (0.5 + drawn));
            co_await rank.compute(work, "relax");
            if (fence) {
                co_await rank.fence();
            } else {
                co_await rank.post(neighbours);
                co_await rank.start(neighbours);
            }
            for (const int neighbour : neighbours) {
                co_await rank.put(neighbour, 2048);
            }
            if (fence) {
                co_await rank.fence();
            } else {
                co_await rank.complete();
                co_await rank.wait_exposed();
            }
        }
    };
}

/// Even ranks put to odd ones, which compute before they post, or while their memory is exposed.
auto posts(bool late) {
    return [=](Rank& rank) -> Task<> {
        const int partner = rank.number() ^ 1;
        const std::vector<int> partners(1, partner);
        for (int step = 0; step < kSteps; ++step) {
            if (partner >= rank.size()) {
                co_await rank.compute(kWork + kWork / 4, "next");  // next to the pairs, and no longer than they do
            } else if (rank.number() % 2 == 0) {
                co_await rank.compute(kWork / 4, "produce");
                co_await rank.start(partners);
                co_await rank.put(partner, 4096);
                co_await rank.complete();
                co_await rank.compute(kWork / 2, "next");
            } else {
                if (late) {
                    co_await rank.compute(kWork, "postpone");
                }
                co_await rank.post(partners);
                if (!late) {
                    co_await rank.compute(kWork, "postpone");
                }
                co_await rank.wait_exposed();
            }
            co_await rank.barrier();
        }
    };
}

/// Even ranks compute within their access to the memory of odd ones, or behind it.
auto completes(Time within, Time behind) {
    return [=](Rank& rank) -> Task<> {
        const int partner = rank.number() ^ 1;
        const std::vector<int> partners(1, partner);
        for (int step = 0; step < kSteps; ++step) {
            if (rank.number() % 2 == 0) {
                co_await rank.start(partners);
                co_await rank.put(partner, 4096);
                co_await rank.compute(within, "linger");
                co_await rank.complete();
                co_await rank.compute(behind, "next");
            } else {
                co_await rank.post(partners);
                co_await rank.wait_exposed();
                co_await rank.compute(kWork, "use");
            }
            co_await rank.barrier();
        }
    };
}

/// Everybody updates the memory of rank 0, or of the rank behind its own, under an exclusive lock.
auto locks(bool spread, Time held) {
    return [=](Rank& rank) -> Task<> {
        const int target = spread ? (rank.number() + 1) % rank.size() : 0;
        for (int step = 0; step < kSteps; ++step) {
            co_await rank.compute(kWork / 2, "relax");
            co_await rank.lock(target);
            co_await rank.put(target, 512);
            co_await rank.compute(held, "update");
            co_await rank.unlock(target);
        }
    };
}

/// Even ranks put to (or get from) odd ones, which compute in one piece or ask for messages in between.
auto targets(bool put, int pieces) {
    return [=](Rank& rank) -> Task<> {
        const int partner = rank.number() ^ 1;
        for (int step = 0; step < kSteps; ++step) {
            if (rank.number() % 2 == 0) {
                co_await rank.compute(kWork / 10, "produce");
                if (put) {
                    co_await rank.put(partner, 4096);
                } else {
                    co_await rank.get(partner, 4096);
                }
                co_await rank.flush(partner);
                co_await rank.compute(kWork * 8 / 10, "next");
            } else {
                for (int piece = 0; piece < pieces; ++piece) {
                    co_await rank.compute(kWork / pieces, "compute");
                    if (piece + 1 < pieces) {
                        co_await rank.iprobe(partner);
                    }
                }
            }
            co_await rank.barrier();
        }
    };
}

}  // namespace

void one_sided(Cases& cases) {
    const Machine machine;
    Machine offloading = machine;
    offloading.asynchronous_progress = true;
    const auto clean = [&](std::string name, std::string story, const Machine& on, auto body) {
        auto& entry = cases.add(std::move(name), std::move(story), "");
        entry.machine = on;
        entry.program = program(body);
    };
    clean("rma_fence", "equal work, puts to the neighbours between fences", machine, fences(0, 1.0));
    clean("rma_remote_access", "the NICs of computing targets serve all transfers", offloading, targets(false, 1));
    add_case(cases, "rma_fence_slow_rank", "rank 5 works twice as long before each fence", "load_imbalance", 8, machine,
             fences(5, 2.0), fences(5, 1.0))
        .culprits = {5};
    add_case(cases, "rma_fence_alternating", "work varies, and fences add up the maxima where neighbours would do",
             "wait_at_fence", 8, machine, varying(true), varying(false));
    add_case(cases, "rma_late_post", "odd ranks compute before they post; their origins wait in Win_start", "late_post",
             8, machine, posts(true), posts(false));
    add_case(cases, "rma_late_post_bystander", "the same, with a rank that works almost as long as the wait",
             "late_post", 9, machine, posts(true), posts(false))
        .culprits = {1, 3, 5, 7};
    add_case(cases, "rma_late_complete", "even ranks compute before they end their access; targets wait in Win_wait",
             "late_complete", 8, machine, completes(kWork, 0), completes(0, kWork));
    add_case(cases, "rma_locks", "all update the same rank's memory under a lock that they hold for long",
             "lock_contention", 8, machine, locks(false, kWork / 10), locks(true, kWork / 10));
    add_case(cases, "rma_put_unattended", "puts wait until their targets are inside of MPI again", "unattended_target",
             8, machine, targets(true, 1), targets(true, 20));
    add_case(cases, "rma_get_unattended", "gets wait until their targets are inside of MPI again", "unattended_target",
             8, machine, targets(false, 1), targets(false, 20));
}

}  // namespace logpost::truth
