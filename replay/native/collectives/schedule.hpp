#pragma once

/// The messages of each algorithm, in an order in which everything that a message depends on stands before it: the one
/// description that the split, the what-if replay and the tests read.
///
/// Members are numbered as the algorithm does: from the root on where there is one, by rank where there is none; those
/// of an inter-communicator as `Groups` does.
///
/// A visitor has
///   message(from, to, bytes)              one message; both take the next one after it
///   round(count, source, bytes, repeat)   each of the first `count` members sends one message and gets one: member i
///                                         from member source(i), all at once. `repeat`: stands for as many like it
///   ready(i), if it has one               when member i can send its next message: for who takes them as they come
///   collect(order, bytes), if it has one  one message of each of these to the first member, which takes them as they
///   come kEveryRound, if it has one    rounds are not joined most_rounds, if it has one    so many are told of a long
///   algorithm, in place of kSingleRounds burst(count, rounds, bytes)           each member sends one message to each
///   of `rounds` others, then takes theirs:
///                                         the k-th of member i comes from i - k

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "replay/native/collectives/algorithm.hpp"
#include "replay/native/collectives/groups.hpp"

namespace logpost::replay {

/// Rounds that are told one by one; of a longer algorithm (rings, pairwise exchange) equal parts are told by one round
/// each, so that no schedule has more than members x this messages.
inline constexpr std::uint32_t kSingleRounds = 64;
/// Segments of a chain: 128 KiB as in Open MPI, but not more of them than this.
inline constexpr std::uint64_t kChainSegment = 131072;
inline constexpr std::uint64_t kMostSegments = 8;

/// ceil(log2 n): rounds in which what is known doubles.
[[nodiscard]] constexpr std::uint32_t doublings(std::uint32_t n) noexcept {
    return n < 2 ? 0 : static_cast<std::uint32_t>(std::bit_width(n - 1));
}

/// Members in the part of the binomial tree that hangs on a member, itself among them.
[[nodiscard]] constexpr std::uint32_t subtree(std::uint32_t member, std::uint32_t size) noexcept {
    return member == 0 ? size : std::min(member & (~member + 1), size - member);
}

/// Who hands whom something down the binomial tree: `visit(parent, child)`, the largest part first.
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

/// Who hands whom something up the binomial tree: `visit(child, parent)`, the nearest child first.
template <class Visit>
void up_the_tree(std::uint32_t size, Visit&& visit) {
    for (auto parent = size; parent-- > 0;) {
        for (std::uint32_t bit = 1; (parent & bit) == 0 && parent + bit < size; bit *= 2) {
            visit(parent + bit, parent);
        }
    }
}

namespace schedule {

/// `rounds` rounds like pairwise(k), k from 1; long ones joined, unless the visitor wants every one.
template <class Visitor, class Source>
void many_rounds(Visitor& visitor, std::uint32_t count, std::uint32_t rounds, std::uint64_t bytes, Source&& source) {
    auto told = std::min(rounds, kSingleRounds);
    if constexpr (requires { Visitor::kEveryRound; }) {
        told = rounds;
    } else if constexpr (requires { visitor.most_rounds; }) {
        told = std::min(rounds, visitor.most_rounds);
    }
    for (std::uint32_t k = 0; k < told; ++k) {
        const auto first = static_cast<std::uint32_t>(std::uint64_t{rounds} * k / told);
        const auto next = static_cast<std::uint32_t>(std::uint64_t{rounds} * (k + 1) / told);
        visitor.round(count, [&, first](std::uint32_t i) { return source(i, first + 1); }, bytes, next - first);
    }
}

template <class Visitor>
void ring(Visitor& visitor, std::uint32_t size, std::uint32_t rounds, std::uint64_t bytes) {
    many_rounds(visitor, size, rounds, bytes, [size](std::uint32_t i, std::uint32_t) { return (i + size - 1) % size; });
}

template <class Visitor>
void exchange_by_distance(Visitor& visitor, std::uint32_t count, std::uint32_t distance, std::uint64_t bytes) {
    visitor.round(count, [distance](std::uint32_t i) { return i ^ distance; }, bytes, 1);
}

/// Folds members beyond a power of two into those below it, and tells them the result.
template <class Visitor, class Between>
void folded(Visitor& visitor, std::uint32_t size, std::uint64_t before, std::uint64_t after, Between&& between) {
    const auto power = std::bit_floor(size);
    for (std::uint32_t i = 0; i < size - power; ++i) {
        visitor.message(power + i, i, before);
    }
    between(power);
    for (std::uint32_t i = 0; i < size - power; ++i) {
        visitor.message(i, power + i, after);
    }
}

template <class Visitor>
void dissemination(Visitor& visitor, std::uint32_t size, std::uint64_t bytes) {
    for (std::uint32_t distance = 1; distance < size; distance *= 2) {
        visitor.round(size, [=](std::uint32_t i) { return (i + size - distance) % size; }, bytes, 1);
    }
}

template <class Visitor>
void recursive_doubling(Visitor& visitor, const Pattern& pattern) {
    const auto& [operation, size, bytes, group, other_bytes] = pattern;
    switch (operation) {
        case Operation::scan:
        case Operation::exscan:
            // Only lower ranks tell: a member takes what comes from below it.
            for (std::uint32_t distance = 1; distance < size; distance *= 2) {
                for (std::uint32_t i = size; i-- > distance;) {
                    visitor.message(i - distance, i, bytes);
                }
            }
            return;
        case Operation::allgather:
        case Operation::allgatherv:
            folded(visitor, size, bytes, bytes * size, [&](std::uint32_t power) {
                for (std::uint32_t distance = 1; distance < power; distance *= 2) {
                    exchange_by_distance(visitor, power, distance, bytes * distance * size / power);
                }
            });
            return;
        case Operation::reduce_scatter:
        case Operation::reduce_scatter_block:
            folded(visitor, size, bytes * size, bytes, [&](std::uint32_t power) {
                for (auto distance = power / 2; distance > 0; distance /= 2) {
                    exchange_by_distance(visitor, power, distance, bytes * distance * size / power);
                }
            });
            return;
        default:
            folded(visitor, size, bytes, bytes, [&](std::uint32_t power) {
                for (std::uint32_t distance = 1; distance < power; distance *= 2) {
                    exchange_by_distance(visitor, power, distance, bytes);
                }
            });
    }
}

template <class Visitor>
void rabenseifner(Visitor& visitor, std::uint32_t size, std::uint64_t bytes) {
    folded(visitor, size, bytes, bytes, [&](std::uint32_t power) {
        for (auto distance = power / 2; distance > 0; distance /= 2) {
            exchange_by_distance(visitor, power, distance, bytes * distance / power);
        }
        for (std::uint32_t distance = 1; distance < power; distance *= 2) {
            exchange_by_distance(visitor, power, distance, bytes * distance / power);
        }
    });
}

template <class Visitor>
void bruck(Visitor& visitor, const Pattern& pattern) {
    const auto& [operation, size, bytes, group, other_bytes] = pattern;
    const bool personal = operation == Operation::alltoall || operation == Operation::alltoallv;
    for (std::uint32_t distance = 1; distance < size; distance *= 2) {
        std::uint64_t blocks = std::min(distance, size - distance);
        if (personal) {  // those whose number has this bit
            blocks = size / (2 * distance) * distance + std::max(size % (2 * distance), distance) - distance;
        }
        visitor.round(size, [=, n = size](std::uint32_t i) { return (i + n - distance) % n; }, bytes * blocks, 1);
    }
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

[[nodiscard]] constexpr bool down(Operation operation) noexcept {
    return operation == Operation::bcast || operation == Operation::scatter || operation == Operation::scatterv;
}
[[nodiscard]] constexpr bool up(Operation operation) noexcept {
    return operation == Operation::reduce || operation == Operation::gather || operation == Operation::gatherv;
}

template <class Visitor>
void binomial(Visitor& visitor, const Pattern& pattern) {
    if (!down(pattern.operation)) {
        up_the_tree(pattern.size, [&](std::uint32_t child, std::uint32_t parent) {
            visitor.message(child, parent, of_subtree(pattern, child));
        });
    }
    if (!up(pattern.operation)) {
        down_the_tree(pattern.size, [&](std::uint32_t parent, std::uint32_t child) {
            visitor.message(parent, child, of_subtree(pattern, child));
        });
    }
}

/// Everybody sends one message to the first member, which takes them as they come.
template <class Visitor>
void as_they_come(Visitor& visitor, std::uint32_t size, std::uint64_t bytes) {
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
        as_they_come(visitor, size, bytes);
    }
    for (std::uint32_t i = 1; i < size && !down(operation) && operation != Operation::barrier; ++i) {
        visitor.message(i, 0, bytes);
    }
    for (std::uint32_t i = 1; i < size && !up(operation); ++i) {
        visitor.message(0, i, bytes);
    }
}

/// A reduction by `linear`, whose result goes down the tree.
template <class Visitor>
void linear_then_tree(Visitor& visitor, const Pattern& pattern) {
    as_they_come(visitor, pattern.size, pattern.bytes);
    down_the_tree(pattern.size,
                  [&](std::uint32_t parent, std::uint32_t child) { visitor.message(parent, child, pattern.bytes); });
}

template <class Visitor>
void chain(Visitor& visitor, const Pattern& pattern) {
    const auto& [operation, size, bytes, group, other_bytes] = pattern;
    const bool prefix = operation == Operation::scan || operation == Operation::exscan;
    const auto segments = prefix ? 1 : std::clamp<std::uint64_t>(bytes / kChainSegment, 1, kMostSegments);
    for (std::uint64_t segment = 0; segment < segments; ++segment) {
        const auto part = bytes * (segment + 1) / segments - bytes * segment / segments;
        for (std::uint32_t i = 1; i < size; ++i) {
            if (up(operation)) {
                visitor.message(size - i, size - i - 1, part);
            } else {
                visitor.message(i - 1, i, part);
            }
        }
    }
}

/// Between the groups of an inter-communicator, of which a member needs only what the other group gives.
template <class Visitor>
void between_groups(Visitor& visitor, const Pattern& pattern, Algorithm algorithm) {
    const Groups groups{pattern.group, pattern.size - pattern.group};
    const auto operation = pattern.operation;
    const auto other = groups.size[1];
    const Pattern within{operation, other, pattern.bytes};
    if (down(operation) || up(operation)) {
        if (algorithm == Algorithm::linear) {
            for (std::uint32_t i = 0; i < other; ++i) {
                const auto member = groups.number(1, i);
                visitor.message(down(operation) ? 0 : member, down(operation) ? member : 0, pattern.bytes);
            }
        } else if (down(operation)) {
            visitor.message(0, groups.number(1, 0), of_subtree(within, 0));
            down_the_tree(other, [&](std::uint32_t parent, std::uint32_t child) {
                visitor.message(groups.number(1, parent), groups.number(1, child), of_subtree(within, child));
            });
        } else {
            up_the_tree(other, [&](std::uint32_t child, std::uint32_t parent) {
                visitor.message(groups.number(1, child), groups.number(1, parent), of_subtree(within, child));
            });
            visitor.message(groups.number(1, 0), 0, of_subtree(within, 0));
        }
        return;
    }
    const std::uint64_t given[2]{pattern.bytes, pattern.other_bytes};
    const auto gives = [&](std::size_t group) { return operation == Operation::barrier || given[group] > 0; };
    if (algorithm == Algorithm::pairwise && groups.size[0] == other && given[0] == given[1]) {
        many_rounds(visitor, pattern.size, other, pattern.bytes, [groups](std::uint32_t i, std::uint32_t round) {
            const auto group = groups.group_of(i);
            const auto step = group == 0 ? round : groups.size[0] - round;
            return groups.number(1 - group, (groups.index_of(i) + step) % groups.size[0]);
        });
        return;
    }
    if (algorithm == Algorithm::pairwise) {
        groups.visit_pairs([&](std::uint32_t member, std::uint32_t far) {
            if (gives(0)) {
                visitor.message(member, far, given[0]);
            }
            if (gives(1)) {
                visitor.message(far, member, given[1]);
            }
        });
        return;
    }
    const bool collects = operation == Operation::allgather || operation == Operation::allgatherv;
    const bool scatters = operation == Operation::reduce_scatter || operation == Operation::reduce_scatter_block;
    /// What a group gives, gathered or reduced.
    const auto whole = [&](std::size_t group) {
        return given[group] * (collects ? groups.size[group] : scatters ? groups.size[1 - group] : 1);
    };
    for (std::size_t group = 0; group < 2; ++group) {
        if (gives(group)) {
            up_the_tree(groups.size[group], [&](std::uint32_t child, std::uint32_t parent) {
                const auto bytes = collects ? given[group] * subtree(child, groups.size[group]) : whole(group);
                visitor.message(groups.number(group, child), groups.number(group, parent), bytes);
            });
        }
    }
    if (gives(0) && gives(1)) {
        visitor.round(2, [](std::uint32_t i) { return 1 - i; }, std::max(whole(0), whole(1)), 1);
    } else if (gives(0)) {
        visitor.message(0, 1, whole(0));
    } else if (gives(1)) {
        visitor.message(1, 0, whole(1));
    }
    for (std::size_t group = 0; group < 2; ++group) {
        if (gives(1 - group)) {
            down_the_tree(groups.size[group], [&](std::uint32_t parent, std::uint32_t child) {
                const auto bytes = scatters ? given[1 - group] * subtree(child, groups.size[group]) : whole(1 - group);
                visitor.message(groups.number(group, parent), groups.number(group, child), bytes);
            });
        }
    }
}

}  // namespace schedule

/// Visits every message of an operation.
template <class Visitor>
void visit_schedule(const Pattern& pattern, Algorithm algorithm, Visitor&& visitor) {
    const auto& [operation, size, bytes, group, other_bytes] = pattern;
    if (size < 2) {
        return;
    }
    if (group != 0) {
        return schedule::between_groups(visitor, pattern, algorithm);
    }
    switch (algorithm) {
        case Algorithm::not_known:
        case Algorithm::leaders:
            return;
        case Algorithm::dissemination:
            return schedule::dissemination(visitor, size, bytes);
        case Algorithm::recursive_doubling:
            return schedule::recursive_doubling(visitor, pattern);
        case Algorithm::binomial:
            return schedule::binomial(visitor, pattern);
        case Algorithm::linear:
            return schedule::linear(visitor, pattern);
        case Algorithm::linear_then_tree:
            return schedule::linear_then_tree(visitor, pattern);
        case Algorithm::chain:
            return schedule::chain(visitor, pattern);
        case Algorithm::ring:
            if (operation == Operation::allreduce) {
                schedule::ring(visitor, size, size - 1, bytes / size);
                return schedule::ring(visitor, size, size - 1, bytes / size);
            }
            return schedule::ring(visitor, size, size - 1, bytes);
        case Algorithm::rabenseifner:
            return schedule::rabenseifner(visitor, size, bytes);
        case Algorithm::bruck:
            return schedule::bruck(visitor, pattern);
        case Algorithm::pairwise:
            return schedule::many_rounds(visitor, size, size - 1, bytes,
                                         [n = size](std::uint32_t i, std::uint32_t k) { return (i + n - k % n) % n; });
        case Algorithm::scatter_ring:
            down_the_tree(size, [&](std::uint32_t parent, std::uint32_t child) {
                visitor.message(parent, child, bytes / size * subtree(child, size));
            });
            return schedule::ring(visitor, size, size - 1, bytes / size);
    }
}

}  // namespace logpost::replay
