#pragma once

/// A chain: each member forwards segments to the next one; of a prefix reduction one whole message.
///
/// Open MPI's pipeline (ompi/mca/coll/base/coll_base_bcast.c, bcast_intra_pipeline), in segments of 128 KiB as
/// open-mpi/ompi@010080ece8c0, ompi/mca/coll/tuned/coll_tuned_decision_fixed.c has them.

#include <algorithm>
#include <cstdint>

#include "replay/native/collectives/algorithm.hpp"
#include "replay/native/collectives/trees.hpp"

namespace logpost::replay::schedule {

/// Segments of a chain: 128 KiB as in Open MPI, but not more of them than this.
inline constexpr std::uint64_t kChainSegment = 131072;
inline constexpr std::uint64_t kMostSegments = 8;

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

}  // namespace logpost::replay::schedule
