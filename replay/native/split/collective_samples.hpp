#pragma once

#include "replay/native/split/samples.hpp"

namespace logpost::replay {

/// Adds to each class what the collective operations among members of that class alone bound: a member's bytes that
/// come from the others, and the time from the first member's enter until its own end. Operations whose least number of
/// bytes is not known, or among members of several classes, add nothing. At most about `limit` rows, evenly spread over
/// the operations and the same on every call.
void sample_collectives(const Program& program, std::size_t limit, std::array<LocalitySamples, kLocalities>& into);

}  // namespace logpost::replay
