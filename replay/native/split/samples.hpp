#pragma once

/// Samples of LogGP parameters from a trace, for estimates when no machine is given.
///
/// A column either holds times that a parameter is at most (a bound), or times that are the parameter, but for noise (a
/// witness): that is a fact about the calls, not about the values.

#include <array>
#include <cstdint>
#include <vector>

#include "replay/native/cost/parameters.hpp"
#include "replay/native/program/program.hpp"

namespace logpost::replay {

/// One observation per row; picoseconds.
struct SampleColumn {
    std::vector<std::uint64_t> bytes;
    std::vector<std::int64_t> time_ps;
};

struct LocalitySamples {
    SampleColumn whole;  ///< send enter to receive leave of any message: bound of o_s + L + (B - 1) G + o_r
    /// The same of messages whose receiver waited for them alone, and no other message was in flight to it or from
    /// their sender: a witness. By the way they were sent: the sender may be away, stays in its call, or waits there
    /// for the match whatever the size.
    SampleColumn undisturbed_nonblocking, undisturbed_blocking, undisturbed_synchronous;
    SampleColumn send_at_once;   ///< a send call's length per send, at their mean size, where it could not wait
                                 ///< (nonblocking, or over before its receive was posted): witness of o_s
    SampleColumn send_blocking;  ///< likewise of the other sends: bound of o_s
    /// Length of a call that also starts sends of other locality classes, or strided ones: bound of o_s.
    SampleColumn send_among_others;
    SampleColumn receive;  ///< length of a completing call per receive that it completes: bound of o_r
    /// By row of `receive`: how long the latest message had been sent when the call began, over 1 + the messages on
    /// the way with it; -1: not known. A witness of o_r where that is longer than a message takes.
    std::vector<std::int64_t> slack_ps;
    std::vector<std::int64_t> sends;  ///< by row of `receive`: sends that the call completes, and that it may wait for
    SampleColumn burst;  ///< of n messages that leave one sender, or reach one receiver, from the first one's send to
                         ///< the last one's receive, over n - 1, and their smallest size: bound of max(g, B G)
    /// Of two messages of one size that a sender without neighbours on its node sends one after the other: time between
    /// the ends of their receives, each completed alone, with no other sender's message in flight to these receivers.
    /// Where that is longer than between the sends, and the receivers waited, they queued: witness of max(g, B G).
    SampleColumn spacing;
    std::vector<std::int64_t> spacing_of_sends;  ///< by row of `spacing`: time between the sends
    /// By row of `spacing`: length of the shorter receiving call; the longest time where each receiver was there before
    /// the send, and the receivers are not the same: no processor can have spaced them.
    std::vector<std::int64_t> spacing_calls;
    /// Bytes that a member of a collective operation receives from the others at least, and the time from the first
    /// member's enter to its end: bound of B G. Of operations among members of this class alone.
    SampleColumn collective;
    SampleColumn early_complete;  ///< sends complete before their receive was posted (time: how long before): eager
    SampleColumn
        late_complete;  ///< sends that began before and ended after their receive was posted: may be rendezvous
    /// Of a message whose one side was in its call while the other was outside of all calls that make progress,
    /// having begun its send or posted its receive: its time in code. `unanswered`: it ended only behind the away
    /// side's next call, and in at most half of that time: may be a rendezvous; `answered`: it ended before.
    SampleColumn unanswered, answered;
    /// By row of `unanswered`: from the away side's next call to the receive's leave. If it is a rendezvous, a bound as
    /// `whole`: an answer and the payload's way follow.
    std::vector<std::int64_t> unanswered_rest;
    std::uint64_t messages = 0;
};

/// Whether a call or an operation is looked at, when one in `stride` is to be. By a hash: a pattern of calls that
/// repeats must not beat against the stride.
constexpr bool chosen(std::uint32_t number, std::size_t stride) noexcept {
    constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15ULL;
    return ((number * kOdd) >> 32U) % stride == 0;
}

/// Samples per locality class, at most about `limit` per column, evenly spread over the trace and the same on every
/// call.
std::array<LocalitySamples, kLocalities> samples(const Program& program, std::size_t limit);

}  // namespace logpost::replay
