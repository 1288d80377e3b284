#include "replay/native/python/bind_surroundings.hpp"

#include <algorithm>
#include <stdexcept>

#include "replay/native/program/surroundings.hpp"

namespace logpost::replay::bindings {

using namespace nb::literals;

void set_places(Placement& placement, const In<std::int32_t>& sockets, const In<std::int32_t>& place_of_node,
                const In<std::int32_t>& hops) {
    placement.set_sockets({sockets.data(), sockets.size()});
    placement.set_hops({hops.data(), hops.data() + hops.size()},
                       {place_of_node.data(), place_of_node.data() + place_of_node.size()});
}

namespace {

class Pairs {
  public:
    explicit Pairs(const Placement& placement) : placement_(placement) {}

    void add(std::int32_t from, std::int32_t to) {
        if (from < 0 || to < 0) {
            return;
        }
        const auto one = placement_[static_cast<std::size_t>(from)].node;
        const auto other = placement_[static_cast<std::size_t>(to)].node;
        const auto key = Network::key_of(one, other);
        if (one != kUndefined && other != kUndefined && one != other && (keys_.empty() || keys_.back() != key)) {
            keys_.push_back(key);
        }
    }
    void settle() {
        std::ranges::sort(keys_);
        const auto doubled = std::ranges::unique(keys_);
        keys_.erase(doubled.begin(), doubled.end());
    }
    [[nodiscard]] const std::vector<std::uint64_t>& keys() const noexcept { return keys_; }

  private:
    const Placement& placement_;
    std::vector<std::uint64_t> keys_;
};

}  // namespace

nb::tuple node_pairs(const Program& program, const Placement& placement, bool collectives) {
    Pairs pairs(placement);
    for (std::size_t l = 0; l < program.timelines.size(); ++l) {
        program.timelines[l].receives.for_each([&](std::size_t, const MessageEnd& receive) {
            if (receive.match != kNone) {
                pairs.add(number(receive.peer), static_cast<std::int32_t>(l));
            }
        });
        pairs.settle();
    }
    for (const auto& members : program.members) {
        for (std::size_t apart = 1; collectives && apart < members.size(); apart *= 2) {
            for (std::size_t i = 0; i < members.size(); ++i) {
                const auto one = number(members[i]);
                const auto other = number(members[(i + apart) % members.size()]);
                pairs.add(one, other);
                pairs.add(other, one);
            }
        }
        pairs.settle();
    }
    std::vector<std::int32_t> from;
    std::vector<std::int32_t> to;
    for (const auto key : pairs.keys()) {
        from.push_back(static_cast<std::int32_t>(key >> 32U));
        to.push_back(static_cast<std::int32_t>(key & 0xffffffffU));
    }
    return nb::make_tuple(array(std::move(from)), array(std::move(to)));
}

Network network_of(const In<std::int32_t>& from, const In<std::int32_t>& to, const In<std::int32_t>& hops,
                   std::size_t dimensions, const In<std::int64_t>& route_begin, const In<std::int32_t>& route,
                   std::int32_t links, double byte_ps, const In<double>& narrow_byte_ps,
                   const In<double>& dimension_byte_ps, double channels) {
    if (from.size() != to.size()) {
        throw std::invalid_argument("every pair of nodes has two ends");
    }
    Network network;
    for (std::size_t i = 0; i < from.size(); ++i) {
        network.pairs.push_back(Network::key_of(from.data()[i], to.data()[i]));
    }
    network.dimensions = dimensions;
    network.hops.assign(hops.data(), hops.data() + hops.size());
    for (std::size_t i = 0; i < route_begin.size(); ++i) {
        network.route_begin.push_back(static_cast<std::uint32_t>(route_begin.data()[i]));
    }
    network.route.assign(route.data(), route.data() + route.size());
    network.links = links;
    network.byte_ps = byte_ps;
    network.narrow_byte_ps.assign(narrow_byte_ps.data(), narrow_byte_ps.data() + narrow_byte_ps.size());
    network.dimension_byte_ps.assign(dimension_byte_ps.data(), dimension_byte_ps.data() + dimension_byte_ps.size());
    network.channels = channels;
    check(network);
    return network;
}

namespace {

/// Where a program could run, or did: at first, where it did, without a network.
class PlacedProgram : public Surroundings {
  public:
    explicit PlacedProgram(const Program& program) : Surroundings{program.placement, {}}, program_(program) {}

