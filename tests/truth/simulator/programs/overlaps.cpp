/// Exchanges whose Wait is before all of the work, cured where all of the work is before the Wait and the NICs answer
/// handshakes independently: what perfect overlap is.

#include "overlaps.hpp"

#include "patterns.hpp"

namespace logpost::truth {
namespace {

constexpr int kOverlapSteps = 12;
constexpr Time kOverlapWork = 60 * kMicrosecond;

/// A ring. In step i rank r works kOverlapWork + skew (r + i) % 3 behind its Wait, or before it.
auto ring(std::uint64_t bytes, Time skew, bool overlapped) {
    return [=](Rank& rank) -> Task<> {
        const int left = (rank.number() + rank.size() - 1) % rank.size();
        const int right = (rank.number() + 1) % rank.size();
        for (int step = 0; step < kOverlapSteps; ++step) {
            const Time work = kOverlapWork + skew * ((rank.number() + step) % 3);
            std::vector<Request> requests;
            requests.push_back(co_await rank.irecv(left));
            requests.push_back(co_await rank.isend(right, bytes));
            if (overlapped) {
                co_await rank.compute(work, "inner");
            }
            co_await rank.waitall(requests);
            if (!overlapped) {
                co_await rank.compute(work, "inner");
            }
        }
    };
}

/// A Wait for either neighbour, with work behind each.
auto one_by_one(std::uint64_t bytes, bool overlapped) {
    return [=](Rank& rank) -> Task<> {
        const int left = (rank.number() + rank.size() - 1) % rank.size();
        const int right = (rank.number() + 1) % rank.size();
        for (int step = 0; step < kOverlapSteps; ++step) {
            const auto from_left = co_await rank.irecv(left, 1);
            const auto from_right = co_await rank.irecv(right, 2);
            std::vector<Request> sends;
            sends.push_back(co_await rank.isend(right, bytes, {.tag = 1}));
            sends.push_back(co_await rank.isend(left, bytes, {.tag = 2}));
            if (overlapped) {
                co_await rank.compute(kOverlapWork / 4, "left");
                co_await rank.compute(kOverlapWork / 3, "right");
                co_await rank.compute(kOverlapWork / 6, "rest");
            }
            co_await rank.waitall(std::vector<Request>(1, from_left));
            if (!overlapped) {
                co_await rank.compute(kOverlapWork / 4, "left");
            }
            co_await rank.waitall(std::vector<Request>(1, from_right));
            if (!overlapped) {
                co_await rank.compute(kOverlapWork / 3, "right");
            }
            co_await rank.waitall(sends);
            if (!overlapped) {
                co_await rank.compute(kOverlapWork / 6, "rest");
            }
            co_await rank.allreduce(8);
            co_await rank.compute(kOverlapWork / 10 * (1 + rank.number() % 2), "norm");
        }
    };
}

/// Blocking messages alone: there is nothing to overlap.
auto blocking(std::uint64_t bytes) {
    return [=](Rank& rank) -> Task<> {
        const int partner = rank.number() ^ 1;
        for (int step = 0; step < kOverlapSteps; ++step) {
            if (rank.number() % 2 == 0) {
                co_await rank.send(partner, bytes);
                co_await rank.recv(partner);
            } else {
                co_await rank.recv(partner);
                co_await rank.send(partner, bytes);
            }
            co_await rank.compute(kOverlapWork, "inner");
        }
    };
}

template <class With, class Without>
void add_overlap(Cases& cases, std::string name, std::string story, With with, Without without) {
    auto& entry = add_case(cases, std::move(name), std::move(story), "missed_overlap", 8, Machine{}, with, without);
    entry.cured_machine.asynchronous_progress = true;
}

}  // namespace

void overlaps(Cases& cases) {
    add_overlap(cases, "eager", "messages that progress independently; equal work", ring(8000, 0, false),
                ring(8000, 0, true));
    add_overlap(cases, "eager_uneven", "the same; uneven work", ring(8000, 25 * kMicrosecond, false),
                ring(8000, 25 * kMicrosecond, true));
    add_overlap(cases, "rendezvous", "messages that need a handshake", ring(50'000, 0, false), ring(50'000, 0, true));
    add_overlap(cases, "rendezvous_uneven", "the same; uneven work", ring(50'000, 25 * kMicrosecond, false),
                ring(50'000, 25 * kMicrosecond, true));
    add_overlap(cases, "one_by_one", "Waits in a row, with work behind each", one_by_one(4000, false),
                one_by_one(4000, true));
    add_overlap(cases, "blocking", "nothing to overlap", blocking(4000), blocking(4000));
}

}  // namespace logpost::truth
