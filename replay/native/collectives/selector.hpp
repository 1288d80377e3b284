#pragma once

/// Which algorithm an MPI library's default rules select for an operation of one group: a file per library. Nonblocking
/// operations have other rules, which are not here.
///
/// Nothing where the library selects an algorithm that is not among `Algorithm`, or by what a pattern does not have
/// (the number of elements, the nodes of the members). Operations of a reduction are commutative.

#include <optional>

#include "replay/native/collectives/every_message.hpp"
#include "replay/native/cost/library.hpp"

namespace logpost::replay {

[[nodiscard]] std::optional<Algorithm> selected_by_openmpi(const Pattern& pattern) noexcept;
[[nodiscard]] std::optional<Algorithm> selected_by_mpich(const Pattern& pattern) noexcept;
[[nodiscard]] std::optional<Algorithm> selected_by_simgrid(const Pattern& pattern) noexcept;

/// By what a library profile states of collectives; nothing where it states no rules.
[[nodiscard]] inline std::optional<Algorithm> selected(Collectives by, const Pattern& pattern, bool blocking) noexcept {
    if (pattern.group != 0 || pattern.size < 2 || (!blocking && by != Collectives::textbook)) {
        return std::nullopt;
    }
    switch (by) {
        case Collectives::textbook:
            return usual(pattern) == Algorithm::not_known ? std::nullopt : std::optional(usual(pattern));
        case Collectives::openmpi:
            return selected_by_openmpi(pattern);
        case Collectives::mpich:
            return selected_by_mpich(pattern);
        case Collectives::simgrid:
            return selected_by_simgrid(pattern);
        case Collectives::nearest:
        case Collectives::second:
            break;
    }
    return std::nullopt;
}

}  // namespace logpost::replay
