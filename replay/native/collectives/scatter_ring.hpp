#pragma once

/// A broadcast of large messages: a binomial scatter of P parts, then a ring that gathers them everywhere (van de
/// Geijn).
///
/// Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, 2005.

#include <cstdint>

#include "replay/native/collectives/algorithm.hpp"
#include "replay/native/collectives/ring.hpp"
#include "replay/native/collectives/trees.hpp"

namespace logpost::replay::schedule {

template <class Visitor>
void scatter_ring(Visitor& visitor, const Pattern& pattern) {
    const auto part = pattern.bytes / pattern.size;
    down_the_tree(pattern.size, [&](std::uint32_t parent, std::uint32_t child) {
        visitor.message(parent, child, part * subtree(child, pattern.size));
    });
    ring(visitor, pattern.size, pattern.size - 1, part);
}

}  // namespace logpost::replay::schedule
