#pragma once

/// Where the locations are: process -> socket -> node, and how many links lie between two nodes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "replay/native/program/ids.hpp"
#include "replay/native/program/locality.hpp"

namespace logpost::replay {

struct Place {
    std::int32_t process = kUndefined;
    std::int32_t socket = kUndefined;  // within its node; kUndefined: not known
    std::int32_t node = kUndefined;
    Rank rank = kNoRank;  // kNoRank: not the process's own location, a thread of it
    bool operator==(const Place&) const = default;
};

class Placement {
  public:
    Placement() = default;
    explicit Placement(std::vector<Place> places) : places_(std::move(places)) {}

    /// Links between every two places of the machine's network, row by row (kUndefined: not known), and the place of
    /// each node (kUndefined: none). Without: no hops are known. Throws std::invalid_argument where they do not fit.
    void set_hops(std::vector<std::int32_t> hops, std::vector<std::int32_t> place_of_node);
    /// The socket of each location; kUndefined: not known. Throws std::invalid_argument where they do not fit.
    void set_sockets(std::span<const std::int32_t> sockets);

    bool operator==(const Placement&) const = default;
    [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }
    [[nodiscard]] const Place& operator[](std::size_t location) const noexcept { return places_[location]; }
    [[nodiscard]] Place& operator[](std::size_t location) noexcept { return places_[location]; }
    [[nodiscard]] const std::vector<Place>& places() const noexcept { return places_; }
    /// One more than the largest node.
    [[nodiscard]] std::size_t nodes() const noexcept;

    [[nodiscard]] Locality between(Location a, Location b) const noexcept {
        const auto& one = places_[index(a)];
        const auto& other = places_[index(b)];
        if (a == b || (one.process == other.process && one.process != kUndefined)) {
            return Locality::self;
        }
        if (one.node != other.node) {
            return Locality::other_node;
        }
        return one.socket == other.socket && one.socket != kUndefined ? Locality::same_socket : Locality::same_node;
    }

    /// Links on the way from one location to another; kUndefined: not known.
    [[nodiscard]] std::int32_t hops(Location a, Location b) const noexcept;
    /// As given to `set_hops`.
    [[nodiscard]] const std::vector<std::int32_t>& all_hops() const noexcept { return hops_; }
    [[nodiscard]] const std::vector<std::int32_t>& place_of_node() const noexcept { return place_of_node_; }

  private:
    std::vector<Place> places_;
    std::vector<std::int32_t> hops_;
    std::vector<std::int32_t> place_of_node_;
    std::size_t side_ = 0;  // of the square of hops
};

}  // namespace logpost::replay
