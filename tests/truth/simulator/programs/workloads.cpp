/// More programs as production codes have them: sweeps over a grid of ranks, tasks that are dealt out, transposes by
/// rows and columns, rings, gets of what others own, streams through stages, sparse exchanges.

#include <algorithm>

#include "patterns.hpp"

namespace logpost::truth {
namespace {

constexpr int kWorkloadSteps = 12;
constexpr int kSide = 4;

Members row_of(int rank) {
    Members row;
    for (int column = 0; column < kSide; ++column) {
        row.push_back(rank / kSide * kSide + column);
    }
    return row;
}

Members column_of(int rank) {
    Members column;
    for (int row = 0; row < kSide; ++row) {
        column.push_back(row * kSide + rank % kSide);
    }
    return column;
}

/// Sweeps from one corner of a grid of 4 x 4 ranks to the other one, in blocks, and a sum after each.
auto grid_sweeps(int blocks) {
    return [=](Rank& rank) -> Task<> {
        const int row = rank.number() / kSide;
        const int column = rank.number() % kSide;
        const auto bytes = static_cast<std::uint64_t>(8192 / blocks);
        for (int step = 0; step < kWorkloadSteps / 2; ++step) {
            for (int block = 0; block < blocks; ++block) {
                if (row > 0) {
                    co_await rank.recv(rank.number() - kSide, 1);
                }
                if (column > 0) {
                    co_await rank.recv(rank.number() - 1, 2);
                }
                co_await rank.compute(4 * kWork / blocks, "sweep");
                if (row + 1 < kSide) {
                    co_await rank.send(rank.number() + kSide, bytes, {.tag = 1});
                }
                if (column + 1 < kSide) {
                    co_await rank.send(rank.number() + 1, bytes, {.tag = 2});
                }
            }
            co_await rank.allreduce(64);
        }
    };
}

/// Rank 0 deals tasks of growing length to the others in pieces of equal number, or round robin.
auto dealt_tasks(bool round_robin) {
    return [=](Rank& rank) -> Task<> {
        const int workers = rank.size() - 1;
        const int each = 6;
        for (int step = 0; step < kWorkloadSteps; ++step) {
            if (rank.number() == 0) {
                for (int worker = 1; worker <= workers; ++worker) {
                    co_await rank.send(worker, 512, {.tag = 1});
                }
                for (int worker = 1; worker <= workers; ++worker) {
                    co_await rank.recv(kAnySource, 2);
                }
            } else {
                co_await rank.recv(0, 1);
                Time whole = 0;
                for (int i = 0; i < each; ++i) {
                    const int me = rank.number() - 1;
                    const int turn = i % 2 == 0 ? me : workers - 1 - me;
                    const int task = round_robin ? i * workers + turn : me * each + i;
                    whole += kWork * (task + 1) / (workers * each);
                }
                co_await rank.compute(whole, "tasks");
                co_await rank.send(0, 512, {.tag = 2});
            }
        }
    };
}

/// Alltoall within the rows, then within the columns, of a grid of 4 x 4 ranks, each by its communicator. The ranks of
/// one row work so many times as long.
auto transposes(int slow, double times) {
    return [=](Rank& rank) -> Task<> {
        const double mine = (rank.number() / kSide == slow ? times : 1.0) * kSide / (kSide - 1 + times);
        for (int step = 0; step < kWorkloadSteps; ++step) {
            co_await rank.compute(static_cast<Time>(static_cast<double>(kWork) * mine), "along_rows");
            co_await rank.alltoall(2048, row_of(rank.number()));
            co_await rank.compute(kWork / 2, "along_columns");
            co_await rank.alltoall(2048, column_of(rank.number()));
        }
    };
}

/// Blocks go round a ring by persistent sends; the work on each is behind the wait for the next one, or before it.
auto ring(bool before) {
    return [=](Rank& rank) -> Task<> {
        const int n = rank.size();
        for (int step = 0; step < kWorkloadSteps; ++step) {
            for (int block = 0; block + 1 < n; ++block) {
                std::vector<Request> requests;
                requests.push_back(co_await rank.irecv((rank.number() + n - 1) % n));
                std::vector<Rank::Start> sends;
                sends.push_back({.to = (rank.number() + 1) % n, .bytes = 8000, .options = {}});
                for (const auto request : co_await rank.startall(sends)) {
                    requests.push_back(request);
                }
                if (before) {
                    co_await rank.compute(kWork / 8, "forces");
                }
                co_await rank.waitall(requests);
                if (!before) {
                    co_await rank.compute(kWork / 8, "forces");
                }
            }
            co_await rank.compute(kWork / 10, "move");
        }
    };
}

/// Each rank gets blocks of other ranks' memory, one by one, and works on each; a rank that works in one piece serves
/// no other.
auto gets(int pieces, bool offloaded) {
    return [=](Rank& rank) -> Task<> {
        const int n = rank.size();
        for (int step = 0; step < kWorkloadSteps; ++step) {
            for (int k = 1; k <= 3; ++k) {
                const int owner = (rank.number() + k) % n;
                co_await rank.get(owner, 6000);
                co_await rank.flush(owner);
                for (int piece = 0; piece < pieces; ++piece) {
                    const double noise =
                        offloaded ? 0.0
                                  : uniform(3, static_cast<std::uint64_t>(rank.number()),
                                            static_cast<std::uint64_t>(step) * 3 + static_cast<std::uint64_t>(k));
                    co_await rank.compute(static_cast<Time>(static_cast<double>(kWork) / pieces * (0.8 + 0.4 * noise)),
                                          "multiply");
                    if (piece + 1 < pieces) {
                        co_await rank.iprobe(owner);
                    }
                }
            }
        }
    };
}

/// Loops of four threads before a halo; on another rank in each step one thread has half of the loop.
auto hybrid(bool uneven) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kWorkloadSteps; ++step) {
            const bool mine = uneven && rank.number() == step % rank.size();
            std::vector<std::vector<Time>> phases;
            phases.push_back(mine ? std::vector<Time>{2 * kWork, kWork * 2 / 3, kWork * 2 / 3, kWork * 2 / 3}
                                  : std::vector<Time>(4, kWork));
            co_await rank.parallel("assemble.c:31", phases);
            co_await halo(rank, 3000);
        }
    };
}

