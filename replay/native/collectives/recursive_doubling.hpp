#pragma once

/// Recursive doubling: in round k members whose numbers differ in bit k exchange; of a prefix reduction the lower one
/// sends.
///
/// An allreduce exchanges the whole vector, an allgather what is known so far. A reduce-scatter halves from the
/// farthest member on (recursive halving). Members beyond a power of two are folded into those below it. Thakur,
/// Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, 2005.

#include <bit>
#include <cstdint>

#include "replay/native/collectives/algorithm.hpp"
#include "replay/native/collectives/rounds.hpp"

namespace logpost::replay::schedule {

template <class Visitor>
void recursive_doubling(Visitor& visitor, const Pattern& pattern) {
    const auto& [operation, size, bytes, group, other_bytes] = pattern;
    switch (operation) {
        case Operation::scan:
        case Operation::exscan:
            // Only lower ranks send: a member receives from those below it.
            for (std::uint32_t distance = 1; distance < size; distance *= 2) {
                for (std::uint32_t i = size; i-- > distance;) {
                    visitor.message(i - distance, i, bytes);
                }
            }
            return;
        case Operation::allgather:
        case Operation::allgatherv:
            folded(visitor, size, bytes, bytes * size, [&](std::uint32_t power) {
                for (std::uint32_t distance = 1; distance < power; distance *= 2) {
                    exchange_by_distance(visitor, power, distance, bytes * distance * size / power);
                }
            });
            return;
        case Operation::reduce_scatter:
        case Operation::reduce_scatter_block:
            folded(visitor, size, bytes * size, bytes, [&](std::uint32_t power) {
                for (auto distance = power / 2; distance > 0; distance /= 2) {
                    exchange_by_distance(visitor, power, distance, bytes * distance * size / power);
                }
            });
            return;
        default:
            folded(visitor, size, bytes, bytes, [&](std::uint32_t power) {
                for (std::uint32_t distance = 1; distance < power; distance *= 2) {
                    exchange_by_distance(visitor, power, distance, bytes);
                }
            });
    }
}

}  // namespace logpost::replay::schedule
