#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include "bindings.hpp"
#include "replay/native/split/analysis.hpp"
#include "replay/native/split/wait_states.hpp"
#include "replay/native/threads.hpp"

namespace logpost::replay::bindings {

using namespace nb::literals;

namespace {

constexpr const char* kMessageIdNames[MessageRows::kIds] = {
    "send_location",  "recv_location", "comm",   "tag",         "layout",
    "send_callpath",  "recv_callpath", "window", "send_call",   "send_complete_call",
    "recv_post_call", "recv_call",     "hops",   "send_number", "recv_number"};
/// Name of a column of times; the parts have the engine's names.
std::string message_time_name(std::size_t time) {
    static constexpr const char* kBefore[] = {"send_enter", "send_leave", "send_complete", "recv_post",
                                              "recv_enter", "recv_leave", "envelope"};
    if (time < MessageRows::first_part) {
        return std::string(kBefore[time]) + "_ps";
    }
    if (time >= MessageRows::deficit) {
        return time == MessageRows::deficit ? "deficit_ps" : "clamped_ps";
    }
    return std::string(kPartNames[time - MessageRows::first_part]) + "_ps";
}

/// The region of interest is given by its begin and end on every location, or not at all; or lies in the causes.
void make_analysis(Analysis* self, const Program& program, const Parameters& parameters, unsigned threads,
                   const std::optional<In<std::int64_t>>& begin_ps, const std::optional<In<std::int64_t>>& end_ps,
                   std::shared_ptr<Causes> causes) {
    if (causes) {
        if (&causes->program() != &program) {
            throw std::invalid_argument("the causes are those of another program");
        }
        const nb::gil_scoped_release release;
        new (self) Analysis(program, parameters, threads, std::move(causes));
        return;
    }
    std::vector<Span> interest;
    if (begin_ps && end_ps) {
        if (begin_ps->size() != program.timelines.size() || end_ps->size() != program.timelines.size()) {
            throw std::invalid_argument("a region of interest needs a begin and an end on every location");
        }
        for (std::size_t l = 0; l < program.timelines.size(); ++l) {
            interest.push_back({(*begin_ps)(l), (*end_ps)(l)});
        }
    }
    const nb::gil_scoped_release release;
    new (self) Analysis(program, parameters, std::move(interest), threads);
}

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
        d[kMessageIdNames[i]] = array(std::move(rows.ids[i]));
    }
    d["bytes"] = array(std::move(rows.bytes));
    d["recv_bytes"] = array(std::move(rows.recv_bytes));
    d["protocol"] = array(std::move(rows.rendezvous));
    d["locality"] = array(std::move(rows.locality));
    d["clock_violation"] = array(std::move(rows.clock_violation));
    for (std::size_t i = 0; i < MessageRows::kTimes; ++i) {
        d[message_time_name(i).c_str()] = array(std::move(rows.times[i]));
    }
    return d;
}

nb::object next_calls(Analysis& analysis, std::size_t block, std::size_t limit) {
    if (block >= analysis.call_blocks()) {
        throw nb::index_error("no such block of calls");
    }
    CallRows rows;
    bool more = false;
    {
        const nb::gil_scoped_release release;
        more = analysis.next_calls(block, limit, rows);
    }
    if (!more) {
        return nb::none();
    }
    nb::dict d;
    const auto zeros = array(std::vector<std::int64_t>(rows.call.size()));  // one array for all such columns
    d["call"] = array(std::move(rows.call));
    d["location"] = array(std::move(rows.location));
    d["enter_ps"] = array(std::move(rows.enter));
    d["leave_ps"] = array(std::move(rows.leave));
    d["region"] = array(std::move(rows.region));
    d["callpath"] = array(std::move(rows.callpath));
    for (std::size_t i = 1; i < kCategories; ++i) {
        auto& exposed = rows.exposed[i - 1];
        d[(std::string(kCategoryNames[i]) + "_ps").c_str()] = exposed.empty() ? zeros : array(std::move(exposed));
    }
    return d;
}

