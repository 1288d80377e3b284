#pragma once

/// The measured times of one message.

#include <cstdint>

namespace logpost::replay {

/// What was measured of one message; picoseconds.
struct MessageTimes {
    std::int64_t s0 = 0;   ///< enter of the send call
    std::int64_t s1 = 0;   ///< leave of the send call
    std::int64_t r0 = 0;   ///< enter of the call that posted the receive (== rw0 if blocking)
    std::int64_t rw0 = 0;  ///< enter of the call that completed the receive
    std::int64_t rw1 = 0;  ///< its leave

    /// Received before it was sent: no clock correction can be right here, so the message is clamped, not fitted.
    [[nodiscard]] bool violates_causality() const noexcept { return rw1 < s0; }
};

}  // namespace logpost::replay
