#pragma once

/// The stretches of a program over which the traffic of its network is averaged.

#include <cstdint>
#include <vector>

#include "replay/native/program/program.hpp"
#include "replay/native/program/span.hpp"

namespace logpost::replay {

/// Stretches between global synchronizations (collectives of all ranks in which all wait for all). One with more than
/// 2000 messages a node is cut into equal ones of about 200 messages a node; one with fewer than 20 is joined with
/// the next. They follow each other without gap from 0 to the end of the program, and there is at least one.
///
/// `sent_ps`: when the messages between nodes left, in any order; it is sorted. `nodes`: how many take part.
std::vector<Span> traffic_phases(const Program& program, std::vector<std::int64_t>& sent_ps, std::size_t nodes);

}  // namespace logpost::replay
