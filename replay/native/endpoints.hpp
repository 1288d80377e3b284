#pragma once

#include <cstddef>
#include <vector>

#include "replay/native/program.hpp"

namespace logpost::replay {

/// Locations that share a NIC: the ranks of a node are dealt to its NICs in turn. Without those that send nothing and
/// receive nothing.
std::vector<std::vector<std::size_t>> endpoint_groups(const Program& program, std::int32_t nics_per_node);
/// Likewise, had they been placed otherwise.
std::vector<std::vector<std::size_t>> endpoint_groups(const Program& program, const Placement& placement,
                                                      std::int32_t nics_per_node);

}  // namespace logpost::replay
