#pragma once

/// By which algorithm the what-if replay carries out a collective operation: the one that explains the measured ends of
/// its kind, where that is known and can be told in the graph; else the usual one.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "replay/native/collectives/every_message.hpp"
#include "replay/native/collectives/schedule.hpp"
#include "replay/native/program/program.hpp"
#include "replay/native/program/shape.hpp"

namespace logpost::replay {

/// The algorithm of an operation of a communicator. `most_rounds`: of long algorithms, so many are told.
inline Algorithm carried_out_by(const Program& program, std::int32_t comm, const Pattern& one,
                                std::uint32_t most_rounds) noexcept {
    const auto known = std::ranges::find_if(program.carried_out, [&](const CarriedOut& kind) {
        return kind.operation == one.operation && kind.comm == comm &&
               kind.size_class == static_cast<std::uint32_t>(std::bit_width(one.bytes));
    });
    if (known == program.carried_out.end() || program.has_groups(comm) || known->instead == usual(one)) {
        return usual(one);
    }
    const bool tree = known->algorithm == Algorithm::linear || known->algorithm == Algorithm::binomial;
    const bool burst = known->algorithm == Algorithm::linear && usual(one) == Algorithm::pairwise;
    if ((has_root(shape(one.operation)) && !tree) || (burst && one.size > most_rounds)) {
        return usual(one);
    }
    return known->algorithm;
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
