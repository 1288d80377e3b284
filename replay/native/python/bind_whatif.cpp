#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "replay/native/graph/choices.hpp"
#include "replay/native/graph/contention.hpp"
#include "replay/native/graph/outcomes.hpp"
#include "replay/native/graph/reordered.hpp"
#include "replay/native/graph/replay.hpp"
#include "replay/native/graph/stored.hpp"
#include "replay/native/graph/tangents.hpp"
#include "replay/native/memory/threads.hpp"
#include "replay/native/program/surroundings.hpp"
#include "replay/native/python/bindings.hpp"

namespace logpost::replay::bindings {

using namespace nb::literals;

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
nb::object matrix(std::vector<T>&& values, std::size_t rows, std::size_t columns) {
    return array(std::move(values)).attr("reshape")(rows, columns);
}

/// A program's graph and the machine that it ran on.
class WhatIf {
  public:
    /// `recorded`: the network that it ran on, where contention is replayed.
    WhatIf(const Program& program, Parameters machine, const Parameters& planned, const Surroundings* recorded,
           const Surroundings* elsewhere, bool overlapped, bool nics_share, const std::string& stored,
           const std::string& key)
        : overlapped_(overlapped),
          machine_(std::move(machine)),
          there_(elsewhere != nullptr  ? *elsewhere
                 : recorded != nullptr ? Surroundings{program.placement, recorded->network}
                                       : Surroundings{program.placement, {}}) {
        auto graph = build_graph(program, machine_, planned, elsewhere,
                                 recorded == nullptr ? nullptr : &recorded->network, overlapped, nics_share);
        graph.chooses = replay::chooses(program);
        if (!stored.empty()) {
            static_cast<void>(
                store_graph(graph, there_, stored, key));  // where it cannot be written, it is built again
        }
        built_ = std::make_shared<Built>(std::move(graph));
    }

    /// The graph in a file, without its program; none: the file has no such graph.
    static std::optional<WhatIf> stored(const Parameters& machine, const std::string& file, const std::string& key) {
        const nb::gil_scoped_release release;
        auto found = stored_graph(file, key);
        return found ? std::optional(WhatIf(machine, std::move(*found))) : std::nullopt;
    }

    /// The same program, whose NICs take messages in another order; none: they arrive as they did.
    [[nodiscard]] std::optional<WhatIf> reordered(const Program& program, const Parameters& machine, double compute,
                                                  const std::vector<double>& by_location,
                                                  const std::vector<double>& by_callpath) const {
        const nb::gil_scoped_release release;
        auto found =
            replay::reordered(program, graph(), machine_, {machine, compute, by_location, by_callpath}, !overlapped_);
        return found ? std::optional(WhatIf(*this, std::make_shared<Built>(std::move(*found)), there_.network))
                     : std::nullopt;
    }

    /// The same program, in which requests complete in the order that messages arrive in elsewhere: under a setting of
    /// the same program's graph on another network. None: that is the order at hand, or other messages cross that one.
    [[nodiscard]] std::optional<WhatIf> in_order_of(const Program& program, const WhatIf& elsewhere,
                                                    const Parameters& machine, double compute,
                                                    const std::vector<double>& by_location,
                                                    const std::vector<double>& by_callpath) const {
        if (graph().crossings.empty() || graph().crossings.size() != elsewhere.graph().crossings.size()) {
            return std::nullopt;
        }
        const nb::gil_scoped_release release;
        const std::vector<Setting> settings{{machine, compute, by_location, by_callpath}};
        Weights weights(elsewhere.graph(), elsewhere.machine_, settings);
        NetworkUse use;
        static_cast<void>(
            elsewhere.times_of(elsewhere.routes(), weights, settings, 0, use));  // for what it says of the network
        auto found =
            replay::reordered(program, graph(), machine_, {.machine = machine_}, !overlapped_, weights.delays(0));
        return found ? std::optional(WhatIf(*this, std::make_shared<Built>(std::move(*found)), there_.network))
                     : std::nullopt;
    }

