/// MPICH's default selection for communicators of one level: pmodels/mpich@6a79bf6575c3,
/// maint/tuning/coll/mpir/generic.json.
///
/// Broadcasts, reductions and barriers of communicators on several nodes are composed of one operation within the nodes
/// and one between them (maint/tuning/coll/ch4/generic.json), which a pattern does not have: nothing is selected.

#include <bit>
#include <cstdint>

#include "replay/native/collectives/selector.hpp"

namespace logpost::replay {
namespace {

constexpr std::uint64_t kLongGather = 524288;  // bytes of all members, below which powers of two double recursively
constexpr std::uint64_t kShortGather = 81920;  // likewise, below which other numbers use Bruck's
constexpr std::uint64_t kShortBlock = 256;     // bytes up to which 8 members and more use Bruck's
constexpr std::uint64_t kMediumBlock = 32768;  // bytes up to which all messages are posted at once
constexpr std::uint32_t kFewMembers = 8;

}  // namespace

std::optional<Algorithm> selected_by_mpich(const Pattern& pattern) noexcept {
    const auto whole = pattern.bytes * pattern.size;
    switch (pattern.operation) {
        case Operation::allgather:
        case Operation::allgatherv:
            if (std::has_single_bit(pattern.size)) {
                return whole < kLongGather ? Algorithm::recursive_doubling : Algorithm::ring;
            }
            return whole < kShortGather ? Algorithm::bruck : Algorithm::ring;
        case Operation::alltoall:
            if (pattern.size >= kFewMembers && pattern.bytes <= kShortBlock) {
                return Algorithm::bruck;
            }
            return pattern.bytes <= kMediumBlock ? Algorithm::linear : Algorithm::pairwise;
        case Operation::alltoallv:
        case Operation::alltoallw:
        case Operation::gatherv:
        case Operation::scatterv:
            return Algorithm::linear;
        case Operation::gather:
        case Operation::scatter:
            return Algorithm::binomial;
        case Operation::reduce_scatter:
        case Operation::reduce_scatter_block:
            return whole < kLongGather ? Algorithm::recursive_doubling : Algorithm::pairwise;
        case Operation::exscan:
            return Algorithm::recursive_doubling;
        default:
            return std::nullopt;
    }
}

}  // namespace logpost::replay
