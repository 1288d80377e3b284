#pragma once

/// Pairwise exchange: P - 1 rounds, in round k with the members k away.
///
/// Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, 2005.

#include <cstdint>

#include "replay/native/collectives/algorithm.hpp"
#include "replay/native/collectives/rounds.hpp"

namespace logpost::replay::schedule {

template <class Visitor>
void pairwise(Visitor& visitor, const Pattern& pattern) {
    many_rounds(visitor, pattern.size, pattern.size - 1, pattern.bytes,
                [n = pattern.size](std::uint32_t i, std::uint32_t k) { return (i + n - k % n) % n; });
}

}  // namespace logpost::replay::schedule
