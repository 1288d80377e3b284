/// Point-to-point programs whose cause is when and how ranks communicate, not a queue.

#include "patterns.hpp"

namespace logpost::truth {
namespace {

/// Rank `late` works `factor` times as long as the others before each exchange.
auto slow_rank(int late, double factor, std::uint64_t bytes) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kSteps; ++step) {
            const double times = rank.number() == late ? factor : 1.0;
            co_await rank.compute(static_cast<Time>(static_cast<double>(kWork) * times), "relax");
            co_await halo(rank, bytes);
        }
    };
}

/// Work grows with the rank; the mean stays.
auto slope(double spread, std::uint64_t bytes) {
    return [=](Rank& rank) -> Task<> {
        const double place = 2.0 * rank.number() / (rank.size() - 1) - 1.0;
        for (int step = 0; step < kSteps; ++step) {
            co_await rank.compute(static_cast<Time>(static_cast<double>(kWork) * (1.0 + spread * place)), "relax");
            co_await halo(rank, bytes);
            co_await rank.allreduce(8);
        }
    };
}

/// Before ranks exchange with those of the other node through one NIC each, rank 0 works so much longer than the
/// others.
auto uneven_before_nics(Time mine, Time others) {
    return [=](Rank& rank) -> Task<> {
        const int across = (rank.number() + rank.size() / 2) % rank.size();
        for (int step = 0; step < kSteps; ++step) {
            co_await rank.compute(rank.number() == 0 ? mine : others, "relax");
            co_await rank.sendrecv(across, 65536, across);
            co_await rank.allreduce(8);
        }
    };
}

/// Rank 0 produces, the others consume with blocking receives; it works for them one after the other.
auto master(Time each) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kSteps; ++step) {
            if (rank.number() == 0) {
                co_await rank.compute(each * (rank.size() - 1), "prepare");
                for (int worker = 1; worker < rank.size(); ++worker) {
                    co_await rank.send(worker, 1024);
                }
            } else {
                co_await rank.recv(0);
                co_await rank.compute(kWork, "consume");
            }
        }
    };
}

/// Odd ranks work before they receive; where that keeps the sender, another part of it is before the sends.
auto receiver_late(Mode mode, std::uint64_t bytes, Time before_send, Time before_receive, Time after_receive) {
    return [=](Rank& rank) -> Task<> {
        const int partner = rank.number() ^ 1;
        for (int step = 0; step < kSteps; ++step) {
            if (rank.number() % 2 == 0) {
                co_await rank.compute(before_send, "produce");
                co_await rank.send(partner, bytes, {.mode = mode});
            } else {
                co_await rank.compute(before_receive, "postpone");
                co_await rank.recv(partner);
                co_await rank.compute(after_receive, "consume");
            }
        }
    };
}

/// A sweep: each rank waits for its left neighbour, works, and passes on, `blocks` times.
auto sweep(int blocks) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < 4; ++step) {
            for (int block = 0; block < blocks; ++block) {
                if (rank.number() > 0) {
                    co_await rank.recv(rank.number() - 1);
                }
                co_await rank.compute(4 * kWork / blocks, "sweep");
                if (rank.number() + 1 < rank.size()) {
                    co_await rank.send(rank.number() + 1, static_cast<std::uint64_t>(4096 / blocks));
                }
            }
            co_await rank.barrier();
        }
    };
}

auto round_trips(int trips, std::uint64_t bytes) {
    return [=](Rank& rank) -> Task<> {
        const int partner = rank.number() ^ 1;
        for (int step = 0; step < kSteps; ++step) {
            co_await rank.compute(kWork / 4, "use");
            for (int trip = 0; trip < trips; ++trip) {
                if (rank.number() % 2 == 0) {
                    co_await rank.send(partner, 16);
                    co_await rank.recv(partner);
                } else {
                    co_await rank.recv(partner);
                    co_await rank.send(partner, bytes);
                }
            }
        }
    };
}

auto pieces(int count, std::uint64_t bytes) {
    return [=](Rank& rank) -> Task<> {
        const int right = (rank.number() + 1) % rank.size();
        const int left = (rank.number() + rank.size() - 1) % rank.size();
        for (int step = 0; step < kSteps; ++step) {
            co_await rank.compute(kWork / 4, "relax");
            std::vector<Request> requests;
            for (int i = 0; i < count; ++i) {
                requests.push_back(co_await rank.irecv(left, i));
            }
            for (int i = 0; i < count; ++i) {
                co_await rank.send(right, bytes, {.tag = i});
            }
            co_await rank.waitall(requests);
        }
    };
}

/// Rank 0 hands out `count` pieces to each of the others, cyclically; then all exchange halos.
auto hand_out(int count, std::uint64_t bytes) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kSteps; ++step) {
            co_await rank.compute(kWork / 4, "relax");
            for (int i = 0; i < count; ++i) {
                if (rank.number() != 0) {
                    co_await rank.recv(0, i);
                    continue;
                }
                for (int other = 1; other < rank.size(); ++other) {
                    co_await rank.send(other, bytes, {.tag = i});
                }
            }
            co_await halo(rank, 2048);
        }
    };
}

