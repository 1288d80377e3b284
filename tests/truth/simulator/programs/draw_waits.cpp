/// More phases with a cause, drawn: causes that are behind other calls than their symptoms.

#include "draw.hpp"

namespace logpost::truth {
namespace {

/// One rank prepares what it broadcasts; without it everybody prepares a part.
DrawnCause root(Draw& draw, const Setting& on) {
    const int root = draw.number(0, on.ranks - 1);
    const double factor = draw.between(0.5, 2.0);
    const bool before_halo = draw.chance(0.5);
    const auto phase = [=](bool even) -> Phase {
        return [=](Rank& rank, int step) -> Task<> {
            co_await work(rank, on, step, 0.5, "relax");
            co_await work(rank, on, step, even ? factor / rank.size() : (rank.number() == root ? factor : 0.0),
                          "prepare");
            co_await rank.bcast(root, on.small);
            if (before_halo) {
                co_await halo(rank, on.small / 2);
            }
        };
    };
    return {"root", "one rank prepares what it broadcasts", "load_imbalance", {root}, phase(false), phase(true)};
}

/// Odd ranks ask in a loop for what even ones send behind work.
DrawnCause polling(Draw& draw, const Setting& on) {
    const double produce = draw.between(0.6, 1.5);
    const double use = draw.between(0.1, 0.4);
    const bool probes = draw.chance(0.5);
    std::vector<int> culprits;
    for (int rank = 0; rank + 1 < on.ranks; rank += 2) {
        culprits.push_back(rank);
    }
    const auto phase = [=](double first, double second) -> Phase {
        return [=](Rank& rank, int step) -> Task<> {
            const int partner = rank.number() ^ 1;
            if (partner < rank.size() && rank.number() % 2 == 0) {
                co_await work(rank, on, step, first, "produce");
                co_await rank.send(partner, on.small);
            } else if (partner < rank.size()) {
                if (probes) {
                    while (!co_await rank.iprobe(partner)) {
                        co_await rank.compute(on.unit / 8);
                    }
                    co_await rank.recv(partner);
                } else {
                    const auto request = co_await rank.irecv(partner);
                    while (!co_await rank.test(request)) {
                        co_await rank.compute(on.unit / 8);
                    }
                }
                co_await work(rank, on, step, second, "use");
            }
        };
    };
    const double shared = (produce + use) / 2;
    return {"polling",           "odd ranks poll for what even ranks send late",
            "late_sender_chain", culprits,
            phase(produce, use), phase(shared, shared)};
}

/// Work that varies from step to step, and a barrier that adds up the maxima.
DrawnCause barriers(Draw& draw, const Setting& on) {
    const double spread = draw.between(0.5, 0.9);
    const auto seed = static_cast<std::uint64_t>(draw.number(1, 1'000'000));
    const auto phase = [=](bool barrier) -> Phase {
        return [=](Rank& rank, int step) -> Task<> {
            const double drawn =
                2.0 * uniform(seed, static_cast<std::uint64_t>(rank.number()), static_cast<std::uint64_t>(step)) - 1.0;
            co_await work(rank, on, step, 1.0 + spread * drawn, "relax");
            if (barrier) {
                co_await rank.barrier();
            }
        };
    };
    return {"barriers", "a barrier adds up what steps differ by", "needless_barrier", {}, phase(true), phase(false)};
}

/// Some ranks work longer before an exchange of large messages, a reduction and an exchange of small ones.
DrawnCause mixed(Draw& draw, const Setting& on) {
    const int heavy = draw.number(0, on.ranks - 1);
    const double factor = draw.between(1.5, 3.0);
    const auto phase = [=](bool even) -> Phase {
        return [=](Rank& rank, int step) -> Task<> {
            const double mean = 1.0 + (factor - 1.0) / rank.size();
            co_await work(rank, on, step, even ? mean : (rank.number() == heavy ? factor : 1.0), "relax");
            co_await halo(rank, on.large);
            co_await rank.allreduce(64);
            co_await halo(rank, on.small / 2);
        };
    };
    return {"mixed",    "one rank works longer before exchanges of all sizes", "load_imbalance", {heavy}, phase(false),
            phase(true)};
}

}  // namespace

void waiting_causes(std::vector<Make>& known) {
    known.insert(known.end(), {root, polling, barriers, mixed});
}

}  // namespace logpost::truth
