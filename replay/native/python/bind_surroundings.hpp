#pragma once

/// Where a program's processes are, from columns: of a program, and of its surroundings.

#include "replay/native/program/program.hpp"
#include "replay/native/python/bindings.hpp"

namespace logpost::replay::bindings {

void set_places(Placement& placement, const In<std::int32_t>& sockets, const In<std::int32_t>& place_of_node,
                const In<std::int32_t>& hops);

/// The pairs of nodes that exchange messages: two columns, ascending. With `collectives`, also those that may within
/// collective operations: ranks of a communicator that are a power of two apart.
nb::tuple node_pairs(const Program& program, const Placement& placement, bool collectives);

/// Throws std::invalid_argument where the columns do not fit together.
Network network_of(const In<std::int32_t>& from, const In<std::int32_t>& to, const In<std::int32_t>& hops,
                   std::size_t dimensions, const In<std::int64_t>& route_begin, const In<std::int32_t>& route,
                   std::int32_t links, double byte_ps, const In<double>& narrow_byte_ps,
                   const In<double>& dimension_byte_ps, double channels);

}  // namespace logpost::replay::bindings
