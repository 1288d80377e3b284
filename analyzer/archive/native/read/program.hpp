#pragma once

#include "analyzer/archive/native/trace/trace.hpp"
#include "replay/native/program/program.hpp"

namespace logpost::analyzer {

/// Moves what the replay needs out of a trace into its `program`; definitions, profile and counters stay.
void take_program(Trace& trace);

}  // namespace logpost::analyzer