/// Work before a halo, of which another rank in each step has so many times as much.
auto moving_load(double times) {
    return [=](Rank& rank) -> Task<> {
        const int n = rank.size();
        for (int step = 0; step < 3 * kWorkloadSteps; ++step) {
            const double mine = (rank.number() == (5 * step) % n ? times : 1.0) * n / (n - 1 + times);
            co_await rank.compute(static_cast<Time>(static_cast<double>(kWork) * mine), "refine");
            co_await halo(rank, 3000);
        }
    };
}

/// Even ranks send before half of their work, odd ones receive behind all of theirs, or between. Messages are a little
/// smaller and a little larger than the eager limit, alternately.
auto at_the_limit(bool late) {
    return [=](Rank& rank) -> Task<> {
        const int partner = rank.number() ^ 1;
        for (int step = 0; step < kWorkloadSteps; ++step) {
            const auto bytes = static_cast<std::uint64_t>(step % 2 == 0 ? 8000 : 8400);
            if (rank.number() % 2 == 0) {
                co_await rank.compute(kWork / 2, "pack");
                co_await rank.send(partner, bytes);
                co_await rank.compute(kWork, "next");
            } else {
                co_await rank.compute(late ? kWork * 5 / 4 : kWork / 2, "own");
                co_await rank.recv(partner);
                co_await rank.compute(late ? kWork / 4 : kWork, "apply");
            }
        }
    };
}

/// A sparse exchange: all learn how many messages arrive, send to three others each, and take what arrives by Probe.
/// All of them send to one rank, or it gets as many as the others.
auto sparse(int hub) {
    return [=](Rank& rank) -> Task<> {
        const int n = rank.size();
        const int each = 3;
        for (int step = 0; step < kWorkloadSteps; ++step) {
            co_await rank.compute(kWork / 3, "search");
            std::vector<int> to;
            for (int i = 0; i < each; ++i) {
                const int other = (rank.number() + 1 + i * (1 + step % 2)) % n;
                to.push_back(hub >= 0 && rank.number() != hub ? hub : other);
            }
            const int expected = hub < 0 ? each
                                 : rank.number() == hub
                                     ? each * (n - 1)
                                     : static_cast<int>(std::ranges::count_if(
                                           std::vector<int>{0, 1, 2},
                                           [&](int i) { return (hub + 1 + i * (1 + step % 2)) % n == rank.number(); }));
            co_await rank.reduce_scatter(4);
            std::vector<Request> sends;
            for (const int other : to) {
                sends.push_back(co_await rank.isend(other, 2500, {.tag = 5}));
            }
            for (int i = 0; i < expected; ++i) {
                co_await rank.probe(kAnySource, 5);
                co_await rank.recv(kAnySource, 5);
            }
            co_await rank.waitall(sends);
        }
    };
}

