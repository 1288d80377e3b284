#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/archive/native/match/match.hpp"
#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

// Times are int64 picoseconds, and so are the sums of one location; sums over locations are wide
// (replay/native/program/wide.hpp, analyzer/run/wide.py). Bytes are int64. What does not fit is refused here, where it
// enters, so that no later step has to look for it.

/// The events of a location.
struct Extent {
    std::int64_t first_ps = 0;
    std::int64_t last_ps = 0;
    std::uint64_t events = 0;
};
[[nodiscard]] inline Extent extent_of(const LocationTrace& location) noexcept {
    return {location.first_ps, location.last_ps, location.events};
}
/// Of all locations together; 0 where none has an event.
Extent whole_of(const std::vector<Extent>& extents) noexcept;

/// Every time lies within 53 days (2^62 ps) of the clock's zero, and so does the trace's length. Before time 0 is moved
/// to the earliest event.
///
/// @throws ArchiveError names the location that does not fit.
void require_times_in_range(const std::vector<Extent>& extents, const Trace& definitions, const std::string& archive);

__extension__ using Sum = __int128;

/// What one location's rows add up to.
struct Sums {
    Sum messages_ps = 0;    // received: from the earlier of both calls' beginnings to the end of the receive
    Sum operations_ps = 0;  // of collectives
    Sum bytes = 0;
};
/// Of a message that arrives: 0 where it was never complete.
Sum message_ps(std::int64_t sent_ps, const LocationTrace& here, const MessageEnd& receive);
/// Without the messages of senders that are not among `traces` (nullptr).
Sums sums_of(const TraceOf& traces, const LocationTrace& here);

/// The time of all messages that arrive at one location, that of its collective operations, and the bytes of all
/// locations together fit below 2^63. After matching. The times of one-sided transfers are added up nowhere but in
/// views, which are wide: a quiet may complete 10^7 that were in flight together.
///
/// @throws ArchiveError names the sum that does not fit.
void require_sums_in_range(const std::vector<Sums>& sums, const Trace& definitions, const std::string& archive);

}  // namespace logpost::analyzer
