#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/archive/native/trace/quality.hpp"
#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

/// Pairs sends with receives: non-overtaking per (communicator, sender, receiver, tag), sends in program order,
/// receives in the order of their requests (MPI 4.1, section 3.5). Fills MessageEnd::match on both ends.
/// Where a channel lacks sends, a receive that ended before the next send began has lost its own: as many stay
/// unmatched as are lacking.
///
/// `owner[location]` is the location that stands for the process in communicators. A process whose threads communicate
/// on several locations is one sender and one receiver: concurrent_pairs.hpp says which of their messages belong
/// together. MessageEnd::peer of their partners is set to the location that holds the record.
void match_messages(Trace& trace, const std::vector<replay::Location>& owner, unsigned threads, QualityCounts& quality);

/// By location: what was found there. Those of other processes may share an empty one.
using TraceOf = std::vector<LocationTrace*>;
TraceOf traces_of(Trace& trace);

/// The same for the locations that are decoded, without counting what stays unmatched. The number of pairs.
std::uint64_t pair_messages(const TraceOf& traces, const std::vector<replay::Location>& owner, unsigned threads,
                            QualityCounts& quality);
/// Counts the ends without the other one, after `pairs` of all.
void count_unmatched(const Trace& trace, const std::vector<replay::Location>& owner, std::uint64_t pairs,
                     QualityCounts& quality);

/// By the location that stands for a process: whether the measurement of one of its locations was ever switched off.
std::vector<char> processes_off(const Trace& trace, const std::vector<replay::Location>& owner);

}  // namespace logpost::analyzer
