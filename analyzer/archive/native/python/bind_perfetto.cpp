/// Events of a Perfetto trace, track by track.

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "analyzer/archive/native/export/perfetto_events.hpp"
#include "analyzer/archive/native/python/bindings.hpp"

namespace logpost::analyzer::bindings {

using namespace nb::literals;
namespace {

using Integers = replay::bindings::In<std::int64_t>;
using Table = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
/// Begins and ends of ranges of ids, and the ids.
using Flows = std::tuple<Integers, Integers, Integers>;

std::span<const std::int64_t> span(const Integers& column) {
    return {column.data(), column.shape(0)};
}

/// Raises ValueError if columns differ in length.
void same_length(std::size_t rows, std::initializer_list<std::size_t> columns) {
    for (const auto length : columns) {
        if (length != rows) {
            throw nb::value_error("columns differ in length");
        }
    }
}

PerfettoFlows flows(const Flows& of) {
    PerfettoFlows found{span(std::get<0>(of)), span(std::get<1>(of)), span(std::get<2>(of))};
    for (std::size_t i = 0; i < found.begin.size() && i < found.end.size(); ++i) {
        if (found.begin[i] < found.end[i] &&
            (found.begin[i] < 0 || found.end[i] > static_cast<std::int64_t>(found.id.size()))) {
            throw nb::value_error("a range of flows is not within the ids");
        }
    }
    return found;
}

nb::bytes bytes(const std::string& text) {
    return nb::bytes(text.data(), text.size());
}

nb::bytes slices(std::uint64_t track, std::uint32_t sequence, const Integers& enter_ns, const Integers& leave_ns,
                 const Integers& name, const Table& exposed_ps, const Flows& begun, const Flows& ended) {
    const auto rows = enter_ns.shape(0);
    same_length(rows, {leave_ns.shape(0), name.shape(0), exposed_ps.shape(0), std::get<0>(begun).shape(0),
                       std::get<1>(begun).shape(0), std::get<0>(ended).shape(0), std::get<1>(ended).shape(0)});
    PerfettoSlices all;
    all.enter_ns = span(enter_ns);
    all.leave_ns = span(leave_ns);
    all.name = span(name);
    all.exposed_ps = {exposed_ps.data(), exposed_ps.size()};
    all.arguments = exposed_ps.shape(1);
    all.begun = flows(begun);
    all.ended = flows(ended);
    std::string text;
    {
        const nb::gil_scoped_release release;
        text = perfetto_slices({track, sequence}, all);
    }
    return bytes(text);
}

nb::bytes counter(std::uint64_t track, std::uint32_t sequence, const Integers& at_ns, const Integers& values) {
    same_length(at_ns.shape(0), {values.shape(0)});
    return bytes(perfetto_counter({track, sequence}, span(at_ns), span(values)));
}

}  // namespace

void bind_perfetto(nb::module_& module) {
    module.def(
        "perfetto_slices", &slices, "track"_a, "sequence"_a, "enter_ns"_a, "leave_ns"_a, "name"_a, "exposed_ps"_a,
        "begun"_a, "ended"_a,
        nb::sig("def perfetto_slices(track: int, sequence: int, enter_ns: numpy.ndarray, leave_ns: numpy.ndarray, "
                "name: numpy.ndarray, exposed_ps: numpy.ndarray, "
                "begun: tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray], "
                "ended: tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]) -> bytes"),
        "Packets of a track's slices, in the order of time: int64 columns; interned ids of names; exposed times in ps, "
        "a row per slice (argument and category k have the interned id k + 2); arrows as begins and ends of ranges of "
        "ids. Raises ValueError if they do not fit together.");
    module.def("perfetto_counter", &counter, "track"_a, "sequence"_a, "at_ns"_a, "values"_a,
               nb::sig("def perfetto_counter(track: int, sequence: int, at_ns: numpy.ndarray, values: numpy.ndarray) "
                       "-> bytes"),
               "Packets of a counter's values, each from its time on: int64 columns. Raises ValueError if they differ "
               "in length.");
}

}  // namespace logpost::analyzer::bindings
