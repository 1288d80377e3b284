#pragma once

/// The binomial tree: from the root down, from the leaves up, and where there is no root up and down again.
///
/// ceil(log2 P) levels; the messages of a scatter and a gather hold the parts of all members below.
/// Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, 2005.3
/// and 4.7.

#include <cstdint>

#include "replay/native/collectives/algorithm.hpp"
#include "replay/native/collectives/rounds.hpp"
#include "replay/native/collectives/trees.hpp"

namespace logpost::replay::schedule {

template <class Visitor>
void binomial(Visitor& visitor, const Pattern& pattern) {
    if (!down(pattern.operation)) {
        up_the_tree(pattern.size, [&](std::uint32_t child, std::uint32_t parent) {
            visitor.message(child, parent, of_subtree(pattern, child));
        });
    }
    if (!up(pattern.operation)) {
        combine(visitor, false);
        down_the_tree(pattern.size, [&](std::uint32_t parent, std::uint32_t child) {
            visitor.message(parent, child, of_subtree(pattern, child));
        });
    }
}

}  // namespace logpost::replay::schedule
