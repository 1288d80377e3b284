#pragma once

/// Example: a relay of two messages per member: each member sends its part to the next one and back.
///
/// Name the library's file here, or the paper: which source has the algorithm, by version and function.

#include <cstdint>

#include "replay/native/collectives/algorithm.hpp"

namespace logpost::replay::schedule {

/// Every message, in an order in which all that a message depends on is before it (schedule.hpp lists what a visitor
/// has). Members are numbered from the root on.
template <class Visitor>
void example(Visitor& visitor, const Pattern& pattern) {
    for (std::uint32_t i = 1; i < pattern.size; ++i) {
        visitor.message(i - 1, i, pattern.bytes);
    }
    for (std::uint32_t i = pattern.size - 1; i > 0; --i) {
        visitor.message(i, i - 1, pattern.bytes);
    }
}

}  // namespace logpost::replay::schedule
