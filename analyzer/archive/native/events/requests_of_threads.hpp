#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/archive/native/match/match.hpp"
#include "analyzer/archive/native/trace/quality.hpp"
#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

/// Adds to an operation that was begun what the record of its end says.
inline void complete(Collective& begun, Collective ended) {
    ended.begin_ps = begun.begin_ps;
    ended.call = begun.call;
    ended.instance = begun.instance;  // the number of a persistent one, until operations are grouped
    begun = ended;
}

/// Joins what one thread began with the end that another thread of its process gave it. `locations` hold all threads of
/// their processes; `owner` is the process of each location.
///
/// A receive belongs to the thread that completed it, and its begin on the other thread is removed. A collective
/// operation belongs to the thread that began it. An id that several threads have begun says nothing: both ends stay as
/// they are. One-sided transfers that another thread completed count as not waited for.
void join_requests(const TraceOf& traces, const std::vector<replay::Location>& owner,
                   const std::vector<std::size_t>& locations, QualityCounts& quality);

}  // namespace logpost::analyzer
