#pragma once

/// Dissemination: in round k each member sends to the member 2^k behind it and receives from the one 2^k before it.
///
/// ceil(log2 P) rounds. Hensgen, Finkel, Manber, Two Algorithms for Barrier Synchronization, 1988.

#include <cstdint>

namespace logpost::replay::schedule {

template <class Visitor>
void dissemination(Visitor& visitor, std::uint32_t size, std::uint64_t bytes) {
    for (std::uint32_t distance = 1; distance < size; distance *= 2) {
        visitor.round(size, [=](std::uint32_t i) { return (i + size - distance) % size; }, bytes, 1);
    }
}

}  // namespace logpost::replay::schedule
