/// Phases with a cause, drawn: whose fault, how large, in which messages. Where a step ends together, it does so in a
/// reduction: a barrier that no data needs would be another cause.

#include <algorithm>

#include "draw.hpp"

namespace logpost::truth {
namespace {

/// Some ranks work longer than the others; without it everybody works as long as they do on average.
DrawnCause imbalance(Draw& draw, const Setting& on) {
    const int heavy = draw.number(1, std::max(1, on.ranks / 3));
    const int first = draw.number(0, on.ranks - 1);
    const double factor = draw.between(1.5, 3.0);
    std::vector<int> culprits;
    for (int i = 0; i < heavy; ++i) {
        culprits.push_back((first + i) % on.ranks);
    }
    const double mean = 1.0 + (factor - 1.0) * heavy / on.ranks;
    const bool barrier = draw.chance(0.3);
    const auto phase = [=](bool even) -> Phase {
        return [=](Rank& rank, int step) -> Task<> {
            const bool mine = std::ranges::find(culprits, rank.number()) != culprits.end();
            co_await work(rank, on, step, even ? mean : (mine ? factor : 1.0), "relax");
            if (barrier) {
                co_await rank.allreduce(8);
            } else {
                co_await halo(rank, on.small / 2);
            }
        };
    };
    return {"imbalance", "some ranks work longer than the others", "load_imbalance", culprits, phase(false),
            phase(true)};
}

/// Of each pair one works before it sends, the other has nothing to do until then; it could send first.
DrawnCause late_sender(Draw& draw, const Setting& on) {
    const double before = draw.between(0.4, 1.0);
    const double after = draw.between(0.6, 1.2);
    std::vector<int> culprits;
    for (int rank = 0; rank + 1 < on.ranks; rank += 2) {
        culprits.push_back(rank);
    }
    const auto phase = [=](bool first) -> Phase {
        return [=](Rank& rank, int step) -> Task<> {
            const int partner = rank.number() ^ 1;
            if (partner < rank.size() && rank.number() % 2 == 0) {
                if (!first) {
                    co_await work(rank, on, step, before, "prepare");
                }
                co_await rank.send(partner, on.small);
                co_await work(rank, on, step, first ? before + after : after, "rest");
            } else {
                if (partner < rank.size()) {
                    co_await rank.recv(partner);
                }
                co_await work(rank, on, step, before + after, "consume");
            }
            co_await rank.allreduce(8);
        };
    };
    return {"late_sender", "even ranks send behind work that could follow", "late_sender_chain", culprits, phase(false),
            phase(true)};
}

/// Of each pair one posts its receive behind work; the other is in its send.
DrawnCause late_receiver(Draw& draw, const Setting& on) {
    const double before = draw.between(0.5, 1.2);
    const double after = draw.between(0.4, 1.0);
    const bool synchronous = draw.chance(0.5);
    const auto bytes = synchronous ? on.small : on.large;
    const auto mode = synchronous ? Mode::synchronous : Mode::standard;
    std::vector<int> culprits;
    for (int rank = 1; rank < on.ranks; rank += 2) {
        culprits.push_back(rank);
    }
    const auto phase = [=](bool early) -> Phase {
        return [=](Rank& rank, int step) -> Task<> {
            const int partner = rank.number() ^ 1;
            if (rank.number() % 2 == 0) {
                if (partner < rank.size()) {
                    co_await rank.send(partner, bytes, {.mode = mode});
                }
                co_await work(rank, on, step, before + after, "produce");
            } else {
                if (!early) {
                    co_await work(rank, on, step, before, "postpone");
                }
                co_await rank.recv(partner);
                co_await work(rank, on, step, early ? before + after : after, "consume");
            }
            co_await rank.allreduce(8);
        };
    };
    return {"late_receiver", "odd ranks post their receives behind work", "late_receiver", culprits, phase(false),
            phase(true)};
}

/// Ranks start large sends and compute before they complete them; no handshake is answered until then.
DrawnCause unattended(Draw& draw, const Setting& on) {
    const int pieces = draw.number(6, 16);
    std::vector<int> culprits;
    for (int rank = 0; rank + 1 < on.ranks; rank += 2) {
        culprits.push_back(rank);
    }
    const auto phase = [=](int count) -> Phase {
        return [=](Rank& rank, int step) -> Task<> {
            const int partner = rank.number() ^ 1;
            if (partner >= rank.size()) {
                co_await work(rank, on, step, 1.0, "compute");
            } else if (rank.number() % 2 == 0) {
                const auto request = co_await rank.isend(partner, on.large);
                bool done = false;
                for (int piece = 0; piece < count; ++piece) {
                    co_await work(rank, on, step, 1.0 / count, "compute");
                    if (piece + 1 < count && !done) {
                        done = co_await rank.test(request);
                    }
                }
                if (!done) {
                    co_await rank.wait(request);
                }
            } else {
                co_await rank.recv(partner);
                co_await work(rank, on, step, 0.7, "use");
            }
            co_await rank.allreduce(8);
        };
    };
    return {"unattended", "even ranks compute between a large Isend and its Wait", "unattended", culprits, phase(1),
            phase(pieces)};
}

/// All send to one rank, or the same messages each to the ranks behind their own.
DrawnCause hot_receiver(Draw& draw, const Setting& on) {
    const int hot = draw.number(0, on.ranks - 1);
    const int count = draw.number(1, 4);
    const auto bytes = draw.chance(0.3) ? on.large : on.small;
    const auto phase = [=](bool spread) -> Phase {
        return [=](Rank& rank, int step) -> Task<> {
            const int n = rank.size();
            co_await work(rank, on, step, 0.3, "relax");
            std::vector<Request> requests;
            for (int k = 0; k < count; ++k) {
                if (spread) {
                    requests.push_back(co_await rank.irecv((rank.number() + 2 * n - 1 - k) % n, k));
                } else if (rank.number() == hot) {
                    for (int i = 1; i < n; ++i) {
                        requests.push_back(co_await rank.irecv((hot + i) % n, k));
                    }
                }
            }
            for (int k = 0; k < count && (spread || rank.number() != hot); ++k) {
                requests.push_back(co_await rank.isend(spread ? (rank.number() + 1 + k) % n : hot, bytes, {.tag = k}));
            }
            if (!requests.empty()) {
                co_await rank.waitall(requests);
            }
            co_await rank.allreduce(8);
        };
    };
    return {"hot_receiver", "all send to one rank", "hot_receiver", {hot}, phase(false), phase(true)};
}

/// One rank sends to all others itself, or each rank to the one behind it.
DrawnCause hot_sender(Draw& draw, const Setting& on) {
    const int hot = draw.number(0, on.ranks - 1);
    const auto phase = [=](bool spread) -> Phase {
        return [=](Rank& rank, int step) -> Task<> {
            const int n = rank.size();
            co_await work(rank, on, step, 0.3, "relax");
            if (spread) {
                co_await rank.sendrecv((rank.number() + 1) % n, on.small, (rank.number() + n - 1) % n);
            } else if (rank.number() == hot) {
                std::vector<Request> sends;
                for (int i = 1; i < n; ++i) {
                    sends.push_back(co_await rank.isend((hot + i) % n, on.small));
                }
                co_await rank.waitall(sends);
            } else {
                co_await rank.recv(hot);
            }
            co_await rank.allreduce(8);
        };
    };
    return {"hot_sender", "one rank sends to all others itself", "hot_sender", {hot}, phase(false), phase(true)};
}

DrawnCause questions(Draw& draw, const Setting& on) {
    const int trips = draw.number(10, 40);
    const auto phase = [=](int count, std::uint64_t bytes) -> Phase {
        return [=](Rank& rank, int step) -> Task<> {
            const int half = rank.size() / 2;
            const int partner = rank.number() < half ? rank.number() + half : rank.number() - half;
            co_await work(rank, on, step, 0.3, "use");
            for (int trip = 0; trip < count && rank.number() < 2 * half; ++trip) {
                if (rank.number() < partner) {
                    co_await rank.send(partner, 16);
                    co_await rank.recv(partner);
                } else {
                    co_await rank.recv(partner);
                    co_await rank.send(partner, bytes);
                }
            }
        };
    };
    const auto bytes = static_cast<std::uint64_t>(draw.one_of<int>({32, 64, 128}));
    return {"questions",         "questions and replies, one after the other",       "round_trips", {},
            phase(trips, bytes), phase(1, bytes * static_cast<std::uint64_t>(trips))};
}

DrawnCause pieces(Draw& draw, const Setting& on) {
    const int many = draw.number(20, 80);
    const int distance = draw.number(1, on.ranks - 1);
    const auto size = static_cast<std::uint64_t>(draw.number(8, 64));
    const auto phase = [=](int count, std::uint64_t bytes) -> Phase {
        return [=](Rank& rank, int step) -> Task<> {
            const int n = rank.size();
            co_await work(rank, on, step, 0.3, "relax");
            std::vector<Request> requests;
            for (int i = 0; i < count; ++i) {
                requests.push_back(co_await rank.irecv((rank.number() + n - distance) % n, i));
            }
            for (int i = 0; i < count; ++i) {
                requests.push_back(co_await rank.isend((rank.number() + distance) % n, bytes, {.tag = i}));
            }
            co_await rank.waitall(requests);
        };
    };
    return {"pieces",          "many small messages to the same rank",           "many_small_messages", {},
            phase(many, size), phase(1, size * static_cast<std::uint64_t>(many))};
}

DrawnCause pipeline(Draw& draw, const Setting& on) {
    const int blocks = draw.number(on.ranks, 3 * on.ranks);
    const bool down = draw.chance(0.5);
    const auto phase = [=](int count) -> Phase {
        return [=](Rank& rank, int step) -> Task<> {
            const int n = rank.size();
            const int place = down ? n - 1 - rank.number() : rank.number();
            const int towards = down ? -1 : 1;
            for (int block = 0; block < count; ++block) {
                if (place > 0) {
                    co_await rank.recv(rank.number() - towards);
                }
                co_await work(rank, on, step, 1.0 / count, "sweep");
                if (place + 1 < n) {
                    co_await rank.send(rank.number() + towards,
                                       std::max<std::uint64_t>(8, on.small / static_cast<std::uint64_t>(count)));
                }
            }
            co_await rank.allreduce(8);
        };
    };
    return {"pipeline", "each rank starts when the one before it has ended", "wavefront", {}, phase(1), phase(blocks)};
}

DrawnCause overlap(Draw& draw, const Setting& on) {
    const double inner = draw.between(0.2, 0.5);
    const auto phase = [=](bool compute_first) -> Phase {
        return [=](Rank& rank, int step) -> Task<> {
            const int n = rank.size();
            std::vector<Request> requests;
            requests.push_back(co_await rank.irecv((rank.number() + n - 1) % n));
            requests.push_back(co_await rank.isend((rank.number() + 1) % n, on.small));
            if (compute_first) {
                co_await work(rank, on, step, inner, "inner");
            }
            co_await rank.waitall(requests);
            if (!compute_first) {
                co_await work(rank, on, step, inner, "inner");
            }
            co_await work(rank, on, step, 0.05, "border");
        };
    };
    return {"overlap",  "Waitall is before work that needs none of the data", "missed_overlap", {}, phase(false),
            phase(true)};
}

DrawnCause reductions(Draw& draw, const Setting& on) {
    const int many = draw.number(6, 20);
    const auto phase = [=](int count, std::uint64_t bytes) -> Phase {
        return [=](Rank& rank, int step) -> Task<> {
            co_await work(rank, on, step, 0.3, "relax");
            for (int i = 0; i < count; ++i) {
                co_await rank.allreduce(bytes);
            }
        };
    };
    return {"reductions",   "reductions in a row that could be one",       "collective_cost", {},
            phase(many, 8), phase(1, 8 * static_cast<std::uint64_t>(many))};
}

DrawnCause shared_nic(Draw&, const Setting& on) {
    const Phase phase = [=](Rank& rank, int step) -> Task<> {
        const int n = rank.size();
        const int across = (rank.number() + n / 2) % n;
        co_await work(rank, on, step, 0.2, "relax");
        std::vector<Request> requests;
        requests.push_back(co_await rank.irecv((rank.number() + n - n / 2) % n));
        requests.push_back(co_await rank.isend(across, on.small));
        co_await rank.waitall(requests);
    };
    Machine cured = on.machine;
    cured.nics_per_node = cured.ranks_per_node;
    return {"shared_nic", "the ranks of a node send through one NIC at once", "hot_sender", {}, phase, phase, cured};
}

}  // namespace

DrawnCause draw_cause(Draw& draw, const Setting& on) {
    std::vector<Make> known{imbalance, late_sender, late_receiver, hot_receiver, hot_sender,
                            questions, pieces,      pipeline,      overlap,      reductions};
    if (!on.machine.asynchronous_progress) {
        known.push_back(unattended);
    }
    if (on.machine.ranks_per_node > 1 && on.ranks >= 2 * on.machine.ranks_per_node) {
        known.push_back(shared_nic);
    }
    waiting_causes(known);
    one_sided_causes(known, on);
    return draw.one_of(known)(draw, on);
}

}  // namespace logpost::truth
