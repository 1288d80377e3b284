#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <otf2/otf2.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "analyzer/archive/native/events/thread_spans.hpp"
#include "analyzer/archive/native/python/bindings.hpp"
#include "analyzer/archive/native/read/read.hpp"
#include "analyzer/archive/native/read/read_program.hpp"
#include "analyzer/archive/native/read/shards.hpp"
#include "analyzer/archive/native/trace/quality.hpp"
#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer::bindings {

using namespace nb::literals;

namespace {

nb::dict locations(const Trace& trace) {
    nb::dict d;
    const auto& rows = trace.locations;
    d["ref"] = column<std::uint64_t>(rows, [](const Location& l) { return l.ref; });
    d["name"] = texts(rows, [](const Location& l) -> const std::string& { return l.name; });
    d["type"] = column<std::uint8_t>(rows, [](const Location& l) { return l.type; });
    d["group"] = column<std::int32_t>(rows, [](const Location& l) { return l.group; });
    d["node"] = column<std::int32_t>(rows, [](const Location& l) { return l.node; });
    d["rank"] = column<std::int32_t>(rows, [](const Location& l) { return replay::number(l.rank); });
    d["core"] = texts(rows, [](const Location& l) -> const std::string& { return l.cpu_binding; });
    d["process"] = column<std::int32_t>(rows, [](const Location& l) { return l.group; });
    d["socket"] = column<std::int32_t>(rows, [](const Location& l) { return l.socket; });
    const auto& events = trace.traces;
    d["first_ps"] = column<std::int64_t>(events, [](const LocationTrace& t) { return t.first_ps; });
    d["last_ps"] = column<std::int64_t>(events, [](const LocationTrace& t) { return t.last_ps; });
    d["events"] = column<std::uint64_t>(events, [](const LocationTrace& t) { return t.events; });
    d["communication_events"] =
        column<std::uint64_t>(events, [](const LocationTrace& t) { return t.communication_events; });
    return d;
}

nb::dict regions(const Trace& trace) {
    nb::dict d;
    const auto& rows = trace.regions;
    d["name"] = texts(rows, [](const Region& r) -> const std::string& { return r.name; });
    d["file"] = texts(rows, [](const Region& r) -> const std::string& { return r.file; });
    d["line"] = column<std::int32_t>(rows, [](const Region& r) { return r.line; });
    d["kind"] = column<std::uint8_t>(rows, [](const Region& r) { return r.kind; });
    d["paradigm"] = column<std::uint8_t>(rows, [](const Region& r) { return r.paradigm; });
    return d;
}

nb::dict nodes(const Trace& trace) {
    nb::dict d;
    d["name"] = texts(trace.nodes, [](const Node& n) -> const std::string& { return n.name; });
    d["class"] = texts(trace.nodes, [](const Node& n) -> const std::string& { return n.class_name; });
    d["parent"] = column<std::int32_t>(trace.nodes, [](const Node& n) { return n.parent; });
    d["cores"] = column<std::int32_t>(trace.nodes, [](const Node& n) { return n.cores; });
    return d;
}

nb::dict communicators(const Trace& trace) {
    nb::dict d;
    const auto& rows = trace.communicators;
    d["ref"] = column<std::uint64_t>(rows, [](const Communicator& c) { return c.ref; });
    d["name"] = texts(rows, [](const Communicator& c) -> const std::string& { return c.name; });
    d["parent"] = column<std::int32_t>(rows, [](const Communicator& c) { return c.parent; });
    d["size"] = column<std::int32_t>(
        rows, [](const Communicator& c) { return c.locations.size() + c.remote_locations.size(); });
    d["first_group"] =
        column<std::int32_t>(rows, [](const Communicator& c) { return static_cast<std::int32_t>(c.first_group()); });
    nb::list members;
    for (const auto& row : rows) {
        std::vector<std::int32_t> locations;
        std::ranges::transform(row.members(), std::back_inserter(locations),
                               [](auto at) { return replay::number(at); });
        members.append(array(std::move(locations)));
    }
    d["members"] = members;
    return d;
}

nb::dict callpaths(const Trace& trace) {
    nb::dict d;
    d["parent"] = column<std::int32_t>(trace.callpaths, [](const Callpath& c) { return c.parent; });
    d["region"] = column<std::int32_t>(trace.callpaths, [](const Callpath& c) { return c.region; });
    const auto site = [&](const Callpath& c) -> const Site& { return trace.sites[static_cast<std::size_t>(c.site)]; };
    d["line"] = column<std::int32_t>(trace.callpaths, [&](const Callpath& c) { return site(c).line; });
    d["file"] = texts(trace.callpaths, [&](const Callpath& c) -> const std::string& { return site(c).file; });
    return d;
}

nb::list open_calls(const Trace& trace) {
    nb::list result;
    for (std::size_t l = 0; l < trace.traces.size(); ++l) {
        for (const auto& row : trace.traces[l].open) {
            const auto callpath = trace.program.timelines[l].calls[row.call].callpath;
            result.append(nb::make_tuple(l, callpath, row.waits_for));
        }
    }
    return result;
}

nb::dict detail_levels(const Trace& trace) {
    std::vector<std::int32_t> location;
    std::vector<std::int32_t> call;
    std::vector<std::int32_t> level;
    for (std::size_t l = 0; l < trace.traces.size(); ++l) {
        for (const auto& row : trace.traces[l].levels) {
            location.push_back(static_cast<std::int32_t>(l));
            call.push_back(static_cast<std::int32_t>(row.call));
            level.push_back(row.level);
        }
    }
    nb::dict d;
    d["location"] = array(std::move(location));
    d["call"] = array(std::move(call));
    d["level"] = array(std::move(level));
    return d;
}

nb::dict file_calls(const Trace& trace) {
    std::vector<std::int32_t> location;
    std::vector<std::int32_t> callpath;
    std::vector<std::int64_t> enter;
    std::vector<std::int64_t> leave;
    for (std::size_t l = 0; l < trace.traces.size(); ++l) {
        for (const auto& row : trace.traces[l].file_calls) {
            location.push_back(static_cast<std::int32_t>(l));
            callpath.push_back(row.callpath);
            enter.push_back(row.enter_ps);
            leave.push_back(row.leave_ps);
        }
    }
    nb::dict d;
    d["location"] = array(std::move(location));
    d["callpath"] = array(std::move(callpath));
    d["enter_ps"] = array(std::move(enter));
    d["leave_ps"] = array(std::move(leave));
    return d;
}

nb::dict samples(const Trace& trace) {
    std::vector<std::int32_t> location;
    std::vector<std::int64_t> at;
    std::vector<std::int32_t> callpath;
    std::vector<std::int32_t> line;
    std::vector<std::int32_t> periods;
    for (std::size_t l = 0; l < trace.traces.size(); ++l) {
        for (const auto& row : trace.traces[l].samples) {
            location.push_back(static_cast<std::int32_t>(l));
            at.push_back(row.at_ps);
            callpath.push_back(row.callpath);
            line.push_back(static_cast<std::int32_t>(row.line));
            periods.push_back(static_cast<std::int32_t>(row.periods));
        }
    }
    nb::dict d;
    d["location"] = array(std::move(location));
    d["at_ps"] = array(std::move(at));
    d["callpath"] = array(std::move(callpath));
    d["line"] = array(std::move(line));
    d["periods"] = array(std::move(periods));
    return d;
}

nb::dict any_source(const Trace& trace) {
    std::vector<std::int32_t> location;
    std::vector<std::int32_t> number;
    for (std::size_t l = 0; l < trace.traces.size(); ++l) {
        auto receives = trace.traces[l].any_source;
        std::ranges::sort(receives);
        location.insert(location.end(), receives.size(), static_cast<std::int32_t>(l));
        number.insert(number.end(), receives.begin(), receives.end());
    }
    nb::dict d;
    d["location"] = array(std::move(location));
    d["number"] = array(std::move(number));
    return d;
}

nb::dict layouts(const Trace& trace) {
    nb::dict d;
    const auto& rows = trace.layouts;
    d["blocks"] = column<std::uint64_t>(rows, [](const Layout& l) { return l.blocks; });
    d["block_bytes"] = column<std::uint64_t>(rows, [](const Layout& l) { return l.block_bytes; });
    d["stride_bytes"] = column<std::int64_t>(rows, [](const Layout& l) { return l.stride_bytes; });
    d["extent_bytes"] = column<std::uint64_t>(rows, [](const Layout& l) { return l.extent_bytes; });
    return d;
}

nb::dict profile(const Trace& trace) {
    std::vector<std::int32_t> location;
    std::vector<std::int32_t> callpath;
    std::vector<std::uint64_t> visits;
    std::vector<std::int64_t> first;
    std::vector<std::int64_t> last;
    std::vector<std::int64_t> inclusive;
    std::vector<std::int64_t> exclusive;
    for (std::size_t l = 0; l < trace.traces.size(); ++l) {
        for (const auto& row : trace.traces[l].profile) {
            location.push_back(static_cast<std::int32_t>(l));
            callpath.push_back(row.callpath);
            visits.push_back(row.visits);
            first.push_back(row.first_ps);
            last.push_back(row.last_ps);
            inclusive.push_back(row.inclusive_ps);
            exclusive.push_back(row.exclusive_ps);
        }
    }
    nb::dict d;
    d["callpath"] = array(std::move(callpath));
    d["location"] = array(std::move(location));
    d["visits"] = array(std::move(visits));
    d["first_enter_ps"] = array(std::move(first));
    d["last_leave_ps"] = array(std::move(last));
    d["inclusive_ps"] = array(std::move(inclusive));
    d["exclusive_ps"] = array(std::move(exclusive));
    return d;
}

nb::dict thread_spans(const Trace& trace) {
    nb::dict d;
    const auto& rows = trace.thread_spans;
    d["location"] = column<std::int32_t>(rows, [](const ThreadSpan& s) { return s.location; });
    d["instance"] = column<std::int32_t>(rows, [](const ThreadSpan& s) { return s.instance; });
    d["callpath"] = column<std::int32_t>(rows, [](const ThreadSpan& s) { return s.callpath; });
    d["place"] = column<std::int32_t>(rows, [](const ThreadSpan& s) { return s.place; });
    d["category"] = column<std::uint8_t>(rows, [](const ThreadSpan& s) { return s.category; });
    d["begin_ps"] = column<std::int64_t>(rows, [](const ThreadSpan& s) { return s.begin_ps; });
    d["end_ps"] = column<std::int64_t>(rows, [](const ThreadSpan& s) { return s.end_ps; });
    return d;
}

nb::dict streams(const Trace& trace) {
    std::vector<std::int32_t> location;
    std::vector<StreamTotals> rows;
    for (std::size_t l = 0; l < trace.traces.size(); ++l) {
        if (trace.locations[l].type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM) {
            location.push_back(static_cast<std::int32_t>(l));
            rows.push_back(trace.traces[l].stream);
        }
    }
    nb::dict d;
    d["location"] = array(std::move(location));
    d["kernels"] = column<std::uint64_t>(rows, [](const StreamTotals& s) { return s.kernels; });
    d["copies"] = column<std::uint64_t>(rows, [](const StreamTotals& s) { return s.copies; });
    d["bytes_to_device"] = column<std::uint64_t>(rows, [](const StreamTotals& s) { return s.bytes_to_device; });
    d["bytes_to_host"] = column<std::uint64_t>(rows, [](const StreamTotals& s) { return s.bytes_to_host; });
    d["kernel_ps"] = column<std::int64_t>(rows, [](const StreamTotals& s) { return s.kernel_ps; });
    d["copy_ps"] = column<std::int64_t>(rows, [](const StreamTotals& s) { return s.copy_ps; });
    return d;
}

nb::dict one_sided(const Trace& trace) {
    OneSidedTotals sum;
    for (const auto& t : trace.traces) {
        sum.puts += t.one_sided.puts;
        sum.put_bytes += t.one_sided.put_bytes;
        sum.gets += t.one_sided.gets;
        sum.get_bytes += t.one_sided.get_bytes;
        sum.atomics += t.one_sided.atomics;
        sum.atomic_bytes += t.one_sided.atomic_bytes;
    }
    nb::dict d;
    d["puts"] = sum.puts;
    d["put_bytes"] = sum.put_bytes;
    d["gets"] = sum.gets;
    d["get_bytes"] = sum.get_bytes;
    d["atomics"] = sum.atomics;
    d["atomic_bytes"] = sum.atomic_bytes;
    return d;
}

nb::list quality(const Trace& trace) {
    static constexpr const char* kSeverity[] = {"info", "error", "data_loss"};
    static constexpr const char* kBlame[] = {"trace", "analysis", "program"};
    nb::list result;
    for (const auto& info : kQuality) {
        const auto count = trace.quality[static_cast<std::size_t>(info.quality)];
        if (count > 0) {
            nb::dict d;
            d["name"] = nb::str(info.name.data(), info.name.size());
            d["severity"] = kSeverity[static_cast<std::size_t>(info.severity)];
            d["blame"] = kBlame[static_cast<std::size_t>(info.blame)];
            d["count"] = count;
            d["sentence"] = nb::str(info.sentence.data(), info.sentence.size());
            result.append(d);
        }
    }
    return result;
}

nb::list properties(const Trace& trace) {
    nb::list result;
    const auto names = texts(trace.properties_names, [](const std::string& s) -> const std::string& { return s; });
    const auto values = texts(trace.properties_values, [](const std::string& s) -> const std::string& { return s; });
    for (std::size_t i = 0; i < nb::len(names); ++i) {
        result.append(nb::make_tuple(names[i], values[i]));
    }
    return result;
}

nb::dict clocks(const Trace& trace) {
    const auto& found = trace.clocks;
    nb::dict d;
    d["messages_recorded"] = found.recorded.messages;
    d["collectives_recorded"] = found.recorded.collectives;
    d["messages_left"] = found.left.messages;
    d["collectives_left"] = found.left.collectives;
    d["largest_ps"] = found.largest_ps;
    d["processes"] = found.processes;
    d["transit_same_node_ps"] = found.transit_ps[0];
    d["transit_other_node_ps"] = found.transit_ps[1];
    return d;
}

std::unique_ptr<Trace> read_trace(const std::filesystem::path& archive, unsigned threads, Progress& progress,
                                  ClockMode clock, std::shared_ptr<replay::Spill> spill, const Shards* shards) {
    const nb::gil_scoped_release release;
    ReadOptions options;
    options.spill = std::move(spill);
    options.threads = threads;
    options.events_read = &progress.events;
    options.declared_events = &progress.declared;
    options.shards = shards;
    return std::make_unique<Trace>(read_program(find_anchor(archive), options, clock));
}

/// Paths and names in a message are bytes of any encoding; they reach Python as its own paths do.
void set_archive_error(const std::exception_ptr& thrown, void* type) {
    try {
        std::rethrow_exception(thrown);
    } catch (const ArchiveError& error) {
        const std::string_view what = error.what();
        const auto text = nb::steal<nb::object>(
            PyUnicode_DecodeUTF8(what.data(), static_cast<Py_ssize_t>(what.size()), "surrogateescape"));
        PyErr_SetObject(static_cast<PyObject*>(type), text.ptr());
    }
}

/// Gives freed memory back to the system: the table libraries have separate allocators and could not reuse it.
void release_memory() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

}  // namespace

