#pragma once

/// Programs whose every nonblocking exchange could overlap with all of the work behind it.

#include "../case.hpp"

namespace logpost::truth {

/// Adds them, each with its cure: the same work before the Waits, on a machine with asynchronous progress.
void overlaps(Cases& cases);

}  // namespace logpost::truth
