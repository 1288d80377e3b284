#pragma once

#include <string>

#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

// Times are int64 picoseconds, and so are the sums of one location; sums over locations are wide
// (replay/native/program/wide.hpp, analyzer/run/wide.py). Bytes are int64. What does not fit is refused here, where it
// enters, so that no later step has to look for it.

/// Every time lies within 53 days (2^62 ps) of the clock's zero, and so does the trace's length. Before time 0 is moved
/// to the earliest event.
///
/// @throws ArchiveError names the location that does not fit.
void require_times_in_range(const Trace& trace, const std::string& archive);

/// The time of all messages that arrive at one location, that of its collective operations, and the bytes of all
/// locations together fit below 2^63. After matching. The times of one-sided transfers are added up nowhere but in
/// views, which are wide: a quiet may complete 10^7 that were in flight together.
///
/// @throws ArchiveError names the sum that does not fit.
void require_sums_in_range(const Trace& trace, const std::string& archive, unsigned threads);

}  // namespace logpost::analyzer