    /// The same program on links of other bandwidths; none: it would run in other places, and its graph is another one.
    [[nodiscard]] std::optional<WhatIf> on_links(const Surroundings& elsewhere) const {
        return elsewhere.placement == there_.placement ? std::optional(WhatIf(*this, built_, elsewhere.network))
                                                       : std::nullopt;
    }

    [[nodiscard]] const Graph& graph() const noexcept { return built_->graph; }
    [[nodiscard]] std::size_t bytes() const noexcept { return graph().bytes() + points().bytes(); }

    /// Factors: a row per machine, a column per location or callpath. `recorded`: the machine of which nothing is
    /// changed; -1: none.
    nb::dict replay(const std::vector<Parameters>& machines, const In<double>& compute, const Matrix& by_location,
                    const Matrix& by_callpath, std::ptrdiff_t recorded) const {
        const auto settings = settings_of(machines, compute, by_location, by_callpath);
        const auto lanes = settings.size();
        std::vector<NetworkUse> uses(lanes);
        std::vector<LaneOutcome> outcomes;
        {
            const nb::gil_scoped_release release;
            Weights weights(graph(), machine_, settings);
            outcomes = graph().crossings.empty() ? replay::outcomes(graph(), weights, settings)
                                                 : contended(weights, settings, uses, recorded);
        }
        auto found = results(outcomes);
        found["network"] = of_network(uses);
        return found;
    }

    /// The makespans alone; the same of a machine, in less time and memory.
    nb::object makespans(const std::vector<Parameters>& machines, const In<double>& compute, const Matrix& by_location,
                         const Matrix& by_callpath, unsigned threads, bool released) const {
        const auto settings = settings_of(machines, compute, by_location, by_callpath);
        std::vector<std::int64_t> found;
        {
            const nb::gil_scoped_release release;
            Weights weights(graph(), machine_, settings);
            found = graph().crossings.empty()
                        ? weights.makespans(threads, released)
                        : makespans_with_contention(graph(), points(), routes(), settings, weights, threads);
        }
        return array(std::move(found));
    }

    [[nodiscard]] bool sends_never_wait(const Parameters& machine, double compute,
                                        const std::vector<double>& by_location, const std::vector<double>& by_callpath,
                                        bool far) const {
        return replay::sends_never_wait(graph(), machine_, {machine, compute, by_location, by_callpath}, far);
    }

    /// Lines that touch the makespan at each x: makespan, slope and count, a row each.
    nb::object tangents(const Parameters& at_zero, const Parameters& step, const Parameters& unit, double compute,
                        const In<double>& by_location, const In<double>& by_callpath, const In<double>& x,
                        unsigned threads) const {
        if (by_location.size() != graph().begins.size() || by_callpath.size() != graph().callpaths) {
            throw std::invalid_argument("a factor per location and callpath is needed");
        }
        if (!graph().crossings.empty()) {
            throw std::invalid_argument("with contention, the makespan has no tangents from below");
        }
        const auto values = [](const In<double>& of) { return std::vector<double>(of.data(), of.data() + of.size()); };
        const Direction direction{{at_zero, compute, values(by_location), values(by_callpath)}, step, unit};
        std::vector<double> rows;
        {
            const nb::gil_scoped_release release;
            for (const auto& one : replay::tangents(graph(), machine_, direction, {x.data(), x.size()}, threads)) {
                rows.insert(rows.end(), {one.makespan_ps, one.slope, one.count});
            }
        }
        return matrix(std::move(rows), x.size(), 3);
    }

    /// The times of all calls, by location and call, under one setting. Factors that are not given are 1.
    nb::tuple times(const Parameters& machine, double compute, const std::vector<double>& by_location,
                    const std::vector<double>& by_callpath, bool unexplained) const {
        const std::vector<Setting> settings{{machine, compute, by_location, by_callpath, unexplained}};
        std::vector<std::int64_t> enters, leaves;
        {
            const nb::gil_scoped_release release;
            Weights weights(graph(), machine_, settings);
            NetworkUse use;
            const auto of_calls = [&](const auto& times) {
                for (std::size_t call = 0; call < graph().enters.size(); ++call) {
                    enters.push_back(times[graph().enters[call]]);
                    leaves.push_back(times[graph().leaves[call]]);
                }
            };
            if (graph().crossings.empty()) {
                of_calls(weights.times());
            } else {
                of_calls(times_of(routes(), weights, settings, 0, use));
            }
        }
        return nb::make_tuple(array(std::move(enters)), array(std::move(leaves)));
    }

