#pragma once

/// Where the columns of a location lie once they are complete: in memory, or beyond the limit in the spill's file.

#include "replay/native/memory/spill.hpp"
#include "replay/native/program/program.hpp"

namespace logpost::replay {

/// Puts the columns of a complete location into the file, one behind the other, where they have no place in memory.
/// The spill must outlive the timeline. Throws SpillError.
void settle(Timeline& timeline, Spill& spill);

/// The same in two steps, for a reader that has all calls of all locations before anything else.
void settle_calls(Timeline& timeline, Spill& spill);
void settle_all_but_calls(Timeline& timeline, Spill& spill);

}  // namespace logpost::replay
