#pragma once

/// The algorithms by which MPI libraries carry out collective operations, and which of them are candidates.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "replay/native/program/program.hpp"

namespace logpost::replay {

enum class Algorithm : std::uint8_t {
    not_known,           ///< no schedule: the operation is not divided
    dissemination,       ///< ceil(log2 P) rounds, in round k with the ranks 2^k away (Hensgen, Finkel, Manber 1988)
    recursive_doubling,  ///< rounds with i xor 2^k; ranks beyond a power of two are folded in
    binomial,            ///< a binomial tree with the root at its top; where there is no root, up and down again
    linear,              ///< the root with one member after another; of alltoall all pairs concurrently
    chain,               ///< from member to member, in segments
    ring,                ///< P - 1 rounds with the neighbours, of a reduction twice
    rabenseifner,        ///< recursive halving, then recursive doubling (Thakur, Rabenseifner, Gropp 2005)
    bruck,               ///< ceil(log2 P) rounds of growing messages (Bruck et al. 1997)
    pairwise,            ///< P - 1 rounds, in round k with the ranks k away
    scatter_ring,        ///< a binomial scatter, then a ring (van de Geijn)
    leaders,             ///< of an inter-communicator: each group's binomial tree to its leader; the leaders exchange
    linear_then_tree,    ///< a reduction at the root, one member after another, then a binomial tree (SimGrid's SMPI)
};
inline constexpr std::size_t kAlgorithms = 13;
inline constexpr std::array<std::string_view, kAlgorithms> kAlgorithmNames{
    "not_known",    "dissemination", "recursive_doubling", "binomial",     "linear",  "chain",           "ring",
    "rabenseifner", "bruck",         "pairwise",           "scatter_ring", "leaders", "linear_then_tree"};

/// A collective operation, as far as its messages depend on it.
struct Pattern {
    Operation operation = Operation::unknown;
    std::uint32_t size = 0;   ///< members
    std::uint64_t bytes = 0;  ///< of one member's part: what it has for, or gets from, each other one
    /// Of an inter-communicator, how many members the group has that the root belongs to, or the first one where there
    /// is no root; 0: it is none. `bytes` are a part of that group's members.
    std::uint32_t group = 0;
    std::uint64_t other_bytes = 0;  ///< likewise, of the other group's members; 0: they give nothing
};

/// The algorithms that Open MPI (coll/tuned), MPICH and SMPI take by default for operations like this one, the one that
/// small messages take first; none where the operation moves nothing or is not known.
[[nodiscard]] std::span<const Algorithm> candidates(const Pattern& pattern) noexcept;

}  // namespace logpost::replay
