/// Bindings of the analyzer core: table of contents only.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis.hpp"
#include "quality.hpp"
#include "read.hpp"
#include "samples.hpp"
#include "trace.hpp"
#include "wait_states.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace logpost::analyzer;
using logpost::replay::Parameters;

namespace {

/// A numpy array that owns the vector's memory.
template <class T>
nb::object array(std::vector<T>&& values) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    auto* data = owned->data();
    const std::size_t size = owned->size();
    nb::capsule owner(owned.release(), [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
    return nb::cast(nb::ndarray<nb::numpy, T>(data, {size}, owner));
}

/// A column of `rows`, each computed by `value`.
template <class T, class Rows, class Value>
nb::object column(const Rows& rows, Value&& value) {
    std::vector<T> values;
    values.reserve(rows.size());
    for (const auto& row : rows) {
        values.push_back(static_cast<T>(value(row)));
    }
    return array(std::move(values));
}

template <class Rows, class Value>
nb::list texts(const Rows& rows, Value&& value) {
    nb::list result;
    for (const auto& row : rows) {
        // Names in archives are bytes of any encoding; what is not UTF-8 is shown with replacement characters.
        const std::string& text = value(row);
        result.append(
            nb::steal<nb::object>(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace")));
    }
    return result;
}

nb::dict locations(const Trace& trace) {
    nb::dict d;
    const auto& rows = trace.locations;
    d["ref"] = column<std::uint64_t>(rows, [](const Location& l) { return l.ref; });
    d["name"] = texts(rows, [](const Location& l) -> const std::string& { return l.name; });
    d["type"] = column<std::uint8_t>(rows, [](const Location& l) { return l.type; });
    d["group"] = column<std::int32_t>(rows, [](const Location& l) { return l.group; });
    d["node"] = column<std::int32_t>(rows, [](const Location& l) { return l.node; });
    d["rank"] = column<std::int32_t>(rows, [](const Location& l) { return l.rank; });
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
    d["size"] = column<std::int32_t>(rows, [](const Communicator& c) { return c.locations.size(); });
    return d;
}

nb::dict callpaths(const Trace& trace) {
    nb::dict d;
    d["parent"] = column<std::int32_t>(trace.callpaths, [](const Callpath& c) { return c.parent; });
    d["region"] = column<std::int32_t>(trace.callpaths, [](const Callpath& c) { return c.region; });
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
    std::vector<std::int64_t> inclusive;
    std::vector<std::int64_t> exclusive;
    for (std::size_t l = 0; l < trace.traces.size(); ++l) {
        for (const auto& row : trace.traces[l].profile) {
            location.push_back(static_cast<std::int32_t>(l));
            callpath.push_back(row.callpath);
            visits.push_back(row.visits);
            inclusive.push_back(row.inclusive_ps);
            exclusive.push_back(row.exclusive_ps);
        }
    }
    nb::dict d;
    d["callpath"] = array(std::move(callpath));
    d["location"] = array(std::move(location));
    d["visits"] = array(std::move(visits));
    d["inclusive_ps"] = array(std::move(inclusive));
    d["exclusive_ps"] = array(std::move(exclusive));
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
    static constexpr const char* kBlame[] = {"trace", "analysis"};
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

nb::list sample_columns(const Trace& trace, std::size_t limit) {
    nb::list result;
    for (auto& locality : samples(trace, limit)) {
        nb::dict d;
        const auto pair = [](SampleColumn& c) {
            return nb::make_tuple(array(std::move(c.bytes)), array(std::move(c.time_ps)));
        };
        d["end_to_end"] = pair(locality.end_to_end);
        d["send_call"] = pair(locality.send_call);
        d["receive_call"] = pair(locality.receive_call);
        d["early_complete"] = pair(locality.early_complete);
        d["late_complete"] = pair(locality.late_complete);
        d["messages"] = locality.messages;
        result.append(d);
    }
    return result;
}

constexpr const char* kIdNames[MessageRows::kIds] = {"send_location", "recv_location", "comm",          "tag",
                                                     "layout",        "send_callpath", "recv_callpath", "window"};
constexpr const char* kTimeNames[MessageRows::kTimes] = {"send_enter_ps",
                                                         "send_leave_ps",
                                                         "send_complete_ps",
                                                         "recv_post_ps",
                                                         "recv_enter_ps",
                                                         "recv_leave_ps",
                                                         "envelope_ps",
                                                         "late_sender_ps",
                                                         "send_overhead_ps",
                                                         "middleware_ps",
                                                         "endpoint_contention_ps",
                                                         "latency_ps",
                                                         "serialization_ps",
                                                         "network_contention_ps",
                                                         "late_receiver_ps",
                                                         "processor_queueing_ps",
                                                         "recv_overhead_ps",
                                                         "residual_ps",
                                                         "deficit_ps"};
constexpr const char* kCategoryNames[kCategories] = {
    "compute",       "late_sender",   "send_overhead",      "middleware",    "endpoint_contention",
    "latency",       "serialization", "network_contention", "late_receiver", "processor_queueing",
    "recv_overhead", "residual",      "collective_wait",    "collective",    "mpi_other"};

nb::object next_messages(Analysis& analysis, std::size_t limit) {
    MessageRows rows;
    bool more = false;
    {
        const nb::gil_scoped_release release;
        more = analysis.next_messages(limit, rows);
    }
    if (!more) {
        return nb::none();
    }
    nb::dict d;
    for (std::size_t i = 0; i < MessageRows::kIds; ++i) {
        d[kIdNames[i]] = array(std::move(rows.ids[i]));
    }
    d["bytes"] = array(std::move(rows.bytes));
    d["protocol"] = array(std::move(rows.rendezvous));
    d["locality"] = array(std::move(rows.locality));
    d["clock_violation"] = array(std::move(rows.clock_violation));
    for (std::size_t i = 0; i < MessageRows::kTimes; ++i) {
        d[kTimeNames[i]] = array(std::move(rows.times[i]));
    }
    return d;
}

nb::object next_calls(Analysis& analysis, std::size_t limit) {
    CallRows rows;
    bool more = false;
    {
        const nb::gil_scoped_release release;
        more = analysis.next_calls(limit, rows);
    }
    if (!more) {
        return nb::none();
    }
    nb::dict d;
    d["location"] = array(std::move(rows.location));
    d["enter_ps"] = array(std::move(rows.enter));
    d["leave_ps"] = array(std::move(rows.leave));
    d["region"] = array(std::move(rows.region));
    d["callpath"] = array(std::move(rows.callpath));
    for (std::size_t i = 1; i < kCategories; ++i) {
        d[(std::string(kCategoryNames[i]) + "_ps").c_str()] = array(std::move(rows.exposed[i - 1]));
    }
    return d;
}

nb::dict accounting(const Analysis& analysis) {
    std::vector<std::int32_t> location;
    std::vector<std::int32_t> window;
    std::vector<std::uint8_t> category;
    std::vector<std::int64_t> exposed;
    for (std::size_t i = 0; i < analysis.accounted().size(); ++i) {
        const auto& windows = analysis.windows()[i];
        for (std::size_t w = 0; w < windows.size(); ++w) {
            for (std::size_t c = 0; c < kCategories; ++c) {
                if (windows[w][c] != 0) {
                    location.push_back(static_cast<std::int32_t>(analysis.accounted()[i]));
                    window.push_back(static_cast<std::int32_t>(w));
                    category.push_back(static_cast<std::uint8_t>(c));
                    exposed.push_back(windows[w][c]);
                }
            }
        }
    }
    nb::dict d;
    d["location"] = array(std::move(location));
    d["window"] = array(std::move(window));
    d["category"] = array(std::move(category));
    d["exposed_ps"] = array(std::move(exposed));
    return d;
}

nb::dict exposure(const Analysis& analysis) {
    std::vector<std::int32_t> location;
    std::vector<std::int32_t> callpath;
    std::vector<std::uint8_t> category;
    std::vector<std::int64_t> exposed;
    std::vector<std::uint64_t> calls;
    for (std::size_t i = 0; i < analysis.accounted().size(); ++i) {
        for (const auto& row : analysis.callpaths()[i]) {
            for (std::size_t c = 0; c < kCategories; ++c) {
                if (row.exposed[c] != 0) {
                    location.push_back(static_cast<std::int32_t>(analysis.accounted()[i]));
                    callpath.push_back(row.callpath);
                    category.push_back(static_cast<std::uint8_t>(c));
                    exposed.push_back(row.exposed[c]);
                    calls.push_back(row.calls);
                }
            }
        }
    }
    nb::dict d;
    d["location"] = array(std::move(location));
    d["callpath"] = array(std::move(callpath));
    d["category"] = array(std::move(category));
    d["exposed_ps"] = array(std::move(exposed));
    d["calls"] = array(std::move(calls));
    return d;
}

nb::dict wait_state_rows(const Analysis& analysis) {
    std::vector<std::int32_t> location;
    std::vector<std::uint8_t> pattern;
    std::vector<std::int64_t> wait;
    std::vector<std::uint64_t> occurrences;
    for (const auto l : analysis.accounted()) {
        const auto totals = wait_states(analysis.trace(), analysis.collectives(), l);
        for (std::size_t s = 0; s < kWaitStates; ++s) {
            location.push_back(static_cast<std::int32_t>(l));
            pattern.push_back(static_cast<std::uint8_t>(s));
            wait.push_back(totals[s].wait_ticks);
            occurrences.push_back(totals[s].count);
        }
    }
    nb::dict d;
    d["location"] = array(std::move(location));
    d["pattern"] = array(std::move(pattern));
    d["wait_ticks"] = array(std::move(wait));
    d["count"] = array(std::move(occurrences));
    return d;
}

nb::dict pairs(const Analysis& analysis) {
    std::vector<PairSum> rows;
    std::vector<std::int32_t> receivers;
    for (std::size_t l = 0; l < analysis.pairs().size(); ++l) {
        for (const auto& pair : analysis.pairs()[l]) {
            rows.push_back(pair);
            receivers.push_back(static_cast<std::int32_t>(l));
        }
    }
    nb::dict d;
    d["send_location"] = column<std::int32_t>(rows, [](const PairSum& p) { return p.sender; });
    d["recv_location"] = array(std::move(receivers));
    d["messages"] = column<std::uint64_t>(rows, [](const PairSum& p) { return p.messages; });
    d["bytes"] = column<std::uint64_t>(rows, [](const PairSum& p) { return p.bytes; });
    d["envelope_ps"] = column<std::int64_t>(rows, [](const PairSum& p) { return p.envelope_ps; });
    for (std::size_t part = 0; part < logpost::replay::kParts; ++part) {
        d[kTimeNames[MessageRows::first_part + part]] =
            column<std::int64_t>(rows, [&](const PairSum& p) { return p.parts[part]; });
    }
    d["deficit_ps"] = column<std::int64_t>(rows, [](const PairSum& p) { return p.deficit_ps; });
    return d;
}

nb::dict load(const Analysis& analysis) {
    std::vector<std::int32_t> location;
    std::vector<std::int32_t> window;
    std::vector<std::uint8_t> direction;
    std::vector<EndpointLoad> rows;
    const auto& model = analysis.model();
    for (const auto l : analysis.accounted()) {
        for (int receiving = 0; receiving < 2; ++receiving) {
            for (std::int32_t w = 0; w < model.windows().count; ++w) {
                const auto& row = model.load(l, receiving != 0, w);
                if (row.messages > 0) {
                    location.push_back(static_cast<std::int32_t>(l));
                    window.push_back(w);
                    direction.push_back(static_cast<std::uint8_t>(receiving));
                    rows.push_back(row);
                }
            }
        }
    }
    nb::dict d;
    d["location"] = array(std::move(location));
    d["window"] = array(std::move(window));
    d["direction"] = array(std::move(direction));
    d["messages"] = column<std::uint64_t>(rows, [](const EndpointLoad& e) { return e.messages; });
    d["bytes"] = column<std::uint64_t>(rows, [](const EndpointLoad& e) { return e.bytes; });
    d["peers"] = column<std::int32_t>(rows, [](const EndpointLoad& e) { return e.peers; });
    d["busy_ps"] = column<std::int64_t>(rows, [](const EndpointLoad& e) { return e.busy_ps; });
    d["queued_ps"] = column<std::int64_t>(rows, [](const EndpointLoad& e) { return e.queued_ps; });
    return d;
}

nb::dict collectives(const Analysis& analysis) {
    const auto& trace = analysis.trace();
    std::vector<Collective> rows;
    std::vector<std::int32_t> location;
    std::vector<std::int32_t> callpath;
    std::vector<std::int64_t> wait;
    for (std::size_t l = 0; l < trace.traces.size(); ++l) {
        const auto& mine = trace.traces[l];
        for (std::size_t i = 0; i < mine.collectives.size(); ++i) {
            const auto& row = mine.collectives[i];
            rows.push_back(row);
            location.push_back(static_cast<std::int32_t>(l));
            callpath.push_back(mine.calls[row.call].callpath);
            wait.push_back(row.call == row.complete_call ? analysis.collectives().wait(row, l) : 0);
        }
    }
    nb::dict d;
    d["instance"] = column<std::int32_t>(rows, [](const Collective& c) {
        return c.instance == kNone ? kUndefined : static_cast<std::int32_t>(c.instance);
    });
    d["location"] = array(std::move(location));
    d["comm"] = column<std::int32_t>(rows, [](const Collective& c) { return c.comm; });
    d["root"] = column<std::int32_t>(rows, [](const Collective& c) { return c.root; });
    d["callpath"] = array(std::move(callpath));
    d["operation"] = column<std::uint8_t>(rows, [](const Collective& c) { return c.operation; });
    d["enter_ps"] = column<std::int64_t>(rows, [](const Collective& c) { return c.begin_ps; });
    d["leave_ps"] = column<std::int64_t>(rows, [](const Collective& c) { return c.end_ps; });
    d["wait_ps"] = array(std::move(wait));
    d["bytes_sent"] = column<std::uint64_t>(rows, [](const Collective& c) { return c.bytes_sent; });
    d["bytes_received"] = column<std::uint64_t>(rows, [](const Collective& c) { return c.bytes_received; });
    return d;
}

/// Counters of a read under way, for a progress bar and a watchdog in another thread.
struct Progress {
    std::atomic<std::uint64_t> events{0};
    std::atomic<std::uint64_t> declared{0};
};

std::unique_ptr<Trace> read_trace(const std::string& archive, unsigned threads, Progress& progress) {
    const nb::gil_scoped_release release;
    ReadOptions options;
    options.threads = threads;
    options.events_read = &progress.events;
    options.declared_events = &progress.declared;
    return std::make_unique<Trace>(read_archive(find_anchor(archive), options));
}

/// Gives freed memory back to the system: the table libraries have allocators of their own and could not reuse it.
void release_memory() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

}  // namespace

NB_MODULE(_native, module) {
    module.doc() = "Native core of logpost.analyzer.";
    nb::module_::import_("logpost.replay._native");  // its Parameters are taken here

    module.def(
        "region_kinds",
        [] {
            return std::vector<std::string>{"user",
                                            "send",
                                            "send_synchronous",
                                            "send_buffered",
                                            "send_nonblocking",
                                            "receive",
                                            "receive_nonblocking",
                                            "send_receive",
                                            "start",
                                            "wait",
                                            "wait_multi",
                                            "test",
                                            "probe",
                                            "barrier",
                                            "collective",
                                            "collective_nonblocking",
                                            "one_sided",
                                            "init_finalize",
                                            "io",
                                            "other"};
        },
        "Names of the codes in regions()['kind'].");
    nb::exception<ArchiveError>(module, "ArchiveError", PyExc_ValueError);
    nb::class_<Progress>(module, "Progress", "Counters of a read under way.")
        .def(nb::init<>())
        .def_prop_ro("events", [](const Progress& p) { return p.events.load(); })
        .def_prop_ro("declared", [](const Progress& p) { return p.declared.load(); });
    module.def("read", &read_trace, "archive"_a, "threads"_a, "progress"_a,
               "Reads an archive, given as its anchor file or directory. Raises ArchiveError.");
    module.def("release_memory", &release_memory, "Gives memory that the core has freed back to the system.");
    module.def(
        "find_anchor", [](const std::string& path) { return find_anchor(path).string(); }, "path"_a,
        "The anchor file of an archive. Raises ArchiveError.");

    nb::class_<Trace>(module, "Trace", "What the reader leaves of an archive.")
        .def_ro("ticks_per_second", &Trace::ticks_per_second)
        .def_ro("length_ps", &Trace::length_ps)
        .def("locations", &locations, nb::sig("def locations(self) -> dict[str, typing.Any]"))
        .def("regions", &regions, nb::sig("def regions(self) -> dict[str, typing.Any]"))
        .def("nodes", &nodes, nb::sig("def nodes(self) -> dict[str, typing.Any]"))
        .def("communicators", &communicators, nb::sig("def communicators(self) -> dict[str, typing.Any]"))
        .def("callpaths", &callpaths, nb::sig("def callpaths(self) -> dict[str, typing.Any]"))
        .def("layouts", &layouts, nb::sig("def layouts(self) -> dict[str, typing.Any]"))
        .def("profile", &profile, nb::sig("def profile(self) -> dict[str, typing.Any]"))
        .def("one_sided", &one_sided, nb::sig("def one_sided(self) -> dict[str, int]"))
        .def("quality", &quality, nb::sig("def quality(self) -> list[dict[str, typing.Any]]"))
        .def("properties", &properties, nb::sig("def properties(self) -> list[tuple[str, str]]"))
        .def("samples", &sample_columns, "limit"_a,
             nb::sig("def samples(self, limit: int) -> list[dict[str, typing.Any]]"),
             "Observations of LogGP parameters, a dict per locality class.");

    nb::class_<Analysis>(module, "Analysis", "Rows of a run's tables, in batches.")
        .def(nb::init<const Trace&, const Parameters&, unsigned>(), "trace"_a, "parameters"_a, "threads"_a,
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::call_guard<nb::gil_scoped_release>())
        .def("next_messages", &next_messages, "limit"_a,
             nb::sig("def next_messages(self, limit: int) -> dict[str, typing.Any] | None"))
        .def("next_calls", &next_calls, "limit"_a,
             nb::sig("def next_calls(self, limit: int) -> dict[str, typing.Any] | None"))
        .def("split_only", &Analysis::split_only, nb::call_guard<nb::gil_scoped_release>())
        .def("accounting", &accounting, nb::sig("def accounting(self) -> dict[str, typing.Any]"))
        .def("exposure", &exposure, nb::sig("def exposure(self) -> dict[str, typing.Any]"))
        .def("wait_states", &wait_state_rows, nb::sig("def wait_states(self) -> dict[str, typing.Any]"))
        .def("pairs", &pairs, nb::sig("def pairs(self) -> dict[str, typing.Any]"))
        .def("load", &load, nb::sig("def load(self) -> dict[str, typing.Any]"))
        .def("collectives", &collectives, nb::sig("def collectives(self) -> dict[str, typing.Any]"))
        .def("accounted", [](const Analysis& a) { return a.accounted(); })
        .def_prop_ro("messages", [](const Analysis& a) { return a.model().messages(); })
        .def_prop_ro("clock_violations", [](const Analysis& a) { return a.model().clock_violations(); })
        .def_prop_ro("window_count", [](const Analysis& a) { return a.model().windows().count; })
        .def_prop_ro("window_width_ps", [](const Analysis& a) { return a.model().windows().width_ps; });
}
