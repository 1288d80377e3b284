// What an analysis sums up: every rank's time, wait states, the critical path, what delays cost.
#include "replay/native/python/bindings.hpp"
#include "replay/native/split/analysis.hpp"
#include "replay/native/waits/wait_states.hpp"

namespace logpost::replay::bindings {

using namespace nb::literals;

namespace {

nb::dict accounting(Analysis& analysis) {
    {
        const nb::gil_scoped_release release;
        analysis.accounts();
    }
    const auto& accounts = analysis.accounts();
    std::size_t count = 0;
    for (const auto& account : accounts) {
        count += account.size();
    }
    std::vector<std::int32_t> location, window;
    std::vector<std::uint8_t> phase, category;
    std::vector<std::int64_t> exposed;
    const auto each = [](auto&& visit, auto&... columns) { (visit(columns), ...); };
    each([&](auto& column) { column.reserve(count); }, location, window, phase, category, exposed);
    for (std::size_t i = 0; i < accounts.size(); ++i) {
        for (const auto& row : accounts[i]) {
            location.push_back(static_cast<std::int32_t>(analysis.accounted()[i]));
            window.push_back(row.window);
            phase.push_back(static_cast<std::uint8_t>(row.phase));
            category.push_back(row.category);
            exposed.push_back(row.exposed_ps);
        }
    }
    nb::dict d;
    d["location"] = array(std::move(location));
    d["window"] = array(std::move(window));
    d["phase"] = array(std::move(phase));
    d["category"] = array(std::move(category));
    d["exposed_ps"] = array(std::move(exposed));
    return d;
}

nb::dict time_cells(Analysis& analysis) {
    TimeCellRows rows;
    {
        const nb::gil_scoped_release release;
        rows = analysis.time_cells();
    }
    nb::dict d;
    d["level"] = array(std::move(rows.level));
    d["cell"] = array(std::move(rows.cell));
    d["location"] = array(std::move(rows.location));
    d["members"] = array(std::move(rows.members));
    d["category"] = array(std::move(rows.category));
    d["exposed_ps"] = array(std::move(rows.exposed));
    return d;
}

/// The accounts by callpath, a row for each category from `first` on that has time, and what `visit(row, category)`
/// keeps of each. `every_call`: calls without any time, which a coarse clock has many of, have a row of the last
/// category.
template <class Visit>
nb::dict by_callpath(Analysis& analysis, std::size_t first, bool every_call, Visit&& visit) {
    {
        const nb::gil_scoped_release release;
        analysis.accounts();
    }
    std::vector<std::int32_t> location;
    std::vector<std::int32_t> callpath;
    std::vector<std::uint8_t> phase;
    std::vector<std::uint8_t> category;
    for (std::size_t i = 0; i < analysis.accounted().size(); ++i) {
        for (const auto& row : analysis.callpaths(i)) {
            bool without = every_call && row.calls != 0;
            for (std::size_t c = first; c < kCategories; ++c) {
                if (row.exposed[c] != 0 || (without && c + 1 == kCategories)) {
                    without = false;
                    location.push_back(static_cast<std::int32_t>(analysis.accounted()[i]));
                    callpath.push_back(row.callpath);
                    phase.push_back(static_cast<std::uint8_t>(row.phase));
                    category.push_back(static_cast<std::uint8_t>(c));
                    visit(row, c);
                }
            }
        }
    }
    nb::dict d;
    d["location"] = array(std::move(location));
    d["callpath"] = array(std::move(callpath));
    d["phase"] = array(std::move(phase));
    d["category"] = array(std::move(category));
    return d;
}

nb::dict exposure(Analysis& analysis) {
    std::vector<std::int64_t> exposed;
    std::vector<std::uint64_t> calls;
    auto d = by_callpath(analysis, kCompute + 1, true, [&](const CallpathExposure& row, std::size_t category) {
        exposed.push_back(row.exposed[category]);
        calls.push_back(row.calls);
    });
    d["exposed_ps"] = array(std::move(exposed));
    d["calls"] = array(std::move(calls));
    return d;
}

/// All time of every location by callpath, and the part of it on the critical path.
nb::dict path_profile(Analysis& analysis) {
    std::vector<std::int64_t> spent;
    std::vector<std::int64_t> on_path;
    std::vector<std::int64_t> waited;
    auto d = by_callpath(analysis, kCompute, false, [&](const CallpathExposure& row, std::size_t category) {
        spent.push_back(row.exposed[category]);
        on_path.push_back(row.on_path[category]);
        waited.push_back(row.waited[category]);
    });
    d["spent_ps"] = array(std::move(spent));
    d["on_path_ps"] = array(std::move(on_path));
    d["waited_ps"] = array(std::move(waited));
    return d;
}

nb::dict critical_path(Analysis& analysis) {
    {
        const nb::gil_scoped_release release;
        analysis.path();
    }
    const auto& rows = analysis.path();
    nb::dict d;
    d["location"] = column<std::int32_t>(rows, [](const PathStretch& s) { return s.location; });
    d["begin_ps"] = column<std::int64_t>(rows, [](const PathStretch& s) { return s.begin_ps; });
    d["end_ps"] = column<std::int64_t>(rows, [](const PathStretch& s) { return s.end_ps; });
    d["call"] = column<std::int32_t>(rows, [&](const PathStretch& s) {
        return s.call == kNone ? kUndefined : analysis.call_id(index(s.location), s.call);
    });
    d["after"] = column<std::uint8_t>(
        rows, [](const PathStretch& s) { return s.call == kNone ? kWaitKinds : static_cast<std::size_t>(s.kind); });
    return d;
}

nb::dict delay_costs(Analysis& analysis) {
    {
        const nb::gil_scoped_release release;
        analysis.delays();
    }
    const auto& rows = analysis.delays();
    nb::dict d;
    d["location"] = column<std::int32_t>(rows, [](const DelayCost& c) { return c.location; });
    d["callpath"] = column<std::int32_t>(rows, [](const DelayCost& c) { return c.place.callpath; });
    d["place"] = column<std::uint8_t>(rows, [](const DelayCost& c) {
        return c.location == kNoLocation ? 2 : c.place.in_call ? 1 : 0;
    });
    d["wait_callpath"] = column<std::int32_t>(rows, [](const DelayCost& c) { return c.wait_callpath; });
    d["pattern"] = column<std::uint8_t>(rows, [](const DelayCost& c) { return c.kind; });
    d["short_term_ps"] = wide_column(rows, [](const DelayCost& c) { return c.short_term_ps; });
    d["long_term_ps"] = wide_column(rows, [](const DelayCost& c) { return c.long_term_ps; });
    return d;
}

/// The region of interest on each location: the program without start-up and shut-down, where none is named.
nb::dict interest(const Analysis& analysis) {
    std::vector<Span> spans;
    for (std::size_t l = 0; l < analysis.program().timelines.size(); ++l) {
        spans.push_back(analysis.interest(l));
    }
    nb::dict d;
    d["begin_ps"] = column<std::int64_t>(spans, [](const Span& s) { return s.begin_ps; });
    d["end_ps"] = column<std::int64_t>(spans, [](const Span& s) { return s.end_ps; });
    return d;
}

nb::dict wait_state_rows(Analysis& analysis) {
    std::vector<std::int32_t> location;
    std::vector<std::uint8_t> pattern;
    std::vector<std::int64_t> wait;
    std::vector<std::uint64_t> occurrences;
    {
        const nb::gil_scoped_release release;
        analysis.wait_states();
    }
    for (const auto l : analysis.accounted()) {
        const auto& totals = analysis.wait_states()[l];
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

}  // namespace

void bind_accounts(nb::class_<Analysis>& analysis) {
    analysis.def("accounting", &accounting, nb::sig("def accounting(self) -> logpost.replay.columns.Accounting"))
        .def("time_cells", &time_cells, nb::sig("def time_cells(self) -> logpost.replay.columns.TimeCells"),
             "The program's accounting in cells finer than windows, at several levels of detail.")
        .def("exposure", &exposure, nb::sig("def exposure(self) -> logpost.replay.columns.Exposure"))
        .def("critical_path", &critical_path, nb::sig("def critical_path(self) -> logpost.replay.columns.CriticalPath"),
             "The critical path of the recorded execution, in the order of time.")
        .def("path_profile", &path_profile, nb::sig("def path_profile(self) -> logpost.replay.columns.PathProfile"),
             "All time by location, callpath, phase and category, and the part of it on the critical path.")
        .def("delay_costs", &delay_costs, nb::sig("def delay_costs(self) -> logpost.replay.columns.DelayCosts"),
             "Which code of which location makes others wait in the region of interest, and how much.")
        .def("interest", &interest, nb::sig("def interest(self) -> logpost.replay.columns.Interest"))
        .def("wait_states", &wait_state_rows, nb::sig("def wait_states(self) -> logpost.replay.columns.WaitStates"));
}

}  // namespace logpost::replay::bindings