  private:
    /// What does not depend on how fast links are.
    struct Built {
        explicit Built(Graph&& of)
            : graph(std::move(of)), points(graph.crossings.empty() ? SyncPoints{} : sync_points_of(graph)) {}
        Graph graph;
        SyncPoints points;  // where messages contend
    };

    WhatIf(Parameters machine, PlacedGraph&& found)
        : machine_(std::move(machine)),
          there_(std::move(found.ran)),
          built_(std::make_shared<Built>(std::move(found.graph))) {}

    WhatIf(const WhatIf& of, std::shared_ptr<const Built> built, Network network)
        : overlapped_(of.overlapped_),
          machine_(of.machine_),
          there_{of.there_.placement, std::move(network)},
          built_(std::move(built)) {}

    /// The times of all nodes in one lane, with contention.
    [[nodiscard]] HugeColumn<std::int64_t> times_of(const Routes& over, Weights& weights,
                                                    const std::vector<Setting>& settings, std::size_t lane,
                                                    NetworkUse& use) const {
        return times_with_contention(graph(), points(), over, settings[lane], weights, lane, use);
    }
    [[nodiscard]] Routes routes() const { return {graph(), there_.placement, there_.network}; }

    /// By lane; the times of a lane are there while a thread is at it.
    [[nodiscard]] std::vector<LaneOutcome> contended(Weights& weights, const std::vector<Setting>& settings,
                                                     std::vector<NetworkUse>& uses, std::ptrdiff_t recorded) const {
        std::vector<LaneOutcome> outcomes(settings.size());
        const auto sources = sources_of(graph());
        const auto over = routes();
        for_each_parallel(settings.size(), std::thread::hardware_concurrency(), 1, [&](std::size_t lane, unsigned) {
            const bool known = static_cast<std::ptrdiff_t>(lane) == recorded && graph().use.messages > 0;
            const auto times =
                known ? recorded_times(graph(), weights, lane) : times_of(over, weights, settings, lane, uses[lane]);
            if (known) {
                uses[lane] = graph().use;
            }
            outcomes[lane] = outcome_of(graph(), sources, weights, settings, times, lane);
            weights.set_delays(lane, {});  // of as many lanes as threads at a time
        });
        return outcomes;
    }

    /// By lane: messages between nodes, how many waited, the sum of their waits in the network, and by link how long
    /// it was busy and what waited for it. Empty where contention is not replayed.
    [[nodiscard]] nb::list of_network(std::vector<NetworkUse>& uses) const {
        nb::list result;
        for (auto& use : uses) {
            if (graph().crossings.empty()) {
                break;
            }
            nb::dict d;
            d["messages"] = use.messages;
            d["delayed"] = use.delayed;
            d["turns"] = use.turns;
            d["waited_ps"] = (nb::int_(static_cast<std::int64_t>(use.total_ps >> 64U)) << nb::int_(64)) +
                             nb::int_(static_cast<std::uint64_t>(use.total_ps));
            d["link_busy_ps"] = array(std::move(use.busy_ps));
            d["link_waited_ps"] = array(std::move(use.waited_ps));
            result.append(d);
        }
        return result;
    }

