#pragma once

/// Calls that attend to communication: which one handles what arrives, and where a program needs what it requested.

#include <cstddef>
#include <cstdint>

#include "replay/native/graph/calibrated.hpp"
#include "replay/native/program/program.hpp"

namespace logpost::replay {

/// The node where a program waits for what a call completed: the call's leave; of a Test between computation, the enter
/// of the first call behind it that is none. A Test does not wait: what it does not find, a later call does, and the
/// program would not have made another kind of call before it had it. Tests with no more than `L` between them
/// are taken as waiting.
std::uint32_t needed_at(const Program& program, const Events& events, std::size_t location, std::uint32_t completing,
                        std::int64_t L) noexcept;

}  // namespace logpost::replay
