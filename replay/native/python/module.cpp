/// The extension module logpost.replay._native: parameters and single messages, and the table of contents of the rest.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "replay/native/cost/cost.hpp"
#include "replay/native/cost/model.hpp"
#include "replay/native/cost/parameters.hpp"
#include "replay/native/python/bindings.hpp"
#include "replay/native/split/fit.hpp"
#include "replay/native/split/partition.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace logpost::replay;

namespace {

using bindings::In;
template <class T>
using OutOf = nb::ndarray<nb::numpy, T>;

template <class T>
OutOf<T> rows_of(std::vector<T>&& values, std::size_t rows, std::size_t columns) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    auto* data = owned->data();
    nb::capsule owner(owned.release(), [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
    return columns == 1 ? OutOf<T>(data, {rows}, owner) : OutOf<T>(data, {rows, columns}, owner);
}

std::vector<double> vector(const In<double>& values) {
    return {values.data(), values.data() + values.size()};
}

Curve curve(const In<double>& x, const In<double>& y, bool continued) {
    return {.x = vector(x), .y = vector(y), .continued = continued};
}

Surface surface(const In<double>& z, const std::vector<Curve>& curves) {
    return {.z = vector(z), .curves = curves};
}

/// The values that `read` gives for each of n places, and whether they lie beyond what was measured.
template <class Read>
nb::tuple readings(std::size_t n, const Read& read) {
    std::vector<double> values(n);
    std::vector<std::uint8_t> beyond(n);
    for (std::size_t i = 0; i < n; ++i) {
        const Reading reading = read(i);
        values[i] = reading.value;
        beyond[i] = reading.beyond_size || reading.beyond_second ? 1 : 0;
    }
    return nb::make_tuple(rows_of(std::move(values), n, 1), rows_of(std::move(beyond), n, 1));
}

Middleware middleware(const std::vector<Surface>& l_mw, const In<double>& block_bytes, const In<double>& alone) {
    Middleware result;
    for (std::size_t i = 0; i < l_mw.size(); ++i) {
        result.tables.push_back({.block_bytes = block_bytes(i), .l_mw = l_mw[i]});
    }
    for (std::size_t i = 0; i + 3 < alone.shape(0); i += 4) {
        result.alone.push_back(
            {.bytes = alone(i), .block_bytes = alone(i + 2), .stride_bytes = alone(i + 1), .l_mw = alone(i + 3)});
    }
    return middleware_tables(std::move(result));
}

Parameters parameters(const In<std::int64_t>& class_start, const In<std::int64_t>& max_bytes, const In<double>& L,
                      const In<double>& o_s, const In<double>& o_s_per_byte, const In<double>& o_r,
                      const In<double>& o_r_per_byte, const In<double>& g, const In<double>& G,
                      const In<std::int64_t>& eager_limit, const In<std::uint8_t>& across_network, int nics_per_node,
                      const std::vector<Surface>& l_mw, const In<double>& block_bytes, const In<double>& l_mw_alone,
                      const std::vector<Surface>& l_mw_self, const In<double>& block_bytes_self,
                      const In<double>& l_mw_alone_self, const Curve& o_mw, const Curve& o_net, const Curve& T_mem,
                      const Surface& o_burst, std::optional<double> G_m, double header_bytes, double per_hop,
                      std::optional<double> mean_hops, bool asynchronous_progress, const std::string& model,
                      double reduction_per_byte, const Curve& put, const Curve& get) {
    const auto named = model_named(model);
    if (!named.has_value()) {
        throw nb::value_error(("no model is called " + model).c_str());
    }
    Parameters result;
    for (std::size_t c = 0; c < kLocalities; ++c) {
        auto& locality = result.localities[c];
        for (auto row = static_cast<std::size_t>(class_start(c)); row < static_cast<std::size_t>(class_start(c + 1));
             ++row) {
            locality.ranges.push_back({.up_to_bytes = static_cast<std::uint64_t>(max_bytes(row)),
                                       .L = L(row),
                                       .o_s = o_s(row),
                                       .o_s_per_byte = o_s_per_byte(row),
                                       .o_r = o_r(row),
                                       .o_r_per_byte = o_r_per_byte(row),
                                       .g = g(row),
                                       .G = G(row)});
        }
        if (eager_limit(c) >= 0) {
            locality.eager_limit = static_cast<std::uint64_t>(eager_limit(c));
        }
        locality.across_network = across_network(c) != 0;
    }
    result.middleware = middleware(l_mw, block_bytes, l_mw_alone);
    result.middleware_self = middleware(l_mw_self, block_bytes_self, l_mw_alone_self);
    result.o_mw = o_mw;
    result.o_net = o_net;
    result.T_mem = T_mem;
    result.o_burst = o_burst;
    if (G_m.has_value()) {
        result.dma = Dma{.G_m = *G_m, .header_bytes = header_bytes};
    }
    result.reduction_per_byte = reduction_per_byte;
    result.put = put;
    result.get = get;
    result.per_hop = per_hop;
    result.mean_hops = mean_hops;
    result.nics_per_node = nics_per_node;
    result.asynchronous_progress = asynchronous_progress;
    return reduced(std::move(result), *named);
}

void state_library(Parameters& machine, const std::vector<std::optional<int>>& stated) {
    if (stated.size() != kLibraryProperties) {
        throw nb::value_error("an alternative, or none, is needed of each property of a library");
    }
    for (std::size_t i = 0; i < kLibraryProperties; ++i) {
        const bool known = !stated[i] || (*stated[i] >= 0 && *stated[i] < static_cast<int>(kMostAlternatives) &&
                                          !kAlternativeNames[i][static_cast<std::size_t>(*stated[i])].empty());
        if (!known) {
            throw nb::value_error("a property of a library has no alternative of this code");
        }
        machine.library[i] =
            stated[i] ? std::optional<std::uint8_t>(static_cast<std::uint8_t>(*stated[i])) : std::nullopt;
    }
}

nb::tuple costs(const Parameters& machine, const In<std::uint8_t>& locality, const In<double>& bytes,
                const In<double>& block, const In<double>& stride, const In<double>& burst, const In<double>& hops) {
    constexpr std::size_t kTerms = 8;
    constexpr std::size_t kFlags = 3;
    const std::size_t n = bytes.size();
    std::vector<double> values(n * kTerms);
    std::vector<std::uint8_t> flags(n * kFlags);
    for (std::size_t i = 0; i < n; ++i) {
        const auto terms = cost_terms(machine, static_cast<Locality>(locality(i)),
                                      {.bytes = bytes(i),
                                       .block_bytes = block(i),
                                       .stride_bytes = stride(i),
                                       .burst = burst(i),
                                       .hops = hops(i)});
        const std::array<double, kTerms> row{terms.o_s,           terms.o_r,     terms.l_mw,      terms.L,
                                             terms.serialization, terms.service, terms.o_control, terms.L_control};
        std::ranges::copy(row, values.begin() + static_cast<std::ptrdiff_t>(i * kTerms));
        flags[i * kFlags] = terms.rendezvous ? 1 : 0;
        flags[i * kFlags + 1] = terms.beyond_sizes ? 1 : 0;
        flags[i * kFlags + 2] = terms.beyond_strides ? 1 : 0;
    }
    return nb::make_tuple(rows_of(std::move(values), n, kTerms), rows_of(std::move(flags), n, kFlags));
}

OutOf<std::int64_t> ranges(const Parameters& machine, int locality, const In<double>& bytes) {
    const auto& here = machine.localities.at(static_cast<std::size_t>(locality));
    std::vector<std::int64_t> rows(bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        rows[i] = static_cast<std::int64_t>(here.range_of(bytes(i)));
    }
    return rows_of(std::move(rows), bytes.size(), 1);
}

nb::tuple split(const Parameters& machine, const In<std::int64_t>& s0, const In<std::int64_t>& s1,
                const In<std::int64_t>& sw0, const In<std::int64_t>& r0, const In<std::int64_t>& rw0,
                const In<std::int64_t>& rw1, const In<std::uint64_t>& bytes, const In<std::uint8_t>& locality,
                const In<std::int64_t>& stride, const In<std::uint64_t>& block,
                const nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& waits) {
    const std::size_t n = s0.size();
    std::vector<std::int64_t> parts(n * kParts);
    std::vector<std::int64_t> deficits(n);
    for (std::size_t i = 0; i < n; ++i) {
        const MessageTimes times{s0(i), s1(i), r0(i), rw0(i), rw1(i)};
        const auto stages = message_cost(machine, static_cast<Locality>(locality(i)), bytes(i),
                                         {.block_bytes = block(i), .stride_bytes = stride(i)});
        const MessageWaits wait{waits(i, 0), waits(i, 1), waits(i, 2), waits(i, 3), waits(i, 4), waits(i, 5)};
        const auto facts = handshake(
            times, sw0(i), stages, machine.asynchronous_progress, [&](std::int64_t) { return times.rw0; },
            [&](std::int64_t) { return sw0(i); });
        const auto result = partition(times, stages, wait, facts);
        const auto totals = result.totals();
        std::copy(totals.begin(), totals.end(), parts.begin() + static_cast<std::ptrdiff_t>(i * kParts));
        deficits[i] = result.deficit_ps;
    }
    return nb::make_tuple(rows_of(std::move(parts), n, kParts), rows_of(std::move(deficits), n, 1));
}

nb::tuple fit_stages(std::int64_t duration, const std::vector<std::int64_t>& wanted, const std::vector<int>& tiers) {
    std::vector<Stage> stages;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        stages.push_back({.wanted_ps = wanted[i], .tier = static_cast<std::uint8_t>(tiers[i])});
    }
    const auto result = fit(duration, stages);
    std::vector<std::int64_t> granted;
    for (const auto& stage : stages) {
        granted.push_back(stage.granted_ps);
    }
    return nb::make_tuple(granted, result.residual_ps, result.deficit_ps);
}

}  // namespace

