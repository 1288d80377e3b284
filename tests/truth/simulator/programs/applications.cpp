/// Programs as production codes have them: particles, irregular exchanges, sweeps with a test of convergence, masters,
/// grids of ranks, output by one rank.

#include <algorithm>

#include "patterns.hpp"

namespace logpost::truth {
namespace {

constexpr int kIterations = 15;

/// Work per particle, and particles to both neighbours, whose number only their message states (Probe). Rank `crowded`
/// has so many times as many particles as the others; the sum stays.
auto particles(int crowded, double times) {
    return [=](Rank& rank) -> Task<> {
        const int n = rank.size();
        const double mine = (rank.number() == crowded ? times : 1.0) * n / (n - 1 + times);
        const int left = (rank.number() + n - 1) % n;
        const int right = (rank.number() + 1) % n;
        const auto bytes = static_cast<std::uint64_t>(3000.0 * mine);
        for (int step = 0; step < kIterations; ++step) {
            co_await rank.compute(static_cast<Time>(static_cast<double>(kWork) * mine), "push");
            std::vector<Request> sends;
            sends.push_back(co_await rank.isend(right, bytes));
            sends.push_back(co_await rank.isend(left, bytes));
            for (const int from : {left, right}) {
                co_await rank.probe(from);
                co_await rank.recv(from);
            }
            co_await rank.waitall(sends);
        }
    };
}

/// Alltoallv as libraries do it, pair by pair; rank `hot` gets so many times as much as the others.
auto skewed_exchange(int hot, double times) {
    return [=](Rank& rank) -> Task<> {
        const int n = rank.size();
        const auto part = [&](int to) {
            return static_cast<std::uint64_t>((to == hot ? times : 1.0) * 6000.0 * n / (n - 1 + times));
        };
        for (int step = 0; step < kIterations; ++step) {
            co_await rank.compute(kWork / 4, "sort");
            std::vector<Request> requests;
            for (int i = 1; i < n; ++i) {
                requests.push_back(co_await rank.irecv((rank.number() + n - i) % n, i));
            }
            for (int i = 1; i < n; ++i) {
                const int to = (rank.number() + i) % n;
                requests.push_back(co_await rank.isend(to, part(to), {.tag = i}));
            }
            co_await rank.waitall(requests);
        }
    };
}

/// A sweep over the ranks in blocks; every second time a reduction checks whether it has converged.
auto sweeps(int blocks) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < 6; ++step) {
            for (int block = 0; block < blocks; ++block) {
                if (rank.number() > 0) {
                    co_await rank.recv(rank.number() - 1);
                }
                co_await rank.compute(4 * kWork / blocks, "sweep");
                if (rank.number() + 1 < rank.size()) {
                    co_await rank.send(rank.number() + 1, static_cast<std::uint64_t>(8192 / blocks));
                }
            }
            if (step % 2 == 1) {
                co_await rank.allreduce(8);
            }
        }
    };
}

constexpr int kTask = 1, kResult = 2;

/// Workers ask for the next task with the result of the one before, which is small or large; `chunk` tasks at once.
auto master_and_workers(int tasks, int chunk, Time each) {
    return [=](Rank& rank) -> Task<> {
        const int workers = rank.size() - 1;
        const int rounds = tasks / chunk / workers;
        if (rank.number() == 0) {
            for (int left = rounds * workers; left > 0; --left) {
                const int worker = co_await rank.recv(kAnySource, kResult);
                co_await rank.compute(kWork / 100, "choose");
                co_await rank.send(worker, 64, {.tag = kTask});
            }
        } else {
            for (int round = 0; round < rounds; ++round) {
                const auto bytes =
                    (round % 3 == 0 ? std::uint64_t{2048} : std::uint64_t{128}) * static_cast<std::uint64_t>(chunk);
                co_await rank.send(0, std::min<std::uint64_t>(bytes, 8192), {.tag = kResult});
                co_await rank.recv(0, kTask);
                co_await rank.compute(each * chunk, "task");
            }
        }
    };
}