/// Items stream through a line of ranks, each of which does its stage; one stage takes so many times as long.
auto stream(int slow, double times) {
    return [=](Rank& rank) -> Task<> {
        const int n = rank.size();
        const double mine = (rank.number() == slow ? times : 1.0) * n / (n - 1 + times);
        for (int item = 0; item < 10 * kWorkloadSteps; ++item) {
            if (rank.number() > 0) {
                co_await rank.recv(rank.number() - 1);
            }
            co_await rank.compute(static_cast<Time>(static_cast<double>(kWork) / 4 * mine), "stage");
            if (rank.number() + 1 < n) {
                co_await rank.send(rank.number() + 1, 4000);
            }
        }
    };
}

/// A shift of large blocks along a line of ranks: all send first, so that each send ends when the next rank's has; or
/// odd ranks receive first.
auto line_shift(bool all_send_first) {
    return [=](Rank& rank) -> Task<> {
        const int n = rank.size();
        for (int step = 0; step < kWorkloadSteps; ++step) {
            co_await rank.compute(kWork, "relax");
            const bool sends = rank.number() + 1 < n;
            const bool receives = rank.number() > 0;
            const bool first = all_send_first || rank.number() % 2 == 0;
            if (sends && first) {
                co_await rank.send(rank.number() + 1, 40'000);
            }
            if (receives) {
                co_await rank.recv(rank.number() - 1);
            }
            if (sends && !first) {
                co_await rank.send(rank.number() + 1, 40'000);
            }
        }
    };
}

}  // namespace

void workloads(Cases& cases) {
    const Machine machine;
    Machine offloading = machine;
    offloading.asynchronous_progress = true;
    const auto clean = [&](std::string name, std::string story, int ranks, const Machine& on, auto body) {
        auto& entry = cases.add(std::move(name), std::move(story), "");
        entry.ranks = ranks;
        entry.machine = on;
        entry.program = program(body);
    };
    add_case(cases, "grid_sweep", "a sweep over a grid of ranks in one block, and a sum after each", "wavefront", 16,
             machine, grid_sweeps(1), grid_sweeps(8));
    add_case(cases, "dealt_tasks", "tasks of growing length are dealt out in pieces of equal number", "load_imbalance",
             8, machine, dealt_tasks(false), dealt_tasks(true))
        .culprits = {7};
    add_case(cases, "communicators_slow_row", "transposes by communicators of rows and columns; one row works longer",
             "load_imbalance", 16, machine, transposes(2, 1.8), transposes(2, 1.0))
        .culprits = {8, 9, 10, 11};
    clean("communicators_clean", "transposes by communicators of rows and columns", 16, machine, transposes(0, 1.0));
    add_case(cases, "ring_waits_first", "blocks go round a ring; the work on each is behind the wait for the next",
             "missed_overlap", 8, machine, ring(false), ring(true));
    add_case(cases, "gets_of_busy_owners", "all ranks get what others own, which compute in one piece",
             "unattended_target", 8, machine, gets(1, false), gets(20, false));
    clean("gets_offloaded", "the same, served by NICs", 8, offloading, gets(1, true));
    add_case(cases, "hybrid_alternating", "in each step one thread of another rank has half of a loop",
             "thread_imbalance", 8, machine, hybrid(true), hybrid(false));
    add_case(cases, "moving_load", "in each step another rank has four times the work", "load_imbalance", 8, machine,
             moving_load(4.0), moving_load(1.0));
    add_case(cases, "at_the_limit", "odd ranks receive late; every second message is larger than the eager limit",
             "late_receiver", 8, machine, at_the_limit(true), at_the_limit(false));
    add_case(cases, "sparse_hub", "a sparse exchange by Probe in which all send to rank 4", "hot_receiver", 12, machine,
             sparse(4), sparse(-1))
        .culprits = {4};
    add_case(cases, "stream_slow_stage", "items stream through a line of ranks, one of which needs twice the time",
             "load_imbalance", 8, machine, stream(3, 2.0), stream(3, 1.0))
        .culprits = {3};
    add_case(cases, "line_shift", "a shift along a line in which each send ends when the next rank's has",
             "late_receiver", 8, machine, line_shift(true), line_shift(false));
}

}  // namespace logpost::truth
