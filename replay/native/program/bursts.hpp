#pragma once

/// How many messages a location begins back to back: what the overhead of an initiation depends on (OVL's o(S, b)).

#include <cstdint>
#include <vector>

#include "replay/native/program/program.hpp"

namespace logpost::replay {

/// The length of the burst that each send of a location belongs to; 1: it is alone.
///
/// Two sends are of one burst if one call began both, or if nonblocking calls that follow each other did, with no other
/// communication call between them and no longer pause than the first of them lasted.
std::vector<std::uint32_t> burst_lengths(const Program& program, const Timeline& timeline);

}  // namespace logpost::replay