auto strided(bool packed) {
    return [=](Rank& rank) -> Task<> {
        const Layout column{.blocks = 512, .block_bytes = 8, .stride_bytes = 4096};
        for (int step = 0; step < kSteps; ++step) {
            co_await rank.compute(kWork, "relax");
            co_await halo(rank, 4096, packed ? Layout{} : column);
        }
    };
}

auto overlap(bool compute_first) {
    return [=](Rank& rank) -> Task<> {
        const int left = (rank.number() + rank.size() - 1) % rank.size();
        const int right = (rank.number() + 1) % rank.size();
        for (int step = 0; step < kSteps; ++step) {
            std::vector<Request> requests;
            requests.push_back(co_await rank.irecv(left));
            requests.push_back(co_await rank.isend(right, 8000));
            if (compute_first) {
                co_await rank.compute(kWork / 4, "inner");
            }
            co_await rank.waitall(requests);
            if (!compute_first) {
                co_await rank.compute(kWork / 4, "inner");
            }
            co_await rank.compute(kWork / 20, "border");
        }
    };
}

}  // namespace

void two_sided(Cases& cases) {
    const Machine machine;
    add_case(cases, "late_sender_slow_rank", "rank 3 computes 60 % longer in relax; its neighbours wait",
             "load_imbalance", 8, machine, slow_rank(3, 1.6, 2048), slow_rank(3, 1.0, 2048))
        .culprits = {3};
    add_case(cases, "imbalance_slope", "work grows with the rank by 30 % to both sides", "load_imbalance", 8, machine,
             slope(0.3, 2048), slope(0.0, 2048));
    Machine two_nodes = machine;
    two_nodes.ranks_per_node = 2;
    add_case(cases, "imbalance_shared_nic",
             "rank 0 works longer; without that the exchanges of a node, which were apart, queue at its NIC",
             "load_imbalance", 4, two_nodes, uneven_before_nics(600 * kMicrosecond, 200 * kMicrosecond),
             uneven_before_nics(300 * kMicrosecond, 300 * kMicrosecond))
        .culprits = {0};
    add_case(cases, "late_sender_master", "rank 0 prepares the work of all others before it sends", "late_sender_chain",
             8, machine, master(60 * kMicrosecond), master(10 * kMicrosecond))
        .culprits = {0};
    add_case(cases, "late_receiver_synchronous", "odd ranks postpone the receive; the even ones wait in Ssend",
             "late_receiver", 8, machine, receiver_late(Mode::synchronous, 1024, kWork / 4, kWork, 0),
             receiver_late(Mode::synchronous, 1024, kWork / 4 * 5 / 2, 0, kWork / 4 * 5 / 2))
        .culprits = {1, 3, 5, 7};
    add_case(cases, "late_receiver_rendezvous", "odd ranks postpone the receive of large messages", "late_receiver", 8,
             machine, receiver_late(Mode::standard, 65536, kWork / 4, kWork, 0),
             receiver_late(Mode::standard, 65536, kWork / 4 * 5 / 2, 0, kWork / 4 * 5 / 2))
        .culprits = {1, 3, 5, 7};
    add_case(cases, "late_receiver_eager", "odd ranks receive late, but eager senders do not wait: nothing is lost", "",
             8, machine, receiver_late(Mode::standard, 1024, kWork / 4, kWork / 4, 0),
             receiver_late(Mode::standard, 1024, kWork / 4, kWork / 4, 0));
    add_case(cases, "wavefront", "each rank starts when its left neighbour has ended: a pipeline of one block",
             "wavefront", 8, machine, sweep(1), sweep(8));
    add_case(cases, "round_trips", "32 questions and replies, one after the other", "round_trips", 8, machine,
             round_trips(32, 64), round_trips(1, 2048));
    add_case(cases, "small_messages", "64 messages of 32 bytes to the same neighbour", "many_small_messages", 8,
             machine, pieces(64, 32), pieces(1, 2048));
    Machine gapped = machine;
    gapped.other_node.g = 4 * kMicrosecond;
    add_case(cases, "small_pieces",
             "rank 0 hands out 8 small pieces to each of the others, which leave at distances of g", "hot_sender", 4,
             gapped, hand_out(8, 16), hand_out(1, 128))
        .culprits = {0};
    Machine packing = machine;
    packing.l_mw_per_byte = 20'000.0;  // 20 ns a byte: 82 us for 4 KiB
    add_case(cases, "strided_halo", "columns go out as a strided datatype", "strided_datatype", 8, packing,
             strided(false), strided(true));
    add_case(cases, "missed_overlap", "Waitall is before work that does not need the data", "missed_overlap", 8,
             machine, overlap(false), overlap(true));
}

}  // namespace logpost::truth
