#pragma once

#include <cstddef>
#include <vector>

#include "replay/native/program/program.hpp"

namespace logpost::replay {

/// Locations that share a NIC: the ranks of a node are dealt to its NICs one after another. Without those that take
/// part in no message and no transfer.
std::vector<std::vector<std::size_t>> endpoint_groups(const Program& program, std::int32_t nics_per_node);
/// Likewise, had they been placed otherwise.
std::vector<std::vector<std::size_t>> endpoint_groups(const Program& program, const Placement& placement,
                                                      std::int32_t nics_per_node);

}  // namespace logpost::replay
