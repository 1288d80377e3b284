#pragma once

/// What a rank's time in a collective operation is divided into.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace logpost::replay {

enum class CollectivePart : std::uint8_t {
    late_members,   ///< members on the path to this one that entered after those that the operation's definition names
    send_overhead,  ///< o_s, its own and of those on the path; of a rendezvous also the answer to the clear-to-send
    latency,
    endpoint_contention,
    serialization,
    recv_overhead,  ///< o_r; of a rendezvous also the answer to its request
    middleware,     ///< half of l_mw at each end of a message whose member has data with gaps
    reduction,      ///< combining two operands of a reduction: gamma for each byte received
    residual,       ///< what the replay does not explain
    not_divided,    ///< operations without a replay
};
inline constexpr std::size_t kCollectiveParts = 10;
/// Those that the replay gives; the first so many.
inline constexpr std::size_t kReplayedParts = 8;
inline constexpr std::array<std::string_view, kCollectiveParts> kCollectivePartNames{
    "late_members", "send_overhead", "latency",  "endpoint_contention", "serialization", "recv_overhead",
    "middleware",   "reduction",     "residual", "not_divided"};

}  // namespace logpost::replay
