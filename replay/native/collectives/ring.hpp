#pragma once

/// A ring: P - 1 rounds, in each of which every member sends to the next one; of an allreduce twice (reduce-scatter,
/// then allgather).
///
/// Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, 2005.1; Open
/// MPI: ompi/mca/coll/base/coll_base_allreduce.c, allreduce_intra_ring.

#include <cstdint>

#include "replay/native/collectives/algorithm.hpp"
#include "replay/native/collectives/rounds.hpp"

namespace logpost::replay::schedule {

template <class Visitor>
void ring(Visitor& visitor, std::uint32_t size, std::uint32_t rounds, std::uint64_t bytes) {
    many_rounds(visitor, size, rounds, bytes, [size](std::uint32_t i, std::uint32_t) { return (i + size - 1) % size; });
}

/// By operation: a reduction sends its parts twice around.
template <class Visitor>
void ring(Visitor& visitor, const Pattern& pattern) {
    if (pattern.operation == Operation::allreduce) {
        ring(visitor, pattern.size, pattern.size - 1, pattern.bytes / pattern.size);
        combine(visitor, false);
        return ring(visitor, pattern.size, pattern.size - 1, pattern.bytes / pattern.size);
    }
    ring(visitor, pattern.size, pattern.size - 1, pattern.bytes);
}

}  // namespace logpost::replay::schedule
