#pragma once

/// Rounds in which every member sends one message and receives one, and members beyond a power of two.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace logpost::replay {

/// Rounds with a message class each; of a longer algorithm (rings, pairwise exchange) equal parts are one round each,
/// so that no schedule has more than members x this messages.
inline constexpr std::uint32_t kSingleRounds = 64;

namespace schedule {

/// From now on the members combine what they receive with what they have, as a reduction does, or only keep it. A
/// visitor that looks at operations that are no reduction ignores it.
template <class Visitor>
void combine(Visitor& visitor, bool now) {
    if constexpr (requires { visitor.combines(now); }) {
        visitor.combines(now);
    }
}

/// `rounds` rounds like pairwise(k), k from 1; long ones joined, unless the visitor needs every one.
template <class Visitor, class Source>
void many_rounds(Visitor& visitor, std::uint32_t count, std::uint32_t rounds, std::uint64_t bytes, Source&& source) {
    auto kept = std::min(rounds, kSingleRounds);
    if constexpr (requires { Visitor::kEveryRound; }) {
        kept = rounds;
    } else if constexpr (requires { visitor.most_rounds; }) {
        kept = std::min(rounds, visitor.most_rounds);
    }
    for (std::uint32_t k = 0; k < kept; ++k) {
        const auto first = static_cast<std::uint32_t>(std::uint64_t{rounds} * k / kept);
        const auto next = static_cast<std::uint32_t>(std::uint64_t{rounds} * (k + 1) / kept);
        visitor.round(count, [&, first](std::uint32_t i) { return source(i, first + 1); }, bytes, next - first);
    }
}

template <class Visitor>
void exchange_by_distance(Visitor& visitor, std::uint32_t count, std::uint32_t distance, std::uint64_t bytes) {
    visitor.round(count, [distance](std::uint32_t i) { return i ^ distance; }, bytes, 1);
}

/// Folds members beyond a power of two into those below it, and sends them the result.
template <class Visitor, class Between>
void folded(Visitor& visitor, std::uint32_t size, std::uint64_t before, std::uint64_t after, Between&& between) {
    const auto power = std::bit_floor(size);
    for (std::uint32_t i = 0; i < size - power; ++i) {
        visitor.message(power + i, i, before);
    }
    between(power);
    combine(visitor, false);
    for (std::uint32_t i = 0; i < size - power; ++i) {
        visitor.message(i, power + i, after);
    }
}

}  // namespace schedule

}  // namespace logpost::replay
