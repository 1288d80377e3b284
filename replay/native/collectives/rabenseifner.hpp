#pragma once

/// Rabenseifner's allreduce: a reduce-scatter by recursive halving, then an allgather by recursive doubling.
///
/// Each member sends 2 (P - 1) / P of the vector. Thakur, Rabenseifner, Gropp, Optimization of Collective Communication
/// Operations in MPICH, 2005.

#include <cstdint>

#include "replay/native/collectives/rounds.hpp"

namespace logpost::replay::schedule {

template <class Visitor>
void rabenseifner(Visitor& visitor, std::uint32_t size, std::uint64_t bytes) {
    folded(visitor, size, bytes, bytes, [&](std::uint32_t power) {
        for (auto distance = power / 2; distance > 0; distance /= 2) {
            exchange_by_distance(visitor, power, distance, bytes * distance / power);
        }
        combine(visitor, false);
        for (std::uint32_t distance = 1; distance < power; distance *= 2) {
            exchange_by_distance(visitor, power, distance, bytes * distance / power);
        }
    });
}

}  // namespace logpost::replay::schedule
