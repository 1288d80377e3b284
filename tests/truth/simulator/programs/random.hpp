#pragma once

/// Programs drawn from a seed, for what no hand-made case may decide: that the analysis is right about programs that
/// were unknown while it was written.

#include <cstdint>
#include <set>
#include <string>

#include "../case.hpp"

namespace logpost::truth {

/// Adds `count` programs: each a machine, a clock, a number of ranks, phases without a cause worth naming, and at most
/// one phase with a cause. A cause whose cure saves less than a tenth of the time is drawn again: it would be no truth
/// to measure a finding by. So is a program without a cause that spends more than a 25th of its time in calls: there
/// might be something to fix. Each is drawn without the others: `wanted`, if it is not empty, are the names of those
/// that are added.
void random_programs(Cases& cases, std::uint64_t seed, int count, const std::set<std::string>& wanted);

/// Adds `count` programs of work between collective operations in which everybody has something for everybody, and no
/// cause.
void random_exchanges(Cases& cases, std::uint64_t seed, int count);

}  // namespace logpost::truth
