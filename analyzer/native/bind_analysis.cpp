#include "analysis.hpp"
#include "bindings.hpp"
#include "threads.hpp"
#include "wait_states.hpp"

namespace logpost::analyzer::bindings {

using namespace nb::literals;
using replay::Parameters;

namespace {

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
    const auto& accounted = analysis.accounted();
    std::vector<WaitTotals> totals_of(accounted.size());
    {
        const nb::gil_scoped_release release;
        for_each_parallel(accounted.size(), analysis.threads(), 1, [&](std::size_t i, unsigned) {
            totals_of[i] = wait_states(analysis.trace(), analysis.collectives(), accounted[i]);
        });
    }
    for (std::size_t i = 0; i < accounted.size(); ++i) {
        const auto l = accounted[i];
        const auto& totals = totals_of[i];
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

}  // namespace

void bind_analysis(nb::module_& module) {
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

}  // namespace logpost::analyzer::bindings
