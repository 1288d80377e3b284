#pragma once

/// Bruck's algorithm: ceil(log2 P) rounds of growing messages, for an allgather or an all-to-all of small blocks.
///
/// An allgather sends what is known so far; an all-to-all, in round k, the blocks whose number has bit k.
/// Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient Algorithms for All-to-All Communications in Multiport
/// Message-Passing Systems, 1997.

#include <algorithm>
#include <cstdint>

#include "replay/native/collectives/algorithm.hpp"

namespace logpost::replay::schedule {

template <class Visitor>
void bruck(Visitor& visitor, const Pattern& pattern) {
    const auto& [operation, size, bytes, group, other_bytes] = pattern;
    const bool personal = operation == Operation::alltoall || operation == Operation::alltoallv;
    for (std::uint32_t distance = 1; distance < size; distance *= 2) {
        std::uint64_t blocks = std::min(distance, size - distance);
        if (personal) {  // those whose number has this bit
            blocks = size / (2 * distance) * distance + std::max(size % (2 * distance), distance) - distance;
        }
        visitor.round(size, [=, n = size](std::uint32_t i) { return (i + n - distance) % n; }, bytes * blocks, 1);
    }
}

}  // namespace logpost::replay::schedule