    void set_nodes(const In<std::int32_t>& nodes) {
        if (nodes.size() != placement.size()) {
            throw std::invalid_argument("nodes must be given for every location");
        }
        for (std::size_t l = 0; l < placement.size(); ++l) {
            placement[l].node = nodes.data()[l];
        }
    }
    void place(const In<std::int32_t>& sockets, const In<std::int32_t>& place_of_node, const In<std::int32_t>& hops) {
        set_places(placement, sockets, place_of_node, hops);
    }
    [[nodiscard]] nb::tuple pairs() const { return node_pairs(program_, placement, true); }
    void set_network(const In<std::int32_t>& from, const In<std::int32_t>& to, const In<std::int32_t>& hops,
                     std::size_t dimensions, const In<std::int64_t>& route_begin, const In<std::int32_t>& route,
                     std::int32_t links, double byte_ps, const In<double>& narrow_byte_ps,
                     const In<double>& dimension_byte_ps, double channels) {
        network = network_of(from, to, hops, dimensions, route_begin, route, links, byte_ps, narrow_byte_ps,
                             dimension_byte_ps, channels);
    }

  private:
    const Program& program_;
};

}  // namespace

void bind_surroundings(nb::module_& module) {
    nb::class_<Surroundings>(module, "Place");
    nb::class_<PlacedProgram, Surroundings>(
        module, "Surroundings", "Where a program could run: at first where it did, on a network that is not known.")
        .def(nb::init<const Program&>(), "program"_a, nb::keep_alive<1, 2>())
        .def_prop_ro("known", [](const PlacedProgram& self) { return self.network.known(); })
        .def("set_nodes", &PlacedProgram::set_nodes, "nodes"_a,
             nb::sig("def set_nodes(self, nodes: logpost.replay.columns.Int32) -> None"),
             "Puts each location on a node; the ranks of a node share its NICs.")
        .def("place", &PlacedProgram::place, "sockets"_a, "place_of_node"_a, "hops"_a,
             nb::sig("def place(self, sockets: logpost.replay.columns.Int32, place_of_node: "
                     "logpost.replay.columns.Int32, hops: logpost.replay.columns.Int32) -> None"),
             "As Program.place.")
        .def("node_pairs", &PlacedProgram::pairs,
             nb::sig("def node_pairs(self) -> tuple[logpost.replay.columns.Int32, logpost.replay.columns.Int32]"),
             "As Program.node_pairs, and the pairs that may exchange messages in collective operations.")
        .def("set_network", &PlacedProgram::set_network, "sender"_a, "receiver"_a, "hops"_a, "dimensions"_a,
             "route_begin"_a, "route"_a, "links"_a, "byte_ps"_a, "narrow_byte_ps"_a, "dimension_byte_ps"_a,
             "channels"_a,
             nb::sig(
                 "def set_network(self, sender: logpost.replay.columns.Int32, receiver: logpost.replay.columns.Int32, "
                 "hops: logpost.replay.columns.Int32, dimensions: int, route_begin: logpost.replay.columns.Int64, "
                 "route: logpost.replay.columns.Int32, links: int, byte_ps: float, "
                 "narrow_byte_ps: logpost.replay.columns.Float64, dimension_byte_ps: logpost.replay.columns.Float64, "
                 "channels: float) -> None"),
             "As Program.set_network.");
}

}  // namespace logpost::replay::bindings
