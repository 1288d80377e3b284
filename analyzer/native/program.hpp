#pragma once

#include "replay/native/program.hpp"
#include "trace.hpp"

namespace logpost::analyzer {

/// Moves what the replay needs out of a trace into its `program`; definitions, profile and counters stay.
void take_program(Trace& trace);

}  // namespace logpost::analyzer
