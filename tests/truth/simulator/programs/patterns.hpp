#pragma once

/// Pieces that several programs are made of.

#include <cstdint>
#include <utility>
#include <vector>

#include "../case.hpp"
#include "../uniform.hpp"

namespace logpost::truth {

inline constexpr int kSteps = 20;
inline constexpr Time kWork = 200 * kMicrosecond;      ///< a rank's, in a step
inline constexpr Time kLongWork = 400 * kMicrosecond;  ///< where threads divide it, or nothing is to be found

/// Exchange with both neighbours on a ring: Irecv, Irecv, Isend, Isend, Waitall.
inline Task<> halo(Rank& rank, std::uint64_t bytes, Layout layout = {}) {
    const int left = (rank.number() + rank.size() - 1) % rank.size();
    const int right = (rank.number() + 1) % rank.size();
    std::vector<Request> requests;
    requests.push_back(co_await rank.irecv(left, 1));
    requests.push_back(co_await rank.irecv(right, 2));
    requests.push_back(co_await rank.isend(right, bytes, {.tag = 1, .layout = layout}));
    requests.push_back(co_await rank.isend(left, bytes, {.tag = 2, .layout = layout}));
    co_await rank.waitall(requests);
}

/// A program between MPI_Init and MPI_Finalize that ends with a barrier.
template <class Body>
World::Program program(Body body) {
    return [body = std::move(body)](Rank& rank) -> Task<> {
        rank.enter("main");
        co_await rank.init();
        co_await body(rank);
        co_await rank.barrier();
        co_await rank.finalize();
        rank.leave("main");
    };
}

/// Adds a case whose cure runs on the same machine.
template <class With, class Without>
Case& add_case(Cases& cases, std::string name, std::string story, std::string finding, int ranks,
               const Machine& machine, With with, Without without) {
    auto& entry = cases.add(std::move(name), std::move(story), std::move(finding));
    entry.ranks = ranks;
    entry.machine = entry.cured_machine = machine;
    entry.program = program(with);
    entry.cured = program(without);
    return entry;
}

}  // namespace logpost::truth
