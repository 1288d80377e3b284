#pragma once

/// The binomial tree that several algorithms use: its members, and the bytes of its messages.

#include <algorithm>
#include <bit>
#include <cstdint>

#include "replay/native/collectives/algorithm.hpp"

namespace logpost::replay {

/// ceil(log2 n): rounds in which what is known doubles.
[[nodiscard]] constexpr std::uint32_t doublings(std::uint32_t n) noexcept {
    return n < 2 ? 0 : static_cast<std::uint32_t>(std::bit_width(n - 1));
}

/// Members in the part of the binomial tree that hangs on a member, itself among them.
[[nodiscard]] constexpr std::uint32_t subtree(std::uint32_t member, std::uint32_t size) noexcept {
    return member == 0 ? size : std::min(member & (~member + 1), size - member);
}

/// The messages down the binomial tree: `visit(parent, child)`, the largest part first.
template <class Visit>
void down_the_tree(std::uint32_t size, Visit&& visit) {
    for (std::uint32_t parent = 0; parent < size; ++parent) {
        const auto below = parent == 0 ? std::bit_ceil(size) : parent & (~parent + 1);
        for (auto bit = below / 2; bit > 0; bit /= 2) {
            if (parent + bit < size) {
                visit(parent, parent + bit);
            }
        }
    }
}

/// The messages up the binomial tree: `visit(child, parent)`, the nearest child first.
template <class Visit>
void up_the_tree(std::uint32_t size, Visit&& visit) {
    for (auto parent = size; parent-- > 0;) {
        for (std::uint32_t bit = 1; (parent & bit) == 0 && parent + bit < size; bit *= 2) {
            visit(parent + bit, parent);
        }
    }
}

namespace schedule {

[[nodiscard]] constexpr bool down(Operation operation) noexcept {
    return operation == Operation::bcast || operation == Operation::scatter || operation == Operation::scatterv;
}
[[nodiscard]] constexpr bool up(Operation operation) noexcept {
    return operation == Operation::reduce || operation == Operation::gather || operation == Operation::gatherv;
}

/// Bytes of a tree's message to or from a member.
[[nodiscard]] constexpr std::uint64_t of_subtree(const Pattern& pattern, std::uint32_t member) noexcept {
    switch (pattern.operation) {
        case Operation::scatter:
        case Operation::scatterv:
        case Operation::gather:
        case Operation::gatherv:
            return pattern.bytes * subtree(member, pattern.size);
        default:
            return pattern.bytes;
    }
}

}  // namespace schedule

}  // namespace logpost::replay