    [[nodiscard]] std::vector<Setting> settings_of(const std::vector<Parameters>& machines, const In<double>& compute,
                                                   const Matrix& by_location, const Matrix& by_callpath) const {
        const auto lanes = machines.size();
        if (compute.size() != lanes || by_location.shape(0) != lanes || by_callpath.shape(0) != lanes ||
            by_location.shape(1) != graph().begins.size() || by_callpath.shape(1) != graph().callpaths) {
            throw std::invalid_argument("a factor per machine, and per location and callpath, is needed");
        }
        std::vector<Setting> settings;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const auto row = [&](const Matrix& of) {
                const auto* begin = of.data() + lane * of.shape(1);
                return std::vector<double>(begin, begin + of.shape(1));
            };
            settings.push_back({machines[lane], compute(lane), row(by_location), row(by_callpath)});
        }
        return settings;
    }

    nb::dict results(const std::vector<LaneOutcome>& outcomes) const {
        std::vector<std::int64_t> makespans, parts, compute, early, shorter, moved, waited_more, by_location, ends;
        std::vector<WidePs> in_calls, between_calls;
        std::vector<double> sensitivities;
        std::vector<std::uint64_t> steps;
        for (const auto& outcome : outcomes) {
            const auto& path = outcome.path;
            ends.insert(ends.end(), outcome.ends_ps.begin(), outcome.ends_ps.end());
            in_calls.insert(in_calls.end(), outcome.in_calls_ps.begin(), outcome.in_calls_ps.end());
            between_calls.insert(between_calls.end(), outcome.between_calls_ps.begin(), outcome.between_calls_ps.end());
            makespans.push_back(path.makespan_ps);
            parts.insert(parts.end(), path.parts.begin(), path.parts.end());
            compute.push_back(path.compute_ps);
            early.push_back(path.early_ps);
            shorter.push_back(path.short_ps);
            moved.push_back(path.moved_ps);
            waited_more.insert(waited_more.end(), {path.waited_more_ps.leaving, path.waited_more_ps.arriving});
            by_location.insert(by_location.end(), path.compute_by_location.begin(), path.compute_by_location.end());
            for (const auto& one : path.sensitivities) {
                const std::array<double, 5> values{one.L, one.o_s, one.o_r, one.g, one.G};
                sensitivities.insert(sensitivities.end(), values.begin(), values.end());
            }
            steps.push_back(path.changes_of_location);
        }
        const auto lanes = outcomes.size();
        const auto locations = graph().begins.size();
        nb::dict d;
        d["makespan_ps"] = array(std::move(makespans));
        d["path_ps"] = matrix(std::move(parts), lanes, kPathParts);
        d["path_compute_ps"] = array(std::move(compute));
        d["path_early_ps"] = array(std::move(early));
        d["path_short_ps"] = array(std::move(shorter));
        d["path_moved_ps"] = array(std::move(moved));
        d["path_waited_more_ps"] = matrix(std::move(waited_more), lanes, 2);
        d["path_compute_by_location_ps"] = matrix(std::move(by_location), lanes, locations);
        d["path_messages"] = array(std::move(steps));
        d["sensitivities"] = array(std::move(sensitivities)).attr("reshape")(lanes, kLocalities, 5);
        d["ends_ps"] = matrix(std::move(ends), lanes, locations);
        d["in_calls_ps"] = wide_column(in_calls, std::identity{}).attr("reshape")(lanes, 2 * graph().callpaths);
        d["between_calls_ps"] =
            wide_column(between_calls, std::identity{}).attr("reshape")(lanes, 2 * graph().callpaths);
        return d;
    }

    [[nodiscard]] const SyncPoints& points() const noexcept { return built_->points; }

    bool overlapped_ = false;
    Parameters machine_;
    Surroundings there_;
    std::shared_ptr<const Built> built_;
};

void make_whatif(WhatIf* self, const Program& program, const Parameters& machine, const Parameters& planned,
                 const Surroundings* recorded, const Surroundings* elsewhere, bool overlapped, bool nics_share,
                 const std::string& stored, const std::string& key) {
    const nb::gil_scoped_release release;
    new (self) WhatIf(program, machine, planned, recorded, elsewhere, overlapped, nics_share, stored, key);
}

}  // namespace

