#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/native/program/program.hpp"

namespace logpost::replay {

/// By location: whether it takes part in a message, a transfer or a collective operation.
std::vector<std::uint8_t> communicating(const Program& program);

/// Locations that share a NIC: the ranks of a node are dealt to its NICs one after another. Without those that take
/// part in nothing.
std::vector<std::vector<std::size_t>> endpoint_groups(const Program& program, std::int32_t nics_per_node);
/// Likewise, had they been placed otherwise.
std::vector<std::vector<std::size_t>> endpoint_groups(const Program& program, const Placement& placement,
                                                      std::int32_t nics_per_node);
/// Of locations that are `communicating`.
std::vector<std::vector<std::size_t>> endpoint_groups(std::span<const std::uint8_t> communicates,
                                                      const Placement& placement, std::int32_t nics_per_node);

}  // namespace logpost::replay