/// Exchange with the neighbours in three dimensions of a grid of 2 x 2 x 2 ranks; of the three pairs of faces one is
/// contiguous.
auto faces(bool derived) {
    return [=](Rank& rank) -> Task<> {
        const Layout plane{.blocks = 1024, .block_bytes = 8, .stride_bytes = 4096};
        const Layout points{.blocks = 1024, .block_bytes = 8, .stride_bytes = 128};
        const std::vector<Layout> layouts{{}, derived ? plane : Layout{}, derived ? points : Layout{}};
        for (int step = 0; step < kIterations; ++step) {
            co_await rank.compute(kWork, "stencil");
            std::vector<Request> requests;
            for (int dimension = 0; dimension < 3; ++dimension) {
                requests.push_back(co_await rank.irecv(rank.number() ^ (1 << dimension), dimension));
            }
            for (int dimension = 0; dimension < 3; ++dimension) {
                requests.push_back(
                    co_await rank.isend(rank.number() ^ (1 << dimension), 8192,
                                        {.tag = dimension, .layout = layouts[static_cast<std::size_t>(dimension)]}));
            }
            co_await rank.waitall(requests);
        }
    };
}

/// A halo of persistent sends on a torus of 4 x 3 ranks; the ranks of one column work so many times as long.
auto persistent_halo(double times) {
    return [=](Rank& rank) -> Task<> {
        const int columns = 4;
        const int rows = rank.size() / columns;
        const int column = rank.number() % columns;
        const int row = rank.number() / columns;
        const auto at = [&](int r, int c) { return ((r + rows) % rows) * columns + (c + columns) % columns; };
        const std::vector<int> around{at(row, column - 1), at(row, column + 1), at(row - 1, column),
                                      at(row + 1, column)};
        const double mine = (column == 2 ? times : 1.0) * columns / (columns - 1 + times);
        for (int step = 0; step < kIterations; ++step) {
            co_await rank.compute(static_cast<Time>(static_cast<double>(kWork) * mine), "stencil");
            std::vector<Request> requests;
            for (std::size_t side = 0; side < around.size(); ++side) {
                requests.push_back(co_await rank.irecv(around[side], static_cast<int>(side ^ 1U)));
            }
            std::vector<Rank::Start> sends;
            for (std::size_t side = 0; side < around.size(); ++side) {
                sends.push_back({.to = around[side], .bytes = 4096, .options = {.tag = static_cast<int>(side)}});
            }
            for (const auto& request : co_await rank.startall(sends)) {
                requests.push_back(request);
            }
            co_await rank.waitall(requests);
        }
    };
}

/// Sums of one number after each other, to a root and back to all of them.
auto sums(bool by_root, int count) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kIterations; ++step) {
            co_await rank.compute(kWork / 4, "iterate");
            for (int i = 0; i < count; ++i) {
                if (by_root) {
                    co_await rank.reduce(0, 8);
                    co_await rank.bcast(0, 8);
                } else {
                    co_await rank.allreduce(8);
                }
                co_await rank.compute(kWork / 20, "update");
            }
        }
    };
}

/// Every third step all is written: rank 0 gets the others' parts and writes them, or all write their own.
auto output(bool by_one, Time writing) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kIterations; ++step) {
            co_await rank.compute(kWork, "step");
            co_await halo(rank, 2048);
            if (step % 3 == 2) {
                if (!by_one) {
                    co_await rank.compute(writing, "write");
                } else if (rank.number() == 0) {
                    co_await rank.compute(writing, "write");
                    for (int from = 1; from < rank.size(); ++from) {
                        co_await rank.recv(from, 7);
                        co_await rank.compute(writing, "write");
                    }
                } else {
                    co_await rank.send(0, 4096, {.tag = 7});
                }
                co_await rank.barrier();
            }
        }
    };
}

