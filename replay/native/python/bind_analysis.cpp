#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include "replay/native/python/bindings.hpp"
#include "replay/native/python/row_columns.hpp"
#include "replay/native/split/analysis.hpp"

namespace logpost::replay::bindings {

using namespace nb::literals;

namespace {

/// The region of interest is given by its begin and end on every location, or not at all; or is part of the causes.
void make_analysis(Analysis* self, const Program& program, const Parameters& parameters, unsigned threads,
                   const std::optional<In<std::int64_t>>& begin_ps, const std::optional<In<std::int64_t>>& end_ps,
                   std::shared_ptr<Causes> causes, std::shared_ptr<ReplayedBlocks> replayed) {
    if (causes) {
        if (&causes->program() != &program) {
            throw std::invalid_argument("the causes are those of another program");
        }
        const nb::gil_scoped_release release;
        new (self) Analysis(program, parameters, threads, std::move(causes), std::move(replayed));
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
    return message_columns(std::move(rows));
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
    return call_columns(std::move(rows));
}

/// One message's segments in their order, its deficit, and whether it is a rendezvous.
nb::tuple segments(const Analysis& analysis, std::int32_t location, std::uint32_t receive) {
    const auto& timelines = analysis.program().timelines;
    if (location < 0 || static_cast<std::size_t>(location) >= timelines.size() ||
        receive >= timelines[static_cast<std::size_t>(location)].receives.size() ||
        !analysis.model().knows_messages() || !analysis.model().record({Location{location}, receive}).matched) {
        throw nb::index_error("no matched message is received there");
    }
    const MessageId id{Location{location}, receive};
    const auto parts = analysis.model().partition(id);
    const std::vector<Segment> rows(parts.begin_segment(), parts.end_segment());
    nb::dict d;
    d["part"] = column<std::uint8_t>(rows, [](const Segment& s) { return static_cast<std::uint8_t>(s.part); });
    d["begin_ps"] = column<std::int64_t>(rows, [](const Segment& s) { return s.begin; });
    d["end_ps"] = column<std::int64_t>(rows, [](const Segment& s) { return s.end; });
    return nb::make_tuple(d, parts.deficit_ps, analysis.model().stages(id).rendezvous);
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
    d["send_location"] = column<std::int32_t>(rows, [](const PairSum& p) { return number(p.sender); });
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
    d["peer"] = column<std::int32_t>(rows, [](const MessageEnd& e) { return replay::number(e.peer); });
    d["comm"] = column<std::int32_t>(rows, [](const MessageEnd& e) { return e.comm; });
    d["tag"] = column<std::int32_t>(rows, [](const MessageEnd& e) { return e.tag; });
    d["bytes"] = column<std::uint64_t>(rows, [](const MessageEnd& e) { return e.bytes; });
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
                       "The causes of waits in a program, from its recorded times: no machine is needed for it.")
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
    nb::class_<ReplayedBlocks>(module, "ReplayedBlocks",
                               "What replays found of a program's messages and operations, block by block.");
    nb::class_<Analysis> analysis(module, "Analysis", "Rows of a run's tables, in batches.");
    analysis
        .def("__init__", &make_analysis, "program"_a, "parameters"_a, "threads"_a, "begin_ps"_a = nb::none(),
             "end_ps"_a = nb::none(), "causes"_a = nb::none(), "replayed"_a = nb::none(), nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 3>(),
             nb::sig("def __init__(self, program: Program, parameters: Parameters, threads: int, "
                     "begin_ps: logpost.replay.columns.Int64 | None = None, "
                     "end_ps: logpost.replay.columns.Int64 | None = None, causes: Causes | None = None, "
                     "replayed: ReplayedBlocks | None = None) -> None"))
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
             "Frees what rows of messages and calls are made from; the sums over them stay available.")
        .def("split_only", &Analysis::split_only, nb::call_guard<nb::gil_scoped_release>())
        .def("unmatched", &unmatched, nb::sig("def unmatched(self) -> logpost.replay.columns.Unmatched"))
        .def("pairs", &pairs, nb::sig("def pairs(self) -> logpost.replay.columns.Pairs"))
        .def("load", &load, nb::sig("def load(self) -> logpost.replay.columns.Load"))
        .def("network", &network, nb::sig("def network(self) -> logpost.replay.columns.Network"),
             "Traffic between nodes by phase, and by phase and link; empty where the machine's network is not known.")
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
    bind_accounts(analysis);
    bind_divided_collectives(analysis);
    bind_one_sided(analysis);
}

}  // namespace logpost::replay::bindings