void bind_whatif(nb::module_& module) {
    module.def(
        "path_parts", [] { return std::vector<std::string>(kPathPartNames.begin(), kPathPartNames.end()); },
        "Names of what a critical path consists of, by code.");
    nb::exception<CycleError>(module, "CycleError", PyExc_ValueError);
    nb::class_<WhatIf>(module, "WhatIf", "A program's dependency graph, calibrated on the machine that it ran on.")
        .def("__init__", &make_whatif, "program"_a, "machine"_a, "planned"_a, "recorded"_a.none() = nb::none(),
             "elsewhere"_a.none() = nb::none(), "overlapped"_a = false, "nics_share"_a = false, "stored"_a = "",
             "key"_a = "",
             nb::sig("def __init__(self, program: Program, machine: Parameters, planned: Parameters, "
                     "recorded: Surroundings | None = None, elsewhere: Surroundings | None = None, "
                     "overlapped: bool = False, nics_share: bool = False, stored: str = '', key: str = '') -> None"),
             "A program that ran on `machine`, planned as `planned` has protocols. With `recorded`, the network that "
             "it ran on, contention is replayed. `elsewhere`: where it would run, if not where it ran. "
             "`overlapped`: what is computed behind a Wait is before it. `nics_share`: messages share their "
             "sender's "
             "NIC, and do not take turns at it. `stored`: a file into which the graph is written, under this key.")
        .def_static("stored", &WhatIf::stored, "machine"_a, "file"_a, "key"_a,
                    nb::sig("def stored(machine: Parameters, file: str, key: str) -> WhatIf | None"),
                    "The graph that a file has under this key, of the program as it ran, without the program; None: it "
                    "has none.")
        .def_prop_ro("nodes", [](const WhatIf& self) { return self.graph().nodes(); })
        .def_prop_ro("edges", [](const WhatIf& self) { return self.graph().arcs.size(); })
        .def_prop_ro("calls", [](const WhatIf& self) { return self.graph().enters.size(); })
        .def_prop_ro("bytes", [](const WhatIf& self) { return self.bytes(); })
        .def_prop_ro("rebuilt", [](const WhatIf& self) { return self.graph().rebuilt; })
        .def_prop_ro(
            "library",
            [](const WhatIf& self) {
                nb::list found;
                for (const auto& one : self.graph().library) {
                    found.append(nb::make_tuple(one.value, one.stated, one.places, one.observations,
                                                std::vector<std::uint64_t>(one.agree.begin(), one.agree.end())));
                }
                return found;
            },
            nb::sig("def library(self) -> list[tuple[int, bool, int, int, list[int]]]"),
            "By property of the library: the alternative that it has, whether a profile states it, in how many places "
            "alternatives differ, the trace's observations of it, and how many of them each alternative allows.")
        .def_prop_ro(
            "network_fit",
            [](const WhatIf& self) {
                const auto& fit = self.graph().fit;
                const auto waits = [](const NetworkWaits<WidePs>& of) {
                    return nb::make_tuple(static_cast<double>(of.leaving), static_cast<double>(of.arriving));
                };
                return nb::make_tuple(waits(fit.confirmed_ps), waits(fit.contradicted_ps),
                                      static_cast<double>(fit.unexplained_ps), fit.turns);
            },
            nb::sig("def network_fit(self) -> tuple[tuple[float, float], tuple[float, float], float, int]"),
            "Where it contends: waits by the model that the recorded times confirm, waits that they contradict, and "
            "time of messages beyond the model; sums in ps, of waits until messages have left and for the receiver's "
            "NIC. And how many messages start at another time where NICs are shared, and where they take turns there.")
        .def_prop_ro(
            "contends", [](const WhatIf& self) { return !self.graph().crossings.empty(); },
            "Whether messages wait for links: the makespan is then no convex function of a parameter.")
        .def_prop_ro(
            "chooses", [](const WhatIf& self) { return self.graph().chooses; },
            "Whether calls take what arrives first: in which order requests complete depends on the machine.")
        .def("replay", &WhatIf::replay, "machines"_a, "compute"_a, "by_location"_a, "by_callpath"_a, "recorded"_a = -1,
             nb::sig("def replay(self, machines: list[Parameters], compute: numpy.ndarray, by_location: numpy.ndarray, "
                     "by_callpath: numpy.ndarray, recorded: int = -1) -> dict[str, typing.Any]"),
             "Makespans, critical paths and sums, a row per machine. `recorded`: the row in which the program runs as "
             "it ran; -1: none.")
        .def("makespans", &WhatIf::makespans, "machines"_a, "compute"_a, "by_location"_a, "by_callpath"_a, "threads"_a,
             "released"_a,
             nb::sig("def makespans(self, machines: list[Parameters], compute: numpy.ndarray, "
                     "by_location: numpy.ndarray, by_callpath: numpy.ndarray, threads: int, released: bool) "
                     "-> numpy.ndarray"),
             "Makespans, by machine; released: a message does not wait for one that arrives at a NIC after it; no "
             "matter "
             "where "
             "messages contend, and NICs take them as they arrive.")
        .def("reordered", &WhatIf::reordered, "program"_a, "machine"_a, "compute"_a = 1.0,
             "by_location"_a = std::vector<double>{}, "by_callpath"_a = std::vector<double>{},
             nb::sig("def reordered(self, program: Program, machine: Parameters, compute: float = 1.0, "
                     "by_location: list[float] = [], by_callpath: list[float] = []) -> WhatIf | None"),
             "The program whose NICs take messages in the order in which they arrive under a setting; None: in the "
             "order "
             "in which they arrived.")
        .def(
            "in_order_of", &WhatIf::in_order_of, "program"_a, "elsewhere"_a, "machine"_a, "compute"_a = 1.0,
            "by_location"_a = std::vector<double>{}, "by_callpath"_a = std::vector<double>{},
            nb::sig(
                "def in_order_of(self, program: Program, elsewhere: WhatIf, machine: Parameters, compute: float = 1.0, "
                "by_location: list[float] = [], by_callpath: list[float] = []) -> WhatIf | None"),
            "The program, in which requests complete in the order in which messages arrive elsewhere under a setting; "
            "None: that is the order of their arrival, or contention is not replayed.")
        .def("sends_never_wait", &WhatIf::sends_never_wait, "machine"_a, "compute"_a, "by_location"_a, "by_callpath"_a,
             "far"_a,
             nb::sig("def sends_never_wait(self, machine: Parameters, compute: float, by_location: list[float], "
                     "by_callpath: list[float], far: bool) -> bool"),
             "Whether no eager send within nodes (`far`: between them) waits for the message before it, did the "
             "library's sends wait: the program's replay is then the same.")
        .def("on_links", &WhatIf::on_links, "elsewhere"_a,
             nb::sig("def on_links(self, elsewhere: Surroundings) -> WhatIf | None"),
             "The program in the same places, on links of other bandwidths; None: these are other places.")
        .def("tangents", &WhatIf::tangents, "at_zero"_a, "step"_a, "unit"_a, "compute"_a, "by_location"_a,
             "by_callpath"_a, "x"_a, "threads"_a,
             nb::sig("def tangents(self, at_zero: Parameters, step: Parameters, unit: Parameters, compute: float, "
                     "by_location: numpy.ndarray, by_callpath: numpy.ndarray, x: numpy.ndarray, threads: int) "
                     "-> numpy.ndarray"),
             "Makespan, slope and count of a longest path at each x of the machine at_zero + x step. Not where it "
             "`contends`.")
        .def("times", &WhatIf::times, "machine"_a, "compute"_a = 1.0, "by_location"_a = std::vector<double>{},
             "by_callpath"_a = std::vector<double>{}, "unexplained"_a = true,
             nb::sig("def times(self, machine: Parameters, compute: float = 1.0, by_location: list[float] = [], "
                     "by_callpath: list[float] = [], unexplained: bool = True) -> tuple[numpy.ndarray, numpy.ndarray]"),
             "Enters and leaves of all calls, by location and call; an empty list of factors: 1 each. Without "
             "`unexplained`, calls that move data last neither what the machine says nor what no model explains.");
}

}  // namespace logpost::replay::bindings
