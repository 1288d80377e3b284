/// Programs without a cause worth naming, with and without noise in the work.

#include "patterns.hpp"

namespace logpost::truth {
namespace {

auto halos(double noise, std::uint64_t bytes, bool reduce) {
    return [=](Rank& rank) -> Task<> {
        for (int step = 0; step < kSteps; ++step) {
            const double drawn =
                2.0 * uniform(11, static_cast<std::uint64_t>(rank.number()), static_cast<std::uint64_t>(step)) - 1.0;
            co_await rank.compute(static_cast<Time>(static_cast<double>(kLongWork) * (1.0 + noise * drawn)), "relax");
            co_await halo(rank, bytes);
            if (reduce && step % 5 == 4) {
                co_await rank.allreduce(8);
            }
        }
    };
}

auto overlapped() {
    return [=](Rank& rank) -> Task<> {
        const int left = (rank.number() + rank.size() - 1) % rank.size();
        const int right = (rank.number() + 1) % rank.size();
        for (int step = 0; step < kSteps; ++step) {
            std::vector<Request> requests;
            requests.push_back(co_await rank.irecv(left));
            requests.push_back(co_await rank.isend(right, 4096));
            co_await rank.compute(kLongWork, "inner");
            co_await rank.waitall(requests);
            co_await rank.compute(kLongWork / 10, "border");
        }
    };
}

}  // namespace

void clean(Cases& cases) {
    const auto add = [&](std::string name, std::string story, auto body) {
        auto& entry = cases.add(std::move(name), std::move(story), "");
        entry.program = program(body);
    };
    add("clean_halo", "equal work, small halos", halos(0.0, 2048, false));
    add("clean_halo_noise", "work with 5 % noise, small halos", halos(0.05, 2048, false));
    add("clean_halo_reduce", "work with 5 % noise, halos, a reduction every fifth step", halos(0.05, 2048, true));
    add("clean_overlap", "communication hidden behind work", overlapped());
}

}  // namespace logpost::truth
