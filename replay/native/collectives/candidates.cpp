/// Which algorithms the libraries' default rules choose from. Sizes are where the first of the two libraries changes
/// its mind: Open MPI 4.1's coll_tuned_decision_fixed.c, MPICH 4's MPIR_CVAR_*_MSG_SIZE.

#include <utility>

#include "replay/native/collectives/algorithm.hpp"

namespace logpost::replay {
namespace {

using enum Algorithm;

constexpr std::uint64_t kSmallReduction = 2048;   // MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE, REDUCE_SHORT_MSG_SIZE
constexpr std::uint64_t kSmallBroadcast = 12288;  // MPIR_CVAR_BCAST_SHORT_MSG_SIZE
constexpr std::uint64_t kSmallAlltoall = 256;     // MPIR_CVAR_ALLTOALL_SHORT_MSG_SIZE
constexpr std::uint64_t kSmallBlocks = 2048;      // coll_tuned's gather and scatter leave the tree by here

constexpr std::array kBarrier{dissemination, recursive_doubling, binomial, linear};
constexpr std::array kSmallAllreduce{recursive_doubling, binomial, linear};
constexpr std::array kLargeAllreduce{recursive_doubling, rabenseifner, ring, binomial};
constexpr std::array kTree{binomial, linear};
constexpr std::array kLargeTree{binomial, linear, chain};
constexpr std::array kLargeBroadcast{binomial, chain, scatter_ring, linear};
constexpr std::array kLinear{linear, binomial};
constexpr std::array kAllgather{bruck, recursive_doubling, ring};
constexpr std::array kSmallPersonal{bruck, linear, pairwise};
constexpr std::array kPersonal{linear, pairwise};
constexpr std::array kReduceScatter{recursive_doubling, ring, pairwise};
constexpr std::array kPrefix{recursive_doubling, chain};

}  // namespace

std::span<const Algorithm> candidates(const Pattern& pattern) noexcept {
    const auto bytes = pattern.bytes;
    switch (pattern.operation) {
        case Operation::barrier:
            return kBarrier;
        case Operation::allreduce:
            return bytes <= kSmallReduction ? std::span<const Algorithm>(kSmallAllreduce) : kLargeAllreduce;
        case Operation::bcast:
            return bytes < kSmallBroadcast ? std::span<const Algorithm>(kTree) : kLargeBroadcast;
        case Operation::reduce:
            return bytes <= kSmallReduction ? std::span<const Algorithm>(kTree) : kLargeTree;
        case Operation::scatter:
        case Operation::gather:
            return bytes <= kSmallBlocks ? std::span<const Algorithm>(kTree) : kLinear;
        case Operation::scatterv:
        case Operation::gatherv:
            return kLinear;
        case Operation::allgather:
        case Operation::allgatherv:
            return kAllgather;
        case Operation::alltoall:
            return bytes <= kSmallAlltoall ? std::span<const Algorithm>(kSmallPersonal) : kPersonal;
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
