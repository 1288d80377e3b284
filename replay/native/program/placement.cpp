#include "replay/native/program/placement.hpp"

#include <algorithm>
#include <stdexcept>

namespace logpost::replay {

std::size_t Placement::nodes() const noexcept {
    std::int32_t last = kUndefined;
    for (const auto& place : places_) {
        last = std::max(last, place.node);
    }
    return last == kUndefined ? 0 : static_cast<std::size_t>(last) + 1;
}

void Placement::set_hops(std::vector<std::int32_t> hops, std::vector<std::int32_t> place_of_node) {
    std::size_t side = 0;
    while (side * side < hops.size()) {
        ++side;
    }
    const auto fits = [&](std::int32_t place) {
        return place == kUndefined || (place >= 0 && static_cast<std::size_t>(place) < side);
    };
    if (side * side != hops.size() || !std::ranges::all_of(place_of_node, fits)) {
        throw std::invalid_argument("hops must be a square that has a row for every node's place");
    }
    hops_ = std::move(hops);
    place_of_node_ = std::move(place_of_node);
    side_ = side;
}

void Placement::set_sockets(std::span<const std::int32_t> sockets) {
    if (sockets.size() != places_.size()) {
        throw std::invalid_argument("sockets must be given for every location");
    }
    for (std::size_t l = 0; l < places_.size(); ++l) {
        places_[l].socket = sockets[l];
    }
}

std::int32_t Placement::hops(Location a, Location b) const noexcept {
    const auto from = places_[index(a)].node;
    const auto to = places_[index(b)].node;
    if (from == kUndefined || to == kUndefined) {
        return kUndefined;
    }
    if (from == to) {
        return 0;
    }
    const auto place = [this](std::int32_t node) {
        const auto n = static_cast<std::size_t>(node);
        return n < place_of_node_.size() ? place_of_node_[n] : kUndefined;
    };
    const auto i = place(from);
    const auto j = place(to);
    return i == kUndefined || j == kUndefined
               ? kUndefined
               : hops_[static_cast<std::size_t>(i) * side_ + static_cast<std::size_t>(j)];
}

}  // namespace logpost::replay