/// One message's segments in their order, its deficit, and whether it is a rendezvous.
nb::tuple segments(const Analysis& analysis, std::int32_t location, std::uint32_t receive) {
    const auto& timelines = analysis.program().timelines;
    if (location < 0 || static_cast<std::size_t>(location) >= timelines.size() ||
        receive >= timelines[static_cast<std::size_t>(location)].receives.size() ||
        !analysis.model().knows_messages() || !analysis.model().record({location, receive}).matched) {
        throw nb::index_error("no matched message is received there");
    }
    const MessageId id{location, receive};
    const auto parts = analysis.model().partition(id);
    const std::vector<Segment> rows(parts.begin_segment(), parts.end_segment());
    nb::dict d;
    d["part"] = column<std::uint8_t>(rows, [](const Segment& s) { return static_cast<std::uint8_t>(s.part); });
    d["begin_ps"] = column<std::int64_t>(rows, [](const Segment& s) { return s.begin; });
    d["end_ps"] = column<std::int64_t>(rows, [](const Segment& s) { return s.end; });
    return nb::make_tuple(d, parts.deficit_ps, analysis.model().stages(id).rendezvous);
}

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
/// keeps of each.
template <class Visit>
nb::dict by_callpath(Analysis& analysis, std::size_t first, Visit&& visit) {
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
            for (std::size_t c = first; c < kCategories; ++c) {
                if (row.exposed[c] != 0) {
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
    auto d = by_callpath(analysis, kCompute + 1, [&](const CallpathExposure& row, std::size_t category) {
        exposed.push_back(row.exposed[category]);
        calls.push_back(row.calls);
    });
    d["exposed_ps"] = array(std::move(exposed));
    d["calls"] = array(std::move(calls));
    return d;
}

/// All time of every location by callpath, and what of it lies on the critical path.
nb::dict path_profile(Analysis& analysis) {
    std::vector<std::int64_t> spent;
    std::vector<std::int64_t> on_path;
    std::vector<std::int64_t> waited;
    auto d = by_callpath(analysis, kCompute, [&](const CallpathExposure& row, std::size_t category) {
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
        return s.call == kNone ? kUndefined : analysis.call_id(static_cast<std::size_t>(s.location), s.call);
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
        return c.location == kUndefined ? 2 : c.place.in_call ? 1 : 0;
    });
    d["wait_callpath"] = column<std::int32_t>(rows, [](const DelayCost& c) { return c.wait_callpath; });
    d["pattern"] = column<std::uint8_t>(rows, [](const DelayCost& c) { return c.kind; });
    d["short_term_ps"] = wide_column(rows, [](const DelayCost& c) { return c.short_term_ps; });
    d["long_term_ps"] = wide_column(rows, [](const DelayCost& c) { return c.long_term_ps; });
    return d;
}

/// What the category `collective` of the accounts is divided into.
nb::dict collective_parts(Analysis& analysis) {
    {
        const nb::gil_scoped_release release;
        analysis.accounts();
    }
    std::vector<std::int32_t> location;
    std::vector<std::int32_t> callpath;
    std::vector<std::uint8_t> phase;
    std::vector<std::uint8_t> part;
    std::vector<std::int64_t> exposed;
    for (std::size_t i = 0; i < analysis.accounted().size(); ++i) {
        for (const auto& row : analysis.callpaths(i)) {
            for (std::size_t p = 0; p < kCollectiveParts; ++p) {
                if (row.in_collectives[p] != 0) {
                    location.push_back(static_cast<std::int32_t>(analysis.accounted()[i]));
                    callpath.push_back(row.callpath);
                    phase.push_back(static_cast<std::uint8_t>(row.phase));
                    part.push_back(static_cast<std::uint8_t>(p));
                    exposed.push_back(row.in_collectives[p]);
                }
            }
        }
    }
    nb::dict d;
    d["location"] = array(std::move(location));
    d["callpath"] = array(std::move(callpath));
    d["phase"] = array(std::move(phase));
    d["part"] = array(std::move(part));
    d["exposed_ps"] = array(std::move(exposed));
    return d;
}

/// The kinds of collective operations that are divided, with the algorithm that explains each best.
nb::dict collective_kinds(const Analysis& analysis) {
    const auto& rows = analysis.divided().kinds();
    nb::dict d;
    d["operation"] = column<std::uint8_t>(rows, [](const CollectiveKind& k) { return k.operation; });
    d["comm"] = column<std::int32_t>(rows, [](const CollectiveKind& k) { return k.comm; });
    d["members"] = column<std::int32_t>(rows, [](const CollectiveKind& k) { return k.members; });
    d["least_bytes"] = column<std::uint64_t>(rows, [](const CollectiveKind& k) { return k.least_bytes; });
    d["most_bytes"] = column<std::uint64_t>(rows, [](const CollectiveKind& k) { return k.most_bytes; });
    d["operations"] = column<std::uint64_t>(rows, [](const CollectiveKind& k) { return k.operations; });
    d["algorithm"] = column<std::uint8_t>(rows, [](const CollectiveKind& k) { return k.algorithm; });
    d["error_ps"] = column<double>(rows, [](const CollectiveKind& k) { return k.error_ps; });
    d["second"] = column<std::uint8_t>(rows, [](const CollectiveKind& k) { return k.second; });
    d["second_error_ps"] = column<double>(rows, [](const CollectiveKind& k) { return k.second_error_ps; });
    d["measured_ps"] = wide_column(rows, [](const CollectiveKind& k) { return k.measured_ps; });
    d["predicted_ps"] = wide_column(rows, [](const CollectiveKind& k) { return k.predicted_ps; });
    d["residual_ps"] = wide_column(rows, [](const CollectiveKind& k) { return k.residual_ps; });
    d["deficit_ps"] = wide_column(rows, [](const CollectiveKind& k) { return k.deficit_ps; });
    return d;
}

/// One member's way through a collective operation, and the operation's kind; -1: it is not divided.
nb::tuple collective_way(const Analysis& analysis, std::int32_t location, std::uint32_t number) {
    const auto& timelines = analysis.program().timelines;
    if (location < 0 || static_cast<std::size_t>(location) >= timelines.size() ||
        number >= timelines[static_cast<std::size_t>(location)].collectives.size()) {
        throw nb::index_error("no collective operation is recorded there");
    }
    const auto at = static_cast<std::size_t>(location);
    std::vector<CollectiveSplit::Step> rows;
    {
        const nb::gil_scoped_release release;
        rows = analysis.divided().way(at, number);
    }
    const auto kind = analysis.divided().kind_of(timelines[at].collectives[number]);
    nb::dict d;
    d["part"] = column<std::uint8_t>(rows, [](const auto& s) { return static_cast<std::uint8_t>(s.part); });
    d["begin_ps"] = column<std::int64_t>(rows, [](const auto& s) { return s.begin_ps; });
    d["end_ps"] = column<std::int64_t>(rows, [](const auto& s) { return s.end_ps; });
    return nb::make_tuple(d, kind.has_value() ? static_cast<std::int32_t>(*kind) : kUndefined);
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
            totals_of[i] = wait_states(analysis.program(), analysis.collectives(), accounted[i],
                                       analysis.given_interest(accounted[i]));
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

nb::dict pairs(Analysis& analysis) {
    {
        const nb::gil_scoped_release release;
        analysis.pairs();
    }
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
    for (std::size_t part = 0; part < kParts; ++part) {
        d[message_time_name(MessageRows::first_part + part).c_str()] =
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

/// Ends of messages that have no other end.
nb::dict unmatched(const Analysis& analysis) {
    std::vector<MessageEnd> rows;
    std::vector<std::int32_t> location;
    std::vector<std::int32_t> number;
    std::vector<std::int32_t> call;
    std::vector<std::int32_t> complete_call;
    std::vector<std::uint8_t> direction;
    const auto& timelines = analysis.program().timelines;
    for (std::size_t l = 0; l < timelines.size(); ++l) {
        for (std::uint8_t receiving = 0; receiving < 2; ++receiving) {
            const auto& ends = receiving != 0 ? timelines[l].receives : timelines[l].sends;
            ends.for_each([&](std::size_t i, const MessageEnd& end) {
                if (end.match == kNone) {
                    rows.push_back(end);
                    location.push_back(static_cast<std::int32_t>(l));
                    number.push_back(static_cast<std::int32_t>(i));
                    call.push_back(analysis.call_id(l, end.call));
                    complete_call.push_back(analysis.call_id(l, end.complete_call));
                    direction.push_back(receiving);
                }
            });
        }
    }
    nb::dict d;
    d["location"] = array(std::move(location));
    d["direction"] = array(std::move(direction));
    d["number"] = array(std::move(number));
    d["call"] = array(std::move(call));
    d["complete_call"] = array(std::move(complete_call));
    d["peer"] = column<std::int32_t>(rows, [](const MessageEnd& e) { return e.peer; });
    d["comm"] = column<std::int32_t>(rows, [](const MessageEnd& e) { return e.comm; });
    d["tag"] = column<std::int32_t>(rows, [](const MessageEnd& e) { return e.tag; });
    d["bytes"] = column<std::uint64_t>(rows, [](const MessageEnd& e) { return e.bytes; });
    return d;
}

/// Rows `begin` to `end` - 1 of the table, or as many as there are.
nb::dict collectives(const Analysis& analysis, std::size_t begin, std::optional<std::size_t> end) {
    const auto& program = analysis.program();
    std::vector<std::int32_t> instance, location, comm, root, callpath, call, complete_call, rma_window;
    std::vector<std::uint8_t> operation;
    std::vector<std::int64_t> enter, leave, wait;
    std::vector<std::uint64_t> bytes_sent, bytes_received;
    const auto each = [](auto&& visit, auto&... columns) { (visit(columns), ...); };
    {
        // Messages and calls are written beside, and begin with the interpreter.
        const nb::gil_scoped_release release;
        std::size_t count = 0;
        for (const auto& timeline : program.timelines) {
            count += timeline.collectives.size();
        }
        const auto last = std::min(end.value_or(count), count);
        const auto first = std::min(begin, last);
        each([&](auto& column) { column.reserve(last - first); }, instance, location, comm, root, callpath, call,
             complete_call, rma_window, operation, enter, leave, wait, bytes_sent, bytes_received);
        std::size_t before = 0;  // rows of the locations so far
        for (std::size_t l = 0; l < program.timelines.size() && before < last; ++l) {
            const auto& mine = program.timelines[l];
            const auto from = first - std::min(first, before);
            const auto to = std::min(mine.collectives.size(), last - before);
            before += mine.collectives.size();
            for (std::size_t i = from; i < to; ++i) {
                const auto& row = mine.collectives[i];
                instance.push_back(row.instance == kNone ? kUndefined : static_cast<std::int32_t>(row.instance));
                location.push_back(static_cast<std::int32_t>(l));
                comm.push_back(row.comm);
                root.push_back(row.root);
                callpath.push_back(mine.calls[row.call].callpath);
                call.push_back(analysis.call_id(l, row.call));
                complete_call.push_back(analysis.call_id(l, row.complete_call));
                operation.push_back(static_cast<std::uint8_t>(row.operation));
                enter.push_back(row.begin_ps);
                leave.push_back(row.end_ps);
                rma_window.push_back(row.rma_window);
                wait.push_back(row.call == row.complete_call ? analysis.collectives().wait(row, l) : 0);
                bytes_sent.push_back(row.bytes_sent);
                bytes_received.push_back(row.bytes_received);
            }
        }
    }
    nb::dict d;
    d["instance"] = array(std::move(instance));
    d["location"] = array(std::move(location));
    d["comm"] = array(std::move(comm));
    d["root"] = array(std::move(root));
    d["callpath"] = array(std::move(callpath));
    d["call"] = array(std::move(call));
    d["complete_call"] = array(std::move(complete_call));
    d["operation"] = array(std::move(operation));
    d["enter_ps"] = array(std::move(enter));
    d["leave_ps"] = array(std::move(leave));
    d["rma_window"] = array(std::move(rma_window));
    d["wait_ps"] = array(std::move(wait));
    d["bytes_sent"] = array(std::move(bytes_sent));
    d["bytes_received"] = array(std::move(bytes_received));
    return d;
}

nb::dict network(const Analysis& analysis) {
    const auto& of = analysis.model().network();
    std::vector<std::int64_t> begin, end;
    std::vector<std::uint64_t> messages, bytes, link_messages, link_bytes;
    std::vector<double> utilisation, contention;
    std::vector<std::int32_t> link_phase, link;
    for (const auto& phase : of.phases()) {
        begin.push_back(phase.span.begin_ps);
        end.push_back(phase.span.end_ps);
        messages.push_back(phase.messages);
        bytes.push_back(phase.bytes);
        utilisation.push_back(phase.utilisation);
        contention.push_back(phase.contention_ps);
    }
    for (const auto& row : of.links()) {
        link_phase.push_back(static_cast<std::int32_t>(row.phase));
        link.push_back(row.link);
        link_messages.push_back(row.messages);
        link_bytes.push_back(row.bytes);
    }
    nb::dict d;
    d["begin_ps"] = array(std::move(begin));
    d["end_ps"] = array(std::move(end));
    d["messages"] = array(std::move(messages));
    d["bytes"] = array(std::move(bytes));
    d["utilisation"] = array(std::move(utilisation));
    d["contention_ps"] = array(std::move(contention));
    d["excess_ps"] = wide_column(of.phases(), [](const TrafficPhase& p) { return p.excess_ps; });
    d["granted_ps"] = wide_column(of.phases(), [](const TrafficPhase& p) { return p.granted_ps; });
    d["link_phase"] = array(std::move(link_phase));
    d["link"] = array(std::move(link));
    d["link_messages"] = array(std::move(link_messages));
    d["link_bytes"] = array(std::move(link_bytes));
    d["link_granted_ps"] = wide_column(of.links(), [](const LinkTraffic& l) { return l.granted_ps; });
    return d;
}

}  // namespace

void bind_analysis(nb::module_& module) {
    nb::class_<Causes>(module, "Causes",
                       "What made whom wait in a program, from its recorded times: no machine is needed for it.")
        .def(
            "__init__",
            [](Causes* self, const Program& program, unsigned threads) {
                const nb::gil_scoped_release release;
                new (self) Causes(program, {}, threads);
            },
            "program"_a, "threads"_a, nb::keep_alive<1, 2>())
        .def(
            "find", [](Causes& self) { self.delays(); }, nb::call_guard<nb::gil_scoped_release>(),
            "Finds the critical path and the delay costs; an analysis finds at once what is not yet known.");
    nb::class_<Analysis> analysis(module, "Analysis", "Rows of a run's tables, in batches.");
    analysis
        .def("__init__", &make_analysis, "program"_a, "parameters"_a, "threads"_a, "begin_ps"_a = nb::none(),
             "end_ps"_a = nb::none(), "causes"_a = nb::none(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
             nb::sig("def __init__(self, program: Program, parameters: Parameters, threads: int, "
                     "begin_ps: logpost.replay.columns.Int64 | None = None, "
                     "end_ps: logpost.replay.columns.Int64 | None = None, causes: Causes | None = None) -> None"))
        .def("next_messages", &next_messages, "limit"_a,
             nb::sig("def next_messages(self, limit: int) -> logpost.replay.columns.Messages | None"))
        .def_prop_ro("threads", &Analysis::threads, "As many as it was given.")
        .def_prop_ro("call_blocks", &Analysis::call_blocks, "How many blocks the calls are accounted in.")
        .def("next_calls", &next_calls, "block"_a, "limit"_a,
             nb::sig("def next_calls(self, block: int, limit: int) -> logpost.replay.columns.Calls | None"),
             "At most `limit` rows of one block of calls; several threads may ask, each for another block.")
        .def("segments", &segments, "location"_a, "receive"_a,
             nb::sig("def segments(self, location: int, receive: int) "
                     "-> tuple[logpost.replay.columns.Segments, int, bool]"),
             "One message's partition by its receiving end, its deficit in picoseconds, whether it is a rendezvous.")
        .def("forget_messages", &Analysis::forget_messages, nb::call_guard<nb::gil_scoped_release>(),
             "Frees what rows of messages and calls are made from; the sums over them can still be asked for.")
        .def("split_only", &Analysis::split_only, nb::call_guard<nb::gil_scoped_release>())
        .def("accounting", &accounting, nb::sig("def accounting(self) -> logpost.replay.columns.Accounting"))
        .def("time_cells", &time_cells, nb::sig("def time_cells(self) -> logpost.replay.columns.TimeCells"),
             "The program's accounting in cells finer than windows, at several levels of detail.")
        .def("exposure", &exposure, nb::sig("def exposure(self) -> logpost.replay.columns.Exposure"))
        .def("critical_path", &critical_path, nb::sig("def critical_path(self) -> logpost.replay.columns.CriticalPath"),
             "The critical path of the recorded execution, in the order of time.")
        .def("path_profile", &path_profile, nb::sig("def path_profile(self) -> logpost.replay.columns.PathProfile"),
             "All time by location, callpath, phase and category, and what of it lies on the critical path.")
        .def("delay_costs", &delay_costs, nb::sig("def delay_costs(self) -> logpost.replay.columns.DelayCosts"),
             "Which code of which location makes others wait in the region of interest, and how much.")
        .def("interest", &interest, nb::sig("def interest(self) -> logpost.replay.columns.Interest"))
        .def("unmatched", &unmatched, nb::sig("def unmatched(self) -> logpost.replay.columns.Unmatched"))
        .def("wait_states", &wait_state_rows, nb::sig("def wait_states(self) -> logpost.replay.columns.WaitStates"))
        .def("pairs", &pairs, nb::sig("def pairs(self) -> logpost.replay.columns.Pairs"))
        .def("load", &load, nb::sig("def load(self) -> logpost.replay.columns.Load"))
        .def("network", &network, nb::sig("def network(self) -> logpost.replay.columns.Network"),
             "Traffic between nodes by phase, and by phase and link; empty where the machine's network is not known.")
        .def("collectives", &collectives, "begin"_a = 0, "end"_a = nb::none(),
             nb::sig("def collectives(self, begin: int = 0, end: int | None = None) -> "
                     "logpost.replay.columns.Collectives"),
             "Rows of the table `collectives`, to `end` or the last one.")
        .def("collective_parts", &collective_parts,
             nb::sig("def collective_parts(self) -> logpost.replay.columns.CollectiveParts"),
             "What the category `collective` is divided into, by location, callpath and phase.")
        .def("collective_kinds", &collective_kinds,
             nb::sig("def collective_kinds(self) -> logpost.replay.columns.CollectiveKinds"),
             "Divided operations by kind, size class and communicator, with their algorithm.")
        .def("collective_way", &collective_way, "location"_a, "number"_a,
             nb::sig("def collective_way(self, location: int, number: int) "
                     "-> tuple[logpost.replay.columns.CollectiveWay, int]"),
             "One member's labelled way through an operation in the order of time, and its kind; -1: not divided.")
        .def("accounted", [](const Analysis& a) { return a.accounted(); })
        .def_prop_ro("messages", [](const Analysis& a) { return a.model().messages(); })
        .def_prop_ro("clock_violations", [](const Analysis& a) { return a.model().clock_violations(); })
        .def_prop_ro(
            "asynchronous_progress", [](const Analysis& a) { return a.model().asynchronous_progress(); },
            "Whether NICs answer rendezvous without a processor: stated by the parameters, or proven by the trace.")
        .def_prop_ro(
            "beyond_sizes", [](const Analysis& a) { return a.model().beyond_sizes(); },
            "Messages of which some term was read beyond the machine's largest measured size or number of blocks.")
        .def_prop_ro(
            "beyond_strides", [](const Analysis& a) { return a.model().beyond_strides(); },
            "Messages whose stride is larger than the machine's largest measured one.")
        .def_prop_ro("window_count", [](const Analysis& a) { return a.model().windows().count; })
        .def_prop_ro("window_width_ps", [](const Analysis& a) { return a.model().windows().width_ps; })
        .def_prop_ro(
            "window_cells", [](const Analysis& a) { return a.model().windows().cells; },
            "Cells of a window, in the finest level of `time_cells`; 1: it is empty.");
    bind_one_sided(analysis);
}

}  // namespace logpost::replay::bindings
