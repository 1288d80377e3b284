#pragma once

#include <vector>

#include "quality.hpp"
#include "trace.hpp"

namespace logpost::analyzer {

/// Groups collective records into operations: the k-th operation of every member of a communicator is one instance
/// (MPI demands the same order on all members). Members that disagree on the operation or the root, or that are
/// missing, leave the records ungrouped (instance kNone) and counted. Fills Collective::instance and
/// Trace::collective_instances.
void group_collectives(Trace& trace, const std::vector<std::int32_t>& owner, QualityCounts& quality);

}  // namespace logpost::analyzer
