#pragma once

/// By which algorithm the replay carries out a collective operation (LibraryProperty::collectives): the one that the
/// library's rules select; where they are not stated, one that fits the measured ends of its kind; else the usual one.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "replay/native/collectives/every_message.hpp"
#include "replay/native/collectives/schedule.hpp"
#include "replay/native/collectives/selector.hpp"
#include "replay/native/cost/library.hpp"
#include "replay/native/program/program.hpp"
#include "replay/native/program/shape.hpp"

namespace logpost::replay {

/// The algorithm that fits the measured ends, under an alternative; the usual one where it fits, and where none is
/// known.
inline Algorithm fitting(const Program& program, std::int32_t comm, const Pattern& one, Collectives by) noexcept {
    const auto known = std::ranges::find_if(program.carried_out, [&](const CarriedOut& kind) {
        return kind.operation == one.operation && kind.comm == comm &&
               kind.size_class == static_cast<std::uint32_t>(std::bit_width(one.bytes));
    });
    if (known == program.carried_out.end()) {
        return usual(one);
    }
    const bool swapped = known->instead == usual(one);
    const auto other = swapped ? known->algorithm : known->instead;
    const auto nearest = swapped ? known->instead : known->algorithm;
    return by == Collectives::second && other != Algorithm::not_known ? other : nearest;
}

/// The algorithm of an operation. `most_rounds`: of long algorithms, so many have separate messages.
inline Algorithm carried_out_by(const Program& program, const Collective& operation, const Pattern& one,
                                std::uint32_t most_rounds, Collectives by) noexcept {
    if (program.has_groups(operation.comm)) {
        return usual(one);
    }
    const auto selects = selected(by, one, operation.call == operation.complete_call);
    const auto found = selects.value_or(fitting(program, operation.comm, one, by));
    const bool tree = found == Algorithm::linear || found == Algorithm::binomial;
    const bool burst = found == Algorithm::linear && usual(one) == Algorithm::pairwise;
    if ((has_root(shape(one.operation)) && !tree) || (burst && one.size > most_rounds)) {
        return usual(one);
    }
    return found;
}

/// `visit(parent, child)`, from the root down.
template <class Visit>
void from_root_down(const Pattern& one, Algorithm algorithm, Visit&& visit) {
    if (algorithm != Algorithm::linear) {
        return down_the_tree(one.size, std::forward<Visit>(visit));
    }
    for (std::uint32_t child = 1; child < one.size; ++child) {
        visit(0U, child);
    }
}

/// `visit(child, parent)`, up to the root.
template <class Visit>
void up_to_root(const Pattern& one, Algorithm algorithm, Visit&& visit) {
    if (algorithm != Algorithm::linear) {
        return up_the_tree(one.size, std::forward<Visit>(visit));
    }
    for (std::uint32_t child = 1; child < one.size; ++child) {
        visit(child, 0U);
    }
}

/// Bytes of a member's message by it: of a gather and a scatter, with those of the members behind it.
[[nodiscard]] inline std::uint64_t carried(const Pattern& one, Algorithm algorithm, std::uint32_t child) noexcept {
    return algorithm == Algorithm::linear ? one.bytes : schedule::of_subtree(one, child);
}

}  // namespace logpost::replay
