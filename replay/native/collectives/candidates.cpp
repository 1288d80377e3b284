/// Which algorithms the libraries' default rules choose from, by operation, bytes and members: Open MPI's
/// ompi/mca/coll/tuned/coll_tuned_decision_fixed.c (the same file in v4.1.6 and v5.0.9) and the defaults of MPICH's
/// MPIR_CVAR_*_MSG_SIZE (src/mpi/coll/*/*.c of 3.3 and later); of an allreduce also SMPI's, of all sizes
/// (src/smpi/colls/smpi_default_selector.cpp). A limit here is where either of them first uses another algorithm; one
/// that all of them never use for a size is no candidate.

#include <utility>

#include "replay/native/collectives/algorithm.hpp"

namespace logpost::replay {
namespace {

using enum Algorithm;

constexpr std::uint64_t kSmallReduction = 2048;    // MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE, REDUCE_SHORT_MSG_SIZE
constexpr std::uint64_t kTinyReduction = 128;      // from here on coll_tuned takes Rabenseifner's for many members,
constexpr std::uint32_t kManyMembers = 32;         // which are these
constexpr std::uint64_t kSmallBroadcast = 12288;   // MPIR_CVAR_BCAST_SHORT_MSG_SIZE
constexpr std::uint64_t kChainBroadcast = 262144;  // coll_tuned's chain, of 2 and 3 members; 1 MiB of up to 7
constexpr std::uint32_t kScatterMembers = 8;       // MPIR_CVAR_BCAST_MIN_PROCS; coll_tuned: 16

/// The largest block of an all-to-all that either sends as Bruck does: MPIR_CVAR_ALLTOALL_SHORT_MSG_SIZE of 8 members
/// and more, and coll_tuned's modified Bruck.
constexpr std::uint64_t bruck_bytes(std::uint32_t members) noexcept {
    if (members < 8) {
        return 0;
    }
    if (members < 16) {
        return 256;
    }
    if (members < 64) {
        return 511;
    }
    return members < 4096 ? 1023 : 2047;
}

constexpr std::array kBarrier{dissemination, recursive_doubling, binomial, linear};
constexpr std::array kSmallAllreduce{recursive_doubling, binomial, linear, linear_then_tree};
constexpr std::array kLargeAllreduce{recursive_doubling, rabenseifner, ring, binomial, linear_then_tree};
constexpr std::array kTree{binomial, linear};
constexpr std::array kLargeTree{binomial, linear, chain};
constexpr std::array kMediumBroadcast{binomial, scatter_ring, linear};
constexpr std::array kLargeBroadcast{binomial, chain, scatter_ring, linear};
constexpr std::array kLinear{linear, binomial};
constexpr std::array kAllgather{bruck, recursive_doubling, ring};
constexpr std::array kSmallPersonal{bruck, linear, pairwise};
constexpr std::array kPersonal{linear, pairwise};
constexpr std::array kReduceScatter{recursive_doubling, ring, pairwise};
constexpr std::array kPrefix{recursive_doubling, chain};
constexpr std::array kBetweenGroups{leaders};
constexpr std::array kBlocksOfGroups{pairwise};
constexpr std::array kTreeOfGroup{leaders, linear};

/// Open MPI's coll/inter and MPICH's *_inter_*.c: trees within the groups, one message between them; the root with the
/// members of the other group one after another; alltoall with each of the other group.
std::span<const Algorithm> between_groups(Operation operation) noexcept {
    switch (operation) {
        case Operation::barrier:
        case Operation::allreduce:
        case Operation::allgather:
        case Operation::allgatherv:
        case Operation::reduce_scatter:
        case Operation::reduce_scatter_block:
            return kBetweenGroups;
        case Operation::alltoall:
        case Operation::alltoallv:
        case Operation::alltoallw:
            return kBlocksOfGroups;
        case Operation::bcast:
        case Operation::scatter:
        case Operation::scatterv:
        case Operation::reduce:
        case Operation::gather:
        case Operation::gatherv:
            return kTreeOfGroup;
        default:
            return {};
    }
}

}  // namespace

std::span<const Algorithm> candidates(const Pattern& pattern) noexcept {
    if (pattern.group != 0) {
        return between_groups(pattern.operation);
    }
    const auto bytes = pattern.bytes;
    switch (pattern.operation) {
        case Operation::barrier:
            return kBarrier;
        case Operation::allreduce:
            if (bytes > kSmallReduction || (bytes >= kTinyReduction && pattern.size >= kManyMembers)) {
                return kLargeAllreduce;
            }
            return kSmallAllreduce;
        case Operation::bcast:
            if (bytes < kSmallBroadcast) {
                return kTree;
            }
            if (pattern.size < kScatterMembers) {
                return bytes < kChainBroadcast ? std::span<const Algorithm>(kTree) : kLargeTree;
            }
            return bytes < kChainBroadcast ? std::span<const Algorithm>(kMediumBroadcast) : kLargeBroadcast;
        case Operation::reduce:
            return bytes <= kSmallReduction ? std::span<const Algorithm>(kTree) : kLargeTree;
        case Operation::scatter:
        case Operation::gather:
            return kTree;
        case Operation::scatterv:
        case Operation::gatherv:
            return kLinear;
        case Operation::allgather:
        case Operation::allgatherv:
            return kAllgather;
        case Operation::alltoall:
            if (bytes > 0 && bytes <= bruck_bytes(pattern.size)) {
                return kSmallPersonal;
            }
            return kPersonal;
        case Operation::alltoallv:
        case Operation::alltoallw:
            return kPersonal;
        case Operation::reduce_scatter:
        case Operation::reduce_scatter_block:
            return kReduceScatter;
        case Operation::scan:
        case Operation::exscan:
            return kPrefix;
        default:
            return {};
    }
}

}  // namespace logpost::replay
