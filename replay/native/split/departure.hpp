#pragma once

#include <cstdint>

#include "replay/native/cost/cost.hpp"
#include "replay/native/program/placement.hpp"

namespace logpost::replay {

/// What the sender alone decides of a message that it sends: put down once, in program order, for the replays of NICs
/// and processors, which would otherwise fetch it from send and call, each in its own place.
struct Departure {
    /// When the processor has done what it does for the message, at the latest at the call's end; it works for those
    /// that the call sent before it first. An eager message is ready for the NIC then.
    std::int64_t end_ps = 0;
    std::uint32_t stages = 0;  // row of the sending location's table
    Locality distance = Locality::same_node;
    bool matched : 1 = false;
    bool follows : 1 = false;        // its call sent another message before
    bool cut : 1 = false;            // its call ends before that work would
    bool may_ask : 1 = false;        // its size or its call may make it a rendezvous
    bool also_receives : 1 = false;  // its call takes a message, too (Sendrecv)
};
static_assert(sizeof(Departure) == 16);

/// What a processor does for a message before it leaves, if nothing cuts it short.
[[nodiscard]] inline std::int64_t work_to_send(const MessageStages& stages) noexcept {
    return stages.o_s + stages.l_mw / 2;
}

}  // namespace logpost::replay
