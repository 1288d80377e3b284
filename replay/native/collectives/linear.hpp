#pragma once

/// Linear: the root exchanges one message with each member; of an all-to-all each member with each other, all posted
/// first.
///
/// Open MPI's basic_linear: ompi/mca/coll/base/coll_base_{barrier,bcast,reduce,gather,scatter,alltoall}.c. The root of
/// a barrier receives from any source, the other roots in the order of the ranks.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "replay/native/collectives/algorithm.hpp"
#include "replay/native/collectives/rounds.hpp"
#include "replay/native/collectives/trees.hpp"

namespace logpost::replay::schedule {

/// Each member sends one message to the first one, which receives them in the order of their arrival.
template <class Visitor>
void in_order_of_arrival(Visitor& visitor, std::uint32_t size, std::uint64_t bytes) {
    std::vector<std::uint32_t> order(size - 1);
    std::iota(order.begin(), order.end(), 1U);
    if constexpr (requires { visitor.ready(0U); }) {
        std::vector<std::pair<decltype(visitor.ready(0U)), std::uint32_t>> ready;
        ready.reserve(order.size());
        for (const auto i : order) {
            ready.emplace_back(visitor.ready(i), i);
        }
        std::ranges::sort(ready);
        std::ranges::transform(ready, order.begin(), [](const auto& one) { return one.second; });
    }
    if constexpr (requires { visitor.collect(order, bytes); }) {
        visitor.collect(order, bytes);
    } else {
        for (const auto i : order) {
            visitor.message(i, 0, bytes);
        }
    }
}

template <class Visitor>
void linear(Visitor& visitor, const Pattern& pattern) {
    const auto& [operation, size, bytes, group, other_bytes] = pattern;
    if (operation == Operation::alltoall || operation == Operation::alltoallv || operation == Operation::alltoallw) {
        visitor.burst(size, size - 1, bytes);
        return;
    }
    if (operation == Operation::barrier) {
        in_order_of_arrival(visitor, size, bytes);
    }
    for (std::uint32_t i = 1; i < size && !down(operation) && operation != Operation::barrier; ++i) {
        visitor.message(i, 0, bytes);
    }
    combine(visitor, false);
    for (std::uint32_t i = 1; i < size && !up(operation); ++i) {
        visitor.message(0, i, bytes);
    }
}

}  // namespace logpost::replay::schedule
