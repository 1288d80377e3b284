#pragma once

/// Measured facts of a matched message: the times of its calls, and the locality of its ends.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/native/program/message_times.hpp"
#include "replay/native/program/program.hpp"

namespace logpost::replay {

/// A message, named by its receiving end.
struct MessageId {
    Location location;      // of the receiver
    std::uint32_t receive;  // index in its `receives`
};

/// Whether the trace shows which call posted a receive. Of some writers it has only the call that completed it (TAU),
/// or the request began on another thread: a call that only completes requests posted none.
[[nodiscard]] bool is_post_known(const Program& program, const Timeline& receiver, const MessageEnd& received) noexcept;

/// The measured times of a matched message. A receive of which the trace does not show when it was posted counts as
/// posted in time: no rank is said to have waited for it.
MessageTimes measured_times(const Program& program, MessageId id) noexcept;

/// The call that completed a send; the send call itself where that was blocking or never completed.
struct SendCompletion {
    std::int64_t enter;
    std::int64_t leave;
};
SendCompletion completion_of_send(const Program& program, MessageId id) noexcept;

/// Row of Program::layouts of one send; kUndefined: contiguous or not stated.
std::int32_t layout_of_send(const Timeline& sender, std::uint32_t send) noexcept;

/// Whether a send's call decides its protocol: Ssend always waits for the match, Bsend never does, and a send that was
/// complete before its receive was posted cannot have waited for it. Else `by_size`.
bool is_rendezvous(const Program& program, MessageId id, bool by_size) noexcept;

/// Whether a call makes progress: it blocks or polls (Wait, Test, Probe, Recv, collectives). Calls that only start
/// something or query (Isend, Irecv, Start, Comm_rank) do not. A send does if it waits for its rendezvous: `blocks`.
[[nodiscard]] constexpr bool makes_progress(CallKind kind, bool blocks) noexcept {
    switch (kind) {
        case CallKind::send:
        case CallKind::send_synchronous:
            return blocks;
        case CallKind::receive:
        case CallKind::send_receive:
        case CallKind::wait:
        case CallKind::wait_multi:
        case CallKind::test:
        case CallKind::probe:
        case CallKind::barrier:
        case CallKind::collective:
        case CallKind::finalize:
            return true;
        default:
            return false;
    }
}

/// Whether a call attends to what arrives: one that makes progress, or accesses memory of others.
[[nodiscard]] constexpr bool attends(CallKind kind) noexcept {
    return makes_progress(kind, true) || kind == CallKind::one_sided;
}

/// Whether a call is over for what arrives at `time`. One that ends just then is: a rank that has left it (to post a
/// receive, say) attends to no other in it. One that a coarse clock shows to begin and end then is not.
[[nodiscard]] constexpr bool over_at(const Call& call, std::int64_t time) noexcept {
    return call.leave_ps < time || (call.leave_ps == time && call.enter_ps < time);
}

/// The first call from `first` to `last` that attends to what arrived at `time`; `last`, which may be the number of
/// calls, if none does before.
std::uint32_t answering_call(const Program& program, const Timeline& timeline, std::uint32_t first, std::uint32_t last,
                             std::int64_t time) noexcept;

}  // namespace logpost::replay
