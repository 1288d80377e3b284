/// Bindings of the replay core: table of contents only.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <memory>
#include <vector>

#include "fit.hpp"
#include "parameters.hpp"
#include "partition.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace logpost::replay;

namespace {

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<nb::numpy, std::int64_t>;

Out column(std::vector<std::int64_t>&& values, std::size_t rows, std::size_t columns) {
    auto owned = std::make_unique<std::vector<std::int64_t>>(std::move(values));
    auto* data = owned->data();
    nb::capsule owner(owned.release(),
                      [](void* pointer) noexcept { delete static_cast<std::vector<std::int64_t>*>(pointer); });
    return columns == 1 ? Out(data, {rows}, owner) : Out(data, {rows, columns}, owner);
}

Parameters parameters(const In<std::int64_t>& class_start, const In<std::int64_t>& max_bytes, const In<std::int64_t>& L,
                      const In<std::int64_t>& o_s, const In<double>& o_s_per_byte, const In<std::int64_t>& o_r,
                      const In<double>& o_r_per_byte, const In<std::int64_t>& g, const In<double>& G,
                      const In<std::int64_t>& eager_limit, int nics_per_node, const std::vector<double>& mw_bytes,
                      const std::vector<double>& mw_strides, const std::vector<double>& l_mw,
                      bool asynchronous_progress) {
    Parameters result;
    for (std::size_t c = 0; c < kLocalities; ++c) {
        auto& locality = result.localities[c];
        for (auto row = static_cast<std::size_t>(class_start(c)); row < static_cast<std::size_t>(class_start(c + 1));
             ++row) {
            locality.ranges.push_back({.up_to_bytes = static_cast<std::uint64_t>(max_bytes(row)),
                                       .L = static_cast<double>(L(row)),
                                       .o_s = static_cast<double>(o_s(row)),
                                       .o_s_per_byte = o_s_per_byte(row),
                                       .o_r = static_cast<double>(o_r(row)),
                                       .o_r_per_byte = o_r_per_byte(row),
                                       .g = static_cast<double>(g(row)),
                                       .G = G(row)});
        }
        if (eager_limit(c) >= 0) {
            locality.eager_limit = static_cast<std::uint64_t>(eager_limit(c));
        }
    }
    result.middleware = {.bytes = mw_bytes, .strides = mw_strides, .l_mw = l_mw};
    result.nics_per_node = nics_per_node;
    result.asynchronous_progress = asynchronous_progress;
    return result;
}

nb::tuple split(const Parameters& machine, const In<std::int64_t>& s0, const In<std::int64_t>& s1,
                const In<std::int64_t>& sw0, const In<std::int64_t>& r0, const In<std::int64_t>& rw0,
                const In<std::int64_t>& rw1, const In<std::uint64_t>& bytes, const In<std::uint8_t>& locality,
                const In<std::int64_t>& stride,
                const nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& waits) {
    const std::size_t n = s0.size();
    std::vector<std::int64_t> parts(n * kParts);
    std::vector<std::int64_t> deficits(n);
    for (std::size_t i = 0; i < n; ++i) {
        const MessageTimes times{s0(i), s1(i), r0(i), rw0(i), rw1(i)};
        const auto stages = message_stages(machine, static_cast<Locality>(locality(i)), bytes(i), stride(i));
        const MessageWaits wait{waits(i, 0), waits(i, 1), waits(i, 2), waits(i, 3), waits(i, 4), waits(i, 5)};
        const auto facts = handshake(
            times, sw0(i), stages, machine.asynchronous_progress, [&](std::int64_t) { return times.rw0; },
            [&](std::int64_t) { return sw0(i); });
        const auto result = partition(times, stages, wait, facts);
        const auto totals = result.totals();
        std::copy(totals.begin(), totals.end(), parts.begin() + static_cast<std::ptrdiff_t>(i * kParts));
        deficits[i] = result.deficit_ps;
    }
    return nb::make_tuple(column(std::move(parts), n, kParts), column(std::move(deficits), n, 1));
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
    nb::class_<Parameters>(module, "Parameters", "LogGP and middleware parameters per locality, in picoseconds.")
        .def(nb::new_(&parameters), "class_start"_a, "max_bytes"_a, "L"_a, "o_s"_a, "o_s_per_byte"_a, "o_r"_a,
             "o_r_per_byte"_a, "g"_a, "G"_a, "eager_limit"_a, "nics_per_node"_a, "mw_bytes"_a, "mw_strides"_a, "l_mw"_a,
             "asynchronous_progress"_a);
    module.def("split", &split, "machine"_a, "s0"_a, "s1"_a, "sw0"_a, "r0"_a, "rw0"_a, "rw1"_a, "bytes"_a, "locality"_a,
               "stride"_a, "waits"_a,
               nb::sig("def split(machine: Parameters, s0: numpy.ndarray, s1: numpy.ndarray, sw0: numpy.ndarray, "
                       "r0: numpy.ndarray, rw0: numpy.ndarray, rw1: numpy.ndarray, bytes: numpy.ndarray, "
                       "locality: numpy.ndarray, stride: numpy.ndarray, waits: numpy.ndarray) "
                       "-> tuple[numpy.ndarray, numpy.ndarray]"),
               "Parts (n, 11) and deficits (n,) of n messages.");
    module.def("fit", &fit_stages, "duration"_a, "wanted"_a, "tiers"_a,
               nb::sig("def fit(duration: int, wanted: list[int], tiers: list[int]) -> tuple[list[int], int, int]"),
               "Granted durations, residual, deficit.");
}
