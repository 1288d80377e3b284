#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

/// A channel: messages of one of them do not overtake each other. `sender` is the location that stands for a process.
struct ChannelName {
    std::int32_t comm;
    replay::Location sender;
    std::int32_t tag;
    auto operator<=>(const ChannelName&) const = default;
};

struct Sent {
    ChannelName channel;
    replay::Location location;  // the thread
    std::uint64_t bytes;
    std::int64_t enter_ps;  // of the call
};

struct Posted {
    ChannelName channel;
    replay::Location location;
    std::uint64_t bytes;
    std::int64_t enter_ps;  // of the call that posted it,
    std::int64_t leave_ps;
    std::int64_t complete_ps;  // and the end of the call that completed it
};

/// `owner[location]`: the location that stands for its process. A receive that never ended has no time by which it must
/// have its message.
inline Posted posted_of(replay::Location location, const std::vector<replay::Location>& owner,
                        const MessageEnd& receive, const Column<Call>& calls) {
    const auto& call = calls[receive.call];
    return {.channel = {receive.comm, owner[index(receive.peer)], receive.tag},
            .location = location,
            .bytes = receive.bytes,
            .enter_ps = call.enter_ps,
            .leave_ps = call.leave_ps,
            .complete_ps = receive.complete_call == kNone ? std::numeric_limits<std::int64_t>::max()
                                                          : calls[receive.complete_call].leave_ps};
}

/// Pairs what was sent to a process with what its threads received, where several threads share a channel at either
/// end: for each receive the number of its message, or kNone.
///
/// Threads are concurrent (MPI 4.1, sections 3.5 and 11.6): of two that are in calls at the same time, either may
/// have been first, and no record says which. What is known: a thread sends and posts in its program order; a call that
/// ended before another one began was first; a receive states the size of its message; and it cannot end before the
/// message's send began. So each size is a separate channel, where both ends state the same sizes; sends are sorted by
/// the begin of their calls, and receives as well, except where a receive would then end before its message was sent.
///
/// `sends`, `receives`: those of a thread in its program order.
std::vector<std::uint32_t> concurrent_pairs(std::span<const Sent> sends, std::span<const Posted> receives);

}  // namespace logpost::analyzer