NB_MODULE(_native, module) {
    module.doc() = "Native core of logpost.replay.";
    // Tables may live as long as the process.
    nb::set_leak_warnings(false);
    nb::class_<Curve>(module, "Curve", "y(x) through measured points.")
        .def(nb::new_(&curve), "x"_a, "y"_a, "continued"_a)
        .def(
            "at",
            [](const Curve& self, const In<double>& x) {
                return readings(x.size(), [&](std::size_t i) { return self.at(x(i)); });
            },
            "x"_a,
            nb::sig("def at(self, x: logpost.replay.columns.Float64) "
                    "-> tuple[logpost.replay.columns.Float64, logpost.replay.columns.UInt8]"),
            "Values, and 1 where x lies beyond the last point.");
    nb::class_<Surface>(module, "Surface", "y(x, z): a curve for each measured z.")
        .def(nb::new_(&surface), "z"_a, "curves"_a)
        .def(
            "at",
            [](const Surface& self, const In<double>& x, const In<double>& z) {
                return readings(x.size(), [&](std::size_t i) { return self.at(x(i), z(i)); });
            },
            "x"_a, "z"_a,
            nb::sig("def at(self, x: logpost.replay.columns.Float64, z: logpost.replay.columns.Float64) "
                    "-> tuple[logpost.replay.columns.Float64, logpost.replay.columns.UInt8]"),
            "Values, and 1 where x or z lies beyond the last point.");
    nb::class_<Parameters>(module, "Parameters", "What a machine says of messages to a model, in picoseconds.")
        .def(nb::new_(&parameters), "class_start"_a, "max_bytes"_a, "L"_a, "o_s"_a, "o_s_per_byte"_a, "o_r"_a,
             "o_r_per_byte"_a, "g"_a, "G"_a, "eager_limit"_a, "across_network"_a, "nics_per_node"_a, "l_mw"_a,
             "block_bytes"_a, "l_mw_alone"_a, "l_mw_self"_a, "block_bytes_self"_a, "l_mw_alone_self"_a, "o_mw"_a,
             "o_net"_a, "T_mem"_a, "o_burst"_a, "G_m"_a.none(), "header_bytes"_a, "per_hop"_a, "mean_hops"_a.none(),
             "asynchronous_progress"_a, "model"_a, "reduction_per_byte"_a = 0.0, "put"_a = Curve{}, "get"_a = Curve{})
        .def_prop_rw(
            "library",
            [](const Parameters& self) {
                std::vector<std::optional<int>> stated;
                for (const auto& one : self.library) {
                    stated.push_back(one ? std::optional<int>(*one) : std::nullopt);
                }
                return stated;
            },
            &state_library, nb::for_getter(nb::sig("def library(self) -> list[int | None]")),
            nb::for_setter(nb::sig("def library(self, stated: list[int | None], /) -> None")),
            "The alternative of each property of the library that a profile states; None: it does not.")
        .def_prop_ro(
            "block_bytes",
            [](const Parameters& self) {
                return self.middleware.tables.empty() ? 0 : self.middleware.tables.front().block_bytes;
            },
            "Bytes of the smallest blocks that l_mw was measured with; 0: not stated.");
    module.def(
        "library_properties",
        [] {
            nb::list found;
            for (std::size_t i = 0; i < kLibraryProperties; ++i) {
                std::vector<std::string> alternatives;
                for (const auto name : kAlternativeNames[i]) {
                    if (!name.empty()) {
                        alternatives.emplace_back(name);
                    }
                }
                found.append(nb::make_tuple(std::string(kLibraryPropertyNames[i]), alternatives));
            }
            return found;
        },
        nb::sig("def library_properties() -> list[tuple[str, list[str]]]"),
        "Names of the properties of a library, and of their alternatives, by code.");
    module.def(
        "message_models", [] { return std::vector<std::string>(kModelNames.begin(), kModelNames.end()); },
        "Names of the models that messages can be split under.");
    module.def("costs", &costs, "machine"_a, "locality"_a, "bytes"_a, "block"_a, "stride"_a, "burst"_a, "hops"_a,
               nb::sig("def costs(machine: Parameters, locality: logpost.replay.columns.UInt8, "
                       "bytes: logpost.replay.columns.Float64, block: logpost.replay.columns.Float64, "
                       "stride: logpost.replay.columns.Float64, burst: logpost.replay.columns.Float64, "
                       "hops: logpost.replay.columns.Float64) "
                       "-> tuple[logpost.replay.columns.Float64, logpost.replay.columns.UInt8]"),
               "Terms (n, 7) in picoseconds, and flags (n, 3): rendezvous, beyond sizes, beyond strides.");
    module.def("ranges", &ranges, "machine"_a, "locality"_a, "bytes"_a,
               nb::sig("def ranges(machine: Parameters, locality: int, bytes: logpost.replay.columns.Float64) "
                       "-> logpost.replay.columns.Int64"),
               "The LogGP range of each message, counted from the class's first.");
    bindings::register_spill_error();
    bindings::bind_program(module);
    bindings::bind_analysis(module);
    bindings::bind_collectives(module);
    bindings::bind_surroundings(module);
    bindings::bind_whatif(module);
    bindings::bind_goal(module);
    bindings::bind_cures(module);
    module.def(
        "split", &split, "machine"_a, "s0"_a, "s1"_a, "sw0"_a, "r0"_a, "rw0"_a, "rw1"_a, "bytes"_a, "locality"_a,
        "stride"_a, "block"_a, "waits"_a,
        nb::sig("def split(machine: Parameters, s0: logpost.replay.columns.Int64, s1: logpost.replay.columns.Int64, "
                "sw0: logpost.replay.columns.Int64, r0: logpost.replay.columns.Int64, "
                "rw0: logpost.replay.columns.Int64, rw1: logpost.replay.columns.Int64, "
                "bytes: logpost.replay.columns.UInt64, locality: logpost.replay.columns.UInt8, "
                "stride: logpost.replay.columns.Int64, block: logpost.replay.columns.UInt64, "
                "waits: logpost.replay.columns.Int64) "
                "-> tuple[logpost.replay.columns.Int64, logpost.replay.columns.Int64]"),
        "Parts (n, 11) and deficits (n,) of n messages.");
    module.def("fit", &fit_stages, "duration"_a, "wanted"_a, "tiers"_a,
               nb::sig("def fit(duration: int, wanted: list[int], tiers: list[int]) -> tuple[list[int], int, int]"),
               "Granted durations, residual, deficit.");
}
