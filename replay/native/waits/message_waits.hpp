#pragma once

/// How long a call waited for the other ends of its messages, from recorded times alone (Scalasca's definitions).

#include <cstdint>
#include <span>

#include "replay/native/program/program.hpp"
#include "replay/native/waits/call_operations.hpp"

namespace logpost::replay {

/// The longest of several waits of one call: from when until when, and for which call of which location.
struct LongestWait {
    std::int64_t from_ps = 0;
    std::int64_t until_ps = 0;
    Location cause = kNoLocation;
    std::uint32_t cause_call = kNone;  // the call whose enter ended the wait

    void offer(std::int64_t from, std::int64_t until, Location location, std::uint32_t call) noexcept {
        if (until - from > until_ps - from_ps) {
            *this = {from, until, location, call};
        }
    }
    [[nodiscard]] bool found() const noexcept { return until_ps > from_ps; }
};

struct MessageWaitStates {
    /// min(enter(send), leave) - enter of the call that completes the receive
    LongestWait late_sender;
    /// enter(request to receive) - enter of the call that completes the send, if that is left after the request; none
    /// where a call that completes several requests had a Late Sender
    LongestWait late_receiver;
};

/// The waits of one call for messages that its location received or sent; none in a Test.
MessageWaitStates message_waits(const Program& program, const Timeline& mine, const Call& call,
                                std::span<const CallOperation> operations) noexcept;

}  // namespace logpost::replay
