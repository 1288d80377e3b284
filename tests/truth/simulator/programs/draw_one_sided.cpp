/// One-sided phases with a cause, drawn.

#include "draw.hpp"

namespace logpost::truth {
namespace {

/// What the even or the odd ranks of pairs are.
std::vector<int> halves(const Setting& on, int remainder) {
    std::vector<int> found;
    for (int rank = remainder; rank + 1 - remainder < on.ranks; rank += 2) {
        found.push_back(rank);
    }
    return found;
}

/// Odd ranks compute before they expose their memory; their origins wait in Win_start.
DrawnCause late_post(Draw& draw, const Setting& on) {
    const double before = draw.between(0.5, 1.2);
    const double behind = draw.between(0.3, 1.0);
    const auto phase = [=](bool early) -> Phase {
        return [=](Rank& rank, int step) -> Task<> {
            const int partner = rank.number() ^ 1;
            const std::vector<int> partners(1, partner);
            if (partner >= rank.size()) {
                co_await work(rank, on, step, before + behind, "next");
            } else if (rank.number() % 2 == 0) {
                co_await rank.start(partners);
                co_await rank.put(partner, on.small);
                co_await rank.complete();
                co_await work(rank, on, step, behind, "next");
            } else {
                if (!early) {
                    co_await work(rank, on, step, before, "postpone");
                }
                co_await rank.post(partners);
                if (early) {
                    co_await work(rank, on, step, before, "postpone");
                }
                co_await rank.wait_exposed();
            }
            co_await rank.allreduce(8);
        };
    };
    return {"late_post", "odd ranks post behind work", "late_post", halves(on, 1), phase(false), phase(true)};
}

/// Even ranks compute between their put and Win_complete; targets wait in Win_wait.
DrawnCause late_complete(Draw& draw, const Setting& on) {
    const double within = draw.between(0.5, 1.2);
    const double use = draw.between(0.3, 1.0);
    const auto phase = [=](bool early) -> Phase {
        return [=](Rank& rank, int step) -> Task<> {
            const int partner = rank.number() ^ 1;
            const std::vector<int> partners(1, partner);
            if (partner >= rank.size()) {
                co_await work(rank, on, step, use, "use");
            } else if (rank.number() % 2 == 0) {
                co_await rank.start(partners);
                co_await rank.put(partner, on.small);
                if (!early) {
                    co_await work(rank, on, step, within, "linger");
                }
                co_await rank.complete();
                if (early) {
                    co_await work(rank, on, step, within, "linger");
                }
            } else {
                co_await rank.post(partners);
                co_await rank.wait_exposed();
                co_await work(rank, on, step, use, "use");
            }
            co_await rank.allreduce(8);
        };
    };
    return {"late_complete", "even ranks complete behind work", "late_complete", halves(on, 0), phase(false),
            phase(true)};
}

/// All work under the lock of one rank's memory, or each under that of the rank behind its own.
DrawnCause locks(Draw& draw, const Setting& on) {
    const int hot = draw.number(0, on.ranks - 1);
    const double held = draw.between(0.05, 0.3);
    const auto phase = [=](bool spread) -> Phase {
        return [=](Rank& rank, int step) -> Task<> {
            const int target = spread ? (rank.number() + 1) % rank.size() : hot;
            co_await work(rank, on, step, 0.5, "relax");
            co_await rank.lock(target);
            co_await work(rank, on, step, held, "hold");
            co_await rank.unlock(target);
        };
    };
    return {"locks", "all work under the lock of one rank's memory", "lock_contention", {}, phase(false), phase(true)};
}

/// Even ranks put to, or get from, odd ones that compute in one piece.
DrawnCause away(Draw& draw, const Setting& on) {
    const int pieces = draw.number(8, 20);
    const bool put = draw.chance(0.5);
    const double next = draw.between(0.4, 0.9);
    const auto phase = [=](int count) -> Phase {
        return [=](Rank& rank, int step) -> Task<> {
            const int partner = rank.number() ^ 1;
            if (partner < rank.size() && rank.number() % 2 == 0) {
                co_await work(rank, on, step, 0.1, "produce");
                if (put) {
                    co_await rank.put(partner, on.small);
                } else {
                    co_await rank.get(partner, on.small);
                }
                co_await rank.flush(partner);
                co_await work(rank, on, step, next, "next");
            } else {
                for (int piece = 0; piece < count; ++piece) {
                    co_await work(rank, on, step, 1.0 / count, "compute");
                    if (piece + 1 < count && partner < rank.size()) {
                        co_await rank.iprobe(partner, 99);
                    }
                }
            }
            co_await rank.allreduce(8);
        };
    };
    return {"away", "targets compute in one piece", "unattended_target", {}, phase(1), phase(pieces)};
}

}  // namespace

void one_sided_causes(std::vector<Make>& known, const Setting& on) {
    known.insert(known.end(), {late_post, late_complete, locks});
    if (!on.machine.asynchronous_progress) {
        known.push_back(away);
    }
}

}  // namespace logpost::truth
