#pragma once

#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

/// Finds the exposure that permits each access: the k-th access of an origin to a target through a window belongs to
/// the k-th exposure of that target for that origin, in program order, as MPI defines it.
void match_epochs(Trace& trace);

}  // namespace logpost::analyzer