void bind_trace(nb::module_& module) {
    PyObject* archive_error = nb::exception<ArchiveError>(module, "ArchiveError", PyExc_ValueError).ptr();
    nb::register_exception_translator(&set_archive_error, archive_error);
    replay::bindings::register_spill_error();
    nb::class_<Progress>(module, "Progress", "Counters of a read in progress.")
        .def(nb::init<>())
        .def_prop_ro("events", [](const Progress& p) { return p.events.load(); })
        .def_prop_ro("declared", [](const Progress& p) { return p.declared.load(); });
    nb::enum_<ClockMode>(module, "ClockMode", "How far the times of events are corrected.")
        .value("none", ClockMode::none, "as recorded")
        .value("offsets", ClockMode::offsets, "by the archive's own clock offsets")
        .value("clc", ClockMode::clc, "then by the controlled logical clock");
    module.def(
        "read", &read_trace, "archive"_a, "threads"_a, "progress"_a, "clock"_a, "spill"_a.none() = nb::none(),
        "shards"_a.none() = nb::none(),
        nb::sig("def read(archive: str | os.PathLike[str], threads: int, progress: Progress, "
                "clock: ClockMode, spill: logpost.replay._native.Spill | None = None, shards: Shards | None = "
                "None) -> Trace"),
        "Reads an archive, given as its anchor file or directory; `spill`: the file for what exceeds the memory. "
        "Raises ArchiveError, and OSError where that file cannot be written.");
    module.def(
        "thread_categories",
        [] { return std::vector<std::string>(kThreadCategoryNames.begin(), kThreadCategoryNames.end()); },
        "Names of the categories of a thread's time, by code.");
    module.def("release_memory", &release_memory, nb::call_guard<nb::gil_scoped_release>(),
               "Gives memory that the core has freed back to the system.");
    module.def(
        "find_anchor", [](const std::filesystem::path& path) { return find_anchor(path); }, "path"_a,
        nb::sig("def find_anchor(path: str | os.PathLike[str]) -> pathlib.Path"),
        "The anchor file of an archive. Raises ArchiveError.");

    nb::class_<Trace>(module, "Trace", "What the reader leaves of an archive.")
        .def_ro("ticks_per_second", &Trace::ticks_per_second)
        .def_ro("length_ps", &Trace::length_ps)
        .def("clocks", &clocks, nb::sig("def clocks(self) -> dict[str, int]"),
             "What messages and collectives say of the clocks, and what was corrected; times in ps.")
        .def("locations", &locations, nb::sig("def locations(self) -> logpost.analyzer.archive.columns.Locations"))
        .def("regions", &regions, nb::sig("def regions(self) -> logpost.analyzer.archive.columns.Regions"))
        .def("nodes", &nodes, nb::sig("def nodes(self) -> logpost.analyzer.archive.columns.Nodes"))
        .def("communicators", &communicators,
             nb::sig("def communicators(self) -> logpost.analyzer.archive.columns.Communicators"))
        .def("detail_levels", &detail_levels,
             nb::sig("def detail_levels(self) -> logpost.analyzer.archive.columns.DetailLevels"),
             "Calls that set the level of detail (MPI_Pcontrol): location, index of the call on it, level.")
        .def("samples", &samples, nb::sig("def samples(self) -> logpost.analyzer.archive.columns.Samples"),
             "The code that locations were in between calls, at instants: location, time, callpath, line.")
        .def("file_calls", &file_calls, nb::sig("def file_calls(self) -> logpost.analyzer.archive.columns.FileCalls"),
             "Calls that reach files, outside of communication calls: location, callpath, begin, end.")
        .def("any_source", &any_source, nb::sig("def any_source(self) -> logpost.analyzer.archive.columns.AnySource"),
             "Receives that named no sender: location, their place among its requests to receive.")
        .def("open_calls", &open_calls, nb::sig("def open_calls(self) -> list[tuple[int, int, str]]"),
             "Calls that never ended, as their process did: location, callpath, what it waited for.")
        .def("callpaths", &callpaths, nb::sig("def callpaths(self) -> logpost.analyzer.archive.columns.Callpaths"))
        .def("layouts", &layouts, nb::sig("def layouts(self) -> logpost.analyzer.archive.columns.Layouts"))
        .def("profile", &profile, nb::sig("def profile(self) -> logpost.analyzer.archive.columns.Profile"))
        .def("thread_spans", &thread_spans,
             nb::sig("def thread_spans(self) -> logpost.analyzer.archive.columns.ThreadSpans"),
             "What threads do in parallel regions of OpenMP.")
        .def("streams", &streams, nb::sig("def streams(self) -> logpost.analyzer.archive.columns.Streams"),
             "What the streams of accelerators did.")
        .def("one_sided", &one_sided, nb::sig("def one_sided(self) -> dict[str, int]"))
        .def("quality", &quality, nb::sig("def quality(self) -> list[logpost.analyzer.archive.columns.Quality]"))
        .def("properties", &properties, nb::sig("def properties(self) -> list[tuple[str, str]]"))
        .def_prop_ro(
            "sample_ps", [](const Trace& trace) { return trace.sample_ps; },
            "Processor time of a thread from sample to sample; 0: not known.")
        .def_prop_ro(
            "program", [](const Trace& trace) -> const replay::Program& { return trace.program; },
            nb::rv_policy::reference_internal, "What the replay needs of it.");
}

}  // namespace logpost::analyzer::bindings
