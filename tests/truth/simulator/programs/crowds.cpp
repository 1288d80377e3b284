/// Programs in which messages queue: at one receiver, at one sender, at a shared NIC.

#include "patterns.hpp"

namespace logpost::truth {
namespace {

constexpr int kCrowdSteps = 10;

/// All send `count` messages of `bytes` to rank 0, or the same messages each to the ranks behind their own.
auto to_one(int count, std::uint64_t bytes, bool spread, Layout layout = {}, bool blocking = false) {
    return [=](Rank& rank) -> Task<> {
        const int n = rank.size();
        for (int step = 0; step < kCrowdSteps; ++step) {
            co_await rank.compute(kWork, "relax");
            std::vector<Request> requests;
            for (int k = 0; k < count; ++k) {
                if (spread) {
                    requests.push_back(co_await rank.irecv((rank.number() + n - 1 - k) % n, k));
                } else if (rank.number() == 0) {
                    for (int from = 1; from < n; ++from) {
                        requests.push_back(co_await rank.irecv(from, k));
                    }
                }
            }
            for (int k = 0; k < count && (spread || rank.number() != 0); ++k) {
                const int to = spread ? (rank.number() + 1 + k) % n : 0;
                if (blocking) {
                    co_await rank.send(to, bytes, {.tag = k, .layout = layout});
                } else {
                    requests.push_back(co_await rank.isend(to, bytes, {.tag = k, .layout = layout}));
                }
            }
            if (!requests.empty()) {
                co_await rank.waitall(requests);
            }
            co_await rank.barrier();
        }
    };
}

/// Everybody sends to everybody with blocking synchronous sends, in the same order or each behind its own rank.
auto order(bool staggered, std::uint64_t bytes, Mode mode) {
    return [=](Rank& rank) -> Task<> {
        const int n = rank.size();
        for (int step = 0; step < kCrowdSteps; ++step) {
            co_await rank.compute(kWork / 2, "update");
            std::vector<Request> receives;
            for (int i = 1; i < n; ++i) {
                receives.push_back(co_await rank.irecv((rank.number() + i) % n));
            }
            for (int i = 0; i < n; ++i) {
                const int to = staggered ? (rank.number() + i) % n : i;
                if (to != rank.number()) {
                    co_await rank.send(to, bytes, {.mode = mode});
                }
            }
            co_await rank.waitall(receives);
            co_await rank.barrier();  // without it, the ranks of a convoy shift against each other for good
        }
    };
}

/// Rank 0 sends a large piece to each of the others, or passes it on along a tree.
auto one_to_all(std::uint64_t bytes, bool tree) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kCrowdSteps; ++step) {
            co_await rank.compute(kWork, "relax");
            if (tree) {
                co_await rank.bcast(0, bytes);
            } else if (rank.number() == 0) {
                std::vector<Request> sends;
                for (int to = 1; to < rank.size(); ++to) {
                    sends.push_back(co_await rank.isend(to, bytes));
                }
                co_await rank.waitall(sends);
            } else {
                co_await rank.recv(0);
            }
            co_await rank.barrier();
        }
    };
}

/// Each step every rank sends to `count` ranks drawn at random.
auto random_traffic(int count, std::uint64_t bytes) {
    return [=](Rank& rank) -> Task<> {
        const int n = rank.size();
        const auto target = [=](int from, int step, int k) {
            const auto drawn =
                static_cast<int>(uniform(static_cast<std::uint64_t>(step) * 100 + static_cast<std::uint64_t>(k),
                                         static_cast<std::uint64_t>(from), 7) *
                                 (n - 1));
            return (from + 1 + drawn) % n;
        };
        for (int step = 0; step < kCrowdSteps; ++step) {
            co_await rank.compute(kWork / 2, "relax");
            std::vector<Request> requests;
            for (int from = 0; from < n; ++from) {
                for (int k = 0; k < count; ++k) {
                    if (from != rank.number() && target(from, step, k) == rank.number()) {
                        requests.push_back(co_await rank.irecv(from, k));
                    }
                }
            }
            for (int k = 0; k < count; ++k) {
                requests.push_back(co_await rank.isend(target(rank.number(), step, k), bytes, {.tag = k}));
            }
            co_await rank.waitall(requests);
        }
    };
}

auto node_halo(std::uint64_t bytes) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kCrowdSteps; ++step) {
            co_await rank.compute(kWork / 2, "relax");
            const int across = (rank.number() + rank.size() / 2) % rank.size();
            std::vector<Request> requests;
            requests.push_back(co_await rank.irecv(across));
            requests.push_back(co_await rank.isend(across, bytes));
            co_await rank.waitall(requests);
            co_await halo(rank, 256);
        }
    };
}

}  // namespace

void crowds(Cases& cases) {
    const Machine machine;
    Machine slow_receiver = machine;
    slow_receiver.other_node.o_r = 6 * kMicrosecond;  // an interrupt per message, as on Alewife
    add_case(cases, "k_to_1_small", "all send small messages to rank 0, whose processor takes them one by one",
             "hot_receiver", 12, slow_receiver, to_one(4, 64, false), to_one(4, 64, true))
        .culprits = {0};
    add_case(cases, "k_to_1_large", "all send to rank 0, whose NIC takes them one by one", "hot_receiver", 12, machine,
             to_one(2, 8000, false), to_one(2, 8000, true))
        .culprits = {0};
    add_case(cases, "k_to_1_rendezvous", "all send large messages to rank 0 with blocking sends", "hot_receiver", 12,
             machine, to_one(1, 32768, false, {}, true), to_one(1, 32768, true, {}, true))
        .culprits = {0};
    Machine packing = machine;
    packing.l_mw_per_byte = 5'000.0;
    const Layout column{.blocks = 128, .block_bytes = 8, .stride_bytes = 1024};
    add_case(cases, "k_to_1_strided", "all send strided data to rank 0, which unpacks it one by one", "hot_receiver", 8,
             packing, to_one(2, 1024, false, column), to_one(2, 1024, true, column))
        .culprits = {0};
    add_case(cases, "same_order", "all visit the same destination at once, with synchronous sends", "hot_receiver", 8,
             slow_receiver, order(false, 80, Mode::synchronous), order(true, 80, Mode::synchronous));
    add_case(cases, "same_order_large", "all visit the same destination at once, with large messages", "hot_receiver",
             8, machine, order(false, 16384, Mode::standard), order(true, 16384, Mode::standard));
    add_case(cases, "one_to_all", "rank 0 sends a large piece to each of the others itself", "hot_sender", 12, machine,
             one_to_all(8000, false), one_to_all(8000, true))
        .culprits = {0};
    add_case(cases, "random_traffic", "random partners, some crowding by chance", "", 12, slow_receiver,
             random_traffic(6, 512), random_traffic(6, 512));
    Machine nodes = machine;
    nodes.ranks_per_node = 4;
    auto& shared = add_case(cases, "shared_nic", "four ranks of a node send through one NIC at once", "hot_sender", 8,
                            nodes, node_halo(8000), node_halo(8000));
    shared.cured_machine.nics_per_node = 4;
}

}  // namespace logpost::truth
