#pragma once

/// A linear reduction to the first member, which broadcasts the result down the binomial tree.
///
/// SimGrid SMPI's default allreduce: src/smpi/colls/smpi_default_selector.cpp, allreduce__default.

#include <cstdint>

#include "replay/native/collectives/algorithm.hpp"
#include "replay/native/collectives/linear.hpp"
#include "replay/native/collectives/rounds.hpp"
#include "replay/native/collectives/trees.hpp"

namespace logpost::replay::schedule {

template <class Visitor>
void linear_then_tree(Visitor& visitor, const Pattern& pattern) {
    in_order_of_arrival(visitor, pattern.size, pattern.bytes);
    combine(visitor, false);
    down_the_tree(pattern.size,
                  [&](std::uint32_t parent, std::uint32_t child) { visitor.message(parent, child, pattern.bytes); });
}

}  // namespace logpost::replay::schedule
