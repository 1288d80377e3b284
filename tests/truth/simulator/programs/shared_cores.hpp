#pragma once

#include "../case.hpp"

namespace logpost::truth {

/// Programs whose ranks share cores.
void shared_cores(Cases& cases);

}  // namespace logpost::truth
