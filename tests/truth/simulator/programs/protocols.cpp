/// Programs whose cause is the protocol: rendezvous, starts in a row, both directions at once.

#include "patterns.hpp"

namespace logpost::truth {
namespace {

constexpr std::uint64_t kLarge = 65536;

/// Even ranks Isend a large message, compute, and wait; with `pieces` > 1 they Test in between.
auto unattended_sender(int pieces, Time use = kWork / 10) {
    return [=](Rank& rank) -> Task<> {
        const int partner = rank.number() ^ 1;
        for (int step = 0; step < kSteps; ++step) {
            if (rank.number() % 2 == 0) {
                const auto request = co_await rank.isend(partner, kLarge);
                bool done = false;
                for (int piece = 0; piece < pieces; ++piece) {
                    co_await rank.compute(kWork / pieces, "compute");
                    if (piece + 1 < pieces && !done) {
                        done = co_await rank.test(request);
                    }
                }
                if (!done) {
                    co_await rank.wait(request);
                }
            } else {
                co_await rank.recv(partner);
                co_await rank.compute(use, "use");
            }
            co_await rank.barrier();
        }
    };
}

/// Odd ranks post the receive and compute; the request of the large message waits for them.
auto unattended_receiver(int pieces) {
    return [=](Rank& rank) -> Task<> {
        const int partner = rank.number() ^ 1;
        for (int step = 0; step < kSteps; ++step) {
            if (rank.number() % 2 == 0) {
                co_await rank.compute(kWork / 10, "produce");
                co_await rank.send(partner, kLarge);
            } else {
                const auto request = co_await rank.irecv(partner);
                bool done = false;
                for (int piece = 0; piece < pieces; ++piece) {
                    co_await rank.compute(kWork / pieces, "compute");
                    if (piece + 1 < pieces && !done) {
                        done = co_await rank.test(request);
                    }
                }
                if (!done) {
                    co_await rank.wait(request);
                }
            }
            co_await rank.barrier();
        }
    };
}

/// The sender makes calls between Isend and Wait that give no progress.
auto queries_only() {
    return [=](Rank& rank) -> Task<> {
        const int partner = rank.number() ^ 1;
        for (int step = 0; step < kSteps; ++step) {
            if (rank.number() % 2 == 0) {
                const auto request = co_await rank.isend(partner, kLarge);
                for (int i = 0; i < 8; ++i) {
                    co_await rank.compute(kWork / 8, "compute");
                    co_await rank.query(i % 2 == 0 ? "MPI_Comm_rank" : "MPI_Wtime");
                }
                co_await rank.wait(request);
            } else {
                co_await rank.recv(partner);
                co_await rank.compute(kWork / 10, "use");
            }
            co_await rank.barrier();
        }
    };
}

auto persistent(int count, std::uint64_t bytes) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kSteps; ++step) {
            co_await rank.compute(kWork / 4, "relax");
            std::vector<Request> requests;
            for (int i = 1; i <= count; ++i) {
                requests.push_back(co_await rank.irecv((rank.number() + rank.size() - i) % rank.size(), i));
            }
            std::vector<Rank::Start> starts;
            for (int i = 1; i <= count; ++i) {
                starts.push_back({(rank.number() + i) % rank.size(), bytes, {.tag = i}});
            }
            for (const auto request : co_await rank.startall(starts)) {
                requests.push_back(request);
            }
            co_await rank.waitall(requests);
        }
    };
}

auto shift(std::uint64_t bytes) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kSteps; ++step) {
            co_await rank.compute(kWork / 2, "relax");
            co_await rank.sendrecv((rank.number() + 1) % rank.size(), bytes,
                                   (rank.number() + rank.size() - 1) % rank.size());
        }
    };
}

auto large_halo(std::uint64_t bytes) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kSteps; ++step) {
            co_await rank.compute(kWork, "relax");
            co_await halo(rank, bytes);
        }
    };
}

}  // namespace

void protocols(Cases& cases) {
    const Machine machine;
    add_case(cases, "unattended_sender", "a large Isend starts only in its Wait; the receiver waits", "unattended", 8,
             machine, unattended_sender(1), unattended_sender(10))
        .culprits = {0, 2, 4, 6};
    add_case(cases, "unattended_receiver", "a posted receive cannot answer while its rank computes", "unattended", 8,
             machine, unattended_receiver(1), unattended_receiver(10))
        .culprits = {1, 3, 5, 7};
    add_case(cases, "queries_make_no_progress", "Comm_rank and Wtime between Isend and Wait answer nothing",
             "unattended", 8, machine, queries_only(), unattended_sender(10))
        .culprits = {0, 2, 4, 6};
    Machine offloading = machine;
    offloading.asynchronous_progress = true;
    auto& entry = cases.add("asynchronous_progress", "the NIC replies for a computing sender: nothing is lost", "");
    entry.machine = offloading;
    entry.program = program(unattended_sender(1, kWork / 2));  // with the transfer, as long as the sender computes
    add_case(cases, "startall", "7 persistent sends start one after the other", "", 8, machine, persistent(7, 4096),
             persistent(7, 4096));
    add_case(cases, "startall_rendezvous", "7 persistent large sends share one NIC", "", 8, machine,
             persistent(7, kLarge), persistent(7, kLarge));
    add_case(cases, "shift_eager", "a ring shift below the eager limit", "", 8, machine, shift(4096), shift(4096));
    add_case(cases, "shift_rendezvous", "a ring shift above the eager limit", "", 8, machine, shift(kLarge),
             shift(kLarge));
    add_case(cases, "halo_rendezvous", "a halo exchange above the eager limit", "", 8, machine, large_halo(32768),
             large_halo(32768));
}

}  // namespace logpost::truth