/// Transposes within the rows, then within the columns, of a grid of 4 x 4 ranks. The ranks of one row work so many
/// times as long.
auto transposes(int slow, double times) {
    return [=](Rank& rank) -> Task<> {
        const int side = 4;
        const int row = rank.number() / side;
        const int column = rank.number() % side;
        const double mine = (row == slow ? times : 1.0) * side / (side - 1 + times);
        for (int step = 0; step < kIterations; ++step) {
            co_await rank.compute(static_cast<Time>(static_cast<double>(kWork) * mine), "transform");
            for (int i = 1; i < side; ++i) {
                co_await rank.sendrecv(row * side + (column + i) % side, 4096, row * side + (column + side - i) % side);
            }
            co_await rank.compute(kWork / 2, "along_columns");
            for (int i = 1; i < side; ++i) {
                co_await rank.sendrecv(((row + i) % side) * side + column, 4096,
                                       ((row + side - i) % side) * side + column);
            }
        }
    };
}

/// Exchange with all neighbours in a graph: everybody with the hub, which gives little back, or in a ring, to each
/// half.
auto neighbourhood(int hub, std::uint64_t bytes) {
    return [=](Rank& rank) -> Task<> {
        const int n = rank.size();
        std::vector<int> neighbours;
        for (int other = 0; other < n; ++other) {
            const bool with_hub = hub >= 0 && (rank.number() == hub || other == hub);
            const int apart = std::abs(other - rank.number());
            const bool in_ring = hub < 0 && (apart == 1 || apart == n - 1);
            if (other != rank.number() && (with_hub || in_ring)) {
                neighbours.push_back(other);
            }
        }
        for (int step = 0; step < kIterations; ++step) {
            co_await rank.compute(kWork / 4, "relax");
            std::vector<Request> requests;
            for (const int other : neighbours) {
                requests.push_back(co_await rank.irecv(other));
            }
            for (const int other : neighbours) {
                requests.push_back(co_await rank.isend(other, hub < 0 ? bytes / 2 : rank.number() == hub ? 64 : bytes));
            }
            co_await rank.waitall(requests);
        }
    };
}

}  // namespace

void applications(Cases& cases) {
    const Machine machine;
    Machine packs;
    packs.l_mw_per_byte = 20'000.0;
    add_case(cases, "particles_crowded", "rank 2 has 2.5 times as many particles; Probe returns how many arrive",
             "load_imbalance", 8, machine, particles(2, 2.5), particles(2, 1.0))
        .culprits = {2};
    add_case(cases, "skewed_exchange", "rank 3 gets 5 times what the others get of an exchange of all with all",
             "hot_receiver", 8, machine, skewed_exchange(3, 5.0), skewed_exchange(3, 1.0))
        .culprits = {3};
    add_case(cases, "sweep_converges", "a sweep of one block, and a reduction after every second", "wavefront", 8,
             machine, sweeps(1), sweeps(8));
    add_case(cases, "master_worker", "workers ask rank 0 for every small task", "round_trips", 12, machine,
             master_and_workers(11 * 48, 1, kWork / 20), master_and_workers(11 * 48, 48, kWork / 20))
        .culprits = {0};
    add_case(cases, "halo_3d_derived", "two of three pairs of faces go out as derived datatypes", "strided_datatype", 8,
             packs, faces(true), faces(false));
    add_case(cases, "persistent_halo_column", "one column of the grid works twice as long; persistent halos",
             "load_imbalance", 12, machine, persistent_halo(2.0), persistent_halo(1.0))
        .culprits = {2, 6, 10};
    add_case(cases, "reduce_then_bcast", "each sum is a Reduce and a Bcast instead of an Allreduce", "collective_cost",
             16, machine, sums(true, 4), sums(false, 4));
    add_case(cases, "serial_output", "rank 0 alone writes what all have, before a barrier", "collective_wait", 8,
             machine, output(true, kWork / 4), output(false, kWork / 4))
        .culprits = {0};
    add_case(cases, "transposes_slow_row", "the ranks of one row of the grid work 1.8 times as long", "load_imbalance",
             16, machine, transposes(1, 1.8), transposes(1, 1.0))
        .culprits = {4, 5, 6, 7};
    add_case(cases, "neighbourhood_hub", "everybody's neighbour is rank 5", "hot_receiver", 12, machine,
             neighbourhood(5, 6000), neighbourhood(-1, 6000))
        .culprits = {5};
}

}  // namespace logpost::truth
