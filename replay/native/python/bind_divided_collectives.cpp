// What an analysis says of collective operations: their rows, and how members' times in them are divided.
#include <nanobind/stl/optional.h>

#include "replay/native/python/bindings.hpp"
#include "replay/native/split/analysis.hpp"

namespace logpost::replay::bindings {

using namespace nb::literals;

namespace {

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

/// Rows `begin` to `end` - 1 of the table, or as many as there are.
nb::dict collectives(const Analysis& analysis, std::size_t begin, std::optional<std::size_t> end) {
    const auto& program = analysis.program();
    std::vector<std::int32_t> instance, location, comm, root, callpath, call, complete_call, rma_window, layout,
        received_layout;
    std::vector<std::uint8_t> operation;
    std::vector<std::int64_t> enter, leave, wait;
    std::vector<std::uint64_t> bytes_sent, bytes_received;
    const auto each = [](auto&& visit, auto&... columns) { (visit(columns), ...); };
    {
        // Messages and calls are written concurrently, and begin with the interpreter.
        const nb::gil_scoped_release release;
        std::size_t count = 0;
        for (const auto& timeline : program.timelines) {
            count += timeline.collectives.size();
        }
        const auto last = std::min(end.value_or(count), count);
        const auto first = std::min(begin, last);
        each([&](auto& column) { column.reserve(last - first); }, instance, location, comm, root, callpath, call,
             complete_call, rma_window, layout, received_layout, operation, enter, leave, wait, bytes_sent,
             bytes_received);
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
                root.push_back(number(row.root));
                callpath.push_back(mine.calls[row.call].callpath);
                call.push_back(analysis.call_id(l, row.call));
                complete_call.push_back(analysis.call_id(l, row.complete_call));
                operation.push_back(static_cast<std::uint8_t>(row.operation));
                enter.push_back(row.begin_ps);
                leave.push_back(row.end_ps);
                rma_window.push_back(row.rma_window);
                layout.push_back(row.layout);
                received_layout.push_back(row.received_layout);
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
    d["layout"] = array(std::move(layout));
    d["received_layout"] = array(std::move(received_layout));
    d["wait_ps"] = array(std::move(wait));
    d["bytes_sent"] = array(std::move(bytes_sent));
    d["bytes_received"] = array(std::move(bytes_received));
    return d;
}

}  // namespace

void bind_divided_collectives(nb::class_<Analysis>& analysis) {
    analysis
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
             "One member's labelled way through an operation in the order of time, and its kind; -1: not divided.");
}

}  // namespace logpost::replay::bindings
