/// Schedules in GOAL's text form, under the rules of LogGOPSim.

#include <nanobind/stl/filesystem.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <unordered_map>
#include <vector>

#include "replay/native/cost/cost.hpp"
#include "replay/native/goal/loggopsim.hpp"
#include "replay/native/program/placement.hpp"
#include "replay/native/python/bindings.hpp"

namespace logpost::replay::bindings {

using namespace nb::literals;

namespace {

/// A machine's costs of messages from rank to rank, each of which is computed once.
class GoalCosts {
  public:
    GoalCosts(const Parameters& machine, const std::vector<std::int32_t>& nodes,
              const std::vector<std::int32_t>& sockets)
        : machine_(machine) {
        std::vector<Place> places;
        for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
            const auto number = static_cast<std::int32_t>(rank);
            places.push_back({.process = number, .socket = sockets[rank], .node = nodes[rank], .rank = Rank{number}});
        }
        placement_ = Placement(std::move(places));
    }

    GoalCost operator()(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
        const auto locality = placement_.size() == 0 ? Locality::other_node
                                                     : placement_.between(Location{static_cast<std::int32_t>(from)},
                                                                          Location{static_cast<std::int32_t>(to)});
        auto& known = known_[static_cast<std::size_t>(locality)];
        if (const auto found = known.find(bytes); found != known.end()) {
            return found->second;
        }
        // A message without data costs as much as one of a byte: LogGOPSim takes s - 1.
        const auto size = std::max<std::uint64_t>(bytes, 1);
        const auto cost = message_cost(machine_, locality, size, {}, 1, -1);
        const auto& of = machine_.localities[static_cast<std::size_t>(locality)];
        const auto& range = of.ranges[of.range_of(static_cast<double>(size))];
        return known
            .try_emplace(bytes, GoalCost{.L = cost.L,
                                         .o_s = cost.o_s + cost.l_mw / 2,
                                         .o_r = cost.o_r + cost.l_mw - cost.l_mw / 2,
                                         .serialization = cost.serialization,
                                         .g = std::llround(range.g),
                                         .rendezvous = cost.rendezvous})
            .first->second;
    }

  private:
    const Parameters& machine_;
    Placement placement_;
    std::array<std::unordered_map<std::uint64_t, GoalCost>, kLocalities> known_;
};

}  // namespace

void bind_goal(nb::module_& module) {
    nb::exception<GoalError>(module, "GoalError", PyExc_ValueError);
    nb::exception<UnmatchedError>(module, "UnmatchedError", PyExc_ValueError);
    nb::class_<GoalSchedule>(module, "GoalSchedule", "A schedule in GOAL's text form.")
        .def(
            "__init__",
            [](GoalSchedule* self, const std::filesystem::path& file) {
                const nb::gil_scoped_release release;
                new (self) GoalSchedule(read_goal(file));
            },
            "file"_a, nb::sig("def __init__(self, file: str | os.PathLike[str]) -> None"),
            "Reads it. Raises GoalError where the file is none.")
        .def_prop_ro("ranks", [](const GoalSchedule& self) { return self.ranks.size(); })
        .def(
            "loggopsim_times",
            [](const GoalSchedule& self, const Parameters& machine, std::int64_t unit_ps,
               const std::vector<std::int32_t>& nodes, const std::vector<std::int32_t>& sockets) {
                if (!nodes.empty() && (nodes.size() != self.ranks.size() || sockets.size() != nodes.size())) {
                    throw std::invalid_argument("every rank has a node and a socket, or none has");
                }
                std::vector<std::int64_t> found;
                {
                    const nb::gil_scoped_release release;
                    GoalCosts costs(machine, nodes, sockets);
                    found =
                        loggopsim_times(self, unit_ps, [&](std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
                            return costs(from, to, bytes);
                        });
                }
                return array(std::move(found));
            },
            "machine"_a, "unit_ps"_a, "nodes"_a = std::vector<std::int32_t>{},
            "sockets"_a = std::vector<std::int32_t>{},
            nb::sig("def loggopsim_times(self, machine: Parameters, unit_ps: int, nodes: list[int] = [], "
                    "sockets: list[int] = []) -> numpy.ndarray"),
            "When each rank ends under LogGOPSim's rules, in ps; without nodes, each rank is on another node. Raises "
            "UnmatchedError.");
}

}  // namespace logpost::replay::bindings
