/// Programs that ask instead of wait: Test and Probe loops, Waitany.

#include "patterns.hpp"

namespace logpost::truth {
namespace {

constexpr int kPairSteps = 15;
constexpr Time kShared = (kWork + kWork / 4) / 2;  ///< a step's work when both ranks of a pair do the same

auto test_loop(Time produce, Time use) {
    return [=](Rank& rank) -> Task<> {
        const int partner = rank.number() ^ 1;
        for (int step = 0; step < kPairSteps; ++step) {
            if (rank.number() % 2 == 0) {
                co_await rank.compute(produce, "produce");
                co_await rank.send(partner, 4096);
            } else {
                const auto request = co_await rank.irecv(partner);
                while (!co_await rank.test(request)) {
                    co_await rank.compute(2 * kMicrosecond, "spin");
                }
                co_await rank.compute(use, "use");
            }
        }
    };
}

auto probe_first(Time produce, Time use, bool ask) {
    return [=](Rank& rank) -> Task<> {
        const int partner = rank.number() ^ 1;
        for (int step = 0; step < kPairSteps; ++step) {
            if (rank.number() % 2 == 0) {
                co_await rank.compute(produce, "produce");
                co_await rank.send(partner, 4096);
            } else {
                if (ask) {
                    while (!co_await rank.iprobe(partner)) {
                        co_await rank.compute(2 * kMicrosecond, "spin");
                    }
                } else {
                    co_await rank.probe(partner);
                }
                co_await rank.recv(partner);
                co_await rank.compute(use, "use");
            }
        }
    };
}

/// Takes what arrives first from all others, and works on it.
auto any_order(bool uneven) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kPairSteps; ++step) {
            // Even, everybody has the mean: the work is the same in all.
            const Time share = kWork / 10 * (uneven ? 2 * rank.number() : rank.size() - 1) / 2;
            co_await rank.compute(kWork / 4 + share, "produce");
            std::vector<Request> receives;
            std::vector<Request> sends;
            for (int i = 1; i < rank.size(); ++i) {
                receives.push_back(co_await rank.irecv((rank.number() + i) % rank.size()));
            }
            for (int i = 1; i < rank.size(); ++i) {
                sends.push_back(co_await rank.isend((rank.number() + i) % rank.size(), 2048));
            }
            while (!receives.empty()) {
                const auto done = co_await rank.waitany(receives);
                receives.erase(receives.begin() + static_cast<std::ptrdiff_t>(done));
                co_await rank.compute(kWork / 40, "unpack");
            }
            co_await rank.waitall(sends);
        }
    };
}

}  // namespace

void progress(Cases& cases) {
    const Machine machine;
    add_case(cases, "test_loop", "odd ranks Test in a loop for what even ranks produce late", "late_sender_chain", 8,
             machine, test_loop(kWork, kWork / 4), test_loop(kShared, kShared))
        .culprits = {0, 2, 4, 6};
    add_case(cases, "probe", "odd ranks wait in Probe for what even ranks produce late", "late_sender_chain", 8,
             machine, probe_first(kWork, kWork / 4, false), probe_first(kShared, kShared, false))
        .culprits = {0, 2, 4, 6};
    add_case(cases, "iprobe_loop", "odd ranks Iprobe in a loop for what even ranks produce late", "late_sender_chain",
             8, machine, probe_first(kWork, kWork / 4, true), probe_first(kShared, kShared, true))
        .culprits = {0, 2, 4, 6};
    add_case(cases, "waitany_uneven", "work grows with the rank; Waitany takes what arrives", "load_imbalance", 8,
             machine, any_order(true), any_order(false));
}

}  // namespace logpost::truth
