#include "replay/native/program/network.hpp"

#include <stdexcept>

namespace logpost::replay {

void check(const Network& network) {
    const auto pairs = network.pairs.size();
    const auto known_link = [&](std::int32_t link) { return link >= 0 && link < network.links; };
    if (!std::ranges::is_sorted(network.pairs) || network.hops.size() != pairs * network.dimensions ||
        network.dimension_byte_ps.size() != network.dimensions ||
        (!network.narrow_byte_ps.empty() && network.narrow_byte_ps.size() != static_cast<std::size_t>(network.links)) ||
        network.route_begin.size() != pairs + 1 || !std::ranges::is_sorted(network.route_begin) ||
        network.route_begin.back() != network.route.size() || !std::ranges::all_of(network.route, known_link)) {
        throw std::invalid_argument("a network needs ascending pairs of nodes, and hops and a route for each of them");
    }
}

}  // namespace logpost::replay
