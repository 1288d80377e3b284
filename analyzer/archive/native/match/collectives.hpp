#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/archive/native/trace/quality.hpp"
#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

/// Roots of inter-communicators as their members name them, until operations are grouped: the process itself, and one
/// of its own group that only the others name.
inline constexpr replay::Rank kRootSelf{-2};
inline constexpr replay::Rank kRootInThisGroup{-3};

/// Groups collective records into operations: the k-th operation of every member of a communicator is one instance
/// (MPI demands the same order on all members). Persistent operations are made in the same order and may be started in
/// another: Collective::instance distinguishes them until it is filled (kNone: not persistent), and the k-th starts of
/// one are one instance. Members that disagree on the operation or the root, or of which some operations are missing,
/// leave the records ungrouped (instance kNone) and counted. Members without any record of the communicator, window or
/// persistent operation (their event file is missing) do not: the order of the others is whole, so these are grouped,
/// and counted too. Fills Collective::instance and Trace::collective_instances; roots become
/// places among Communicator::members(). A process next to the root of an inter-communicator (MPI_PROC_NULL) has no
/// instance: it moves no data.
void group_collectives(Trace& trace, const std::vector<replay::Location>& owner, QualityCounts& quality);

}  // namespace logpost::analyzer
