#pragma once

#include <cstddef>

#include "replay/native/program/program.hpp"

namespace logpost::replay {

/// The middle of a program, as a separate program with about `messages` messages: the calls that are in the span of
/// time in which the location with the most receives posts its middle ones. Messages of which an end or a completing
/// call is outside are unmatched in it; there are more messages where that would be most of them, as in a program of
/// more locations than `messages`. One-sided transfers are left out. For what is computed many times of a program that
/// is too long for that.
Program excerpt(const Program& program, std::size_t messages);

}  // namespace logpost::replay
