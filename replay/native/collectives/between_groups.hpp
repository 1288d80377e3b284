#pragma once

/// Between the two groups of an inter-communicator, of which a member needs only what the other group gives.
///
/// Open MPI: ompi/mca/coll/inter; MPICH: src/mpi/coll/*/*_inter_*.c. Trees within the groups and one message between
/// their leaders; the root with each member of the other group; of an all-to-all each member with each of the other
/// group.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "replay/native/collectives/algorithm.hpp"
#include "replay/native/collectives/groups.hpp"
#include "replay/native/collectives/rounds.hpp"
#include "replay/native/collectives/trees.hpp"

namespace logpost::replay::schedule {

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

}  // namespace logpost::replay::schedule
