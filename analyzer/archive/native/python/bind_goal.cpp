/// Ranks of a GOAL schedule, part by part.

#include "analyzer/archive/native/export/goal_rank.hpp"
#include "analyzer/archive/native/python/bindings.hpp"

namespace logpost::analyzer::bindings {

using namespace nb::literals;
namespace {

/// A rank, and the columns that it reads.
class Rank {
  public:
    Rank(std::int64_t first_ps, std::int64_t last_ps, std::int64_t unit_ps, const nb::dict& tables)
        : rank_(columns(first_ps, last_ps, tables), unit_ps) {}

    nb::tuple next(std::size_t operations) {
        GoalPart part;
        {
            const nb::gil_scoped_release release;
            part = rank_.next(operations);
        }
        nb::dict map;
        map["kind"] = column<std::uint8_t>(part.kind, [](GoalKind kind) { return kind; });
        map["call"] = array(std::move(part.call));
        map["message"] = array(std::move(part.message));
        map["instance"] = array(std::move(part.instance));
        return nb::make_tuple(nb::bytes(part.text.data(), part.text.size()), part.first, map, part.calls, part.empty);
    }

    [[nodiscard]] bool ended() const { return rank_.ended(); }

  private:
    GoalRankColumns columns(std::int64_t first_ps, std::int64_t last_ps, const nb::dict& tables) {
        GoalRankColumns found;
        found.first_ps = first_ps;
        found.last_ps = last_ps;
        const auto table = [&](const char* name) { return nb::cast<nb::dict>(tables[name]); };
        const nb::dict calls = table("calls");
        take(calls, "call", found.calls.call);
        take(calls, "enter_ps", found.calls.enter_ps);
        take(calls, "leave_ps", found.calls.leave_ps);
        take(calls, "own_ps", found.calls.own_ps);
        for (const auto& [name, messages] : {std::pair{"sends", &found.sends}, {"receives", &found.receives}}) {
            const nb::dict rows = table(name);
            take(rows, "call", messages->call);
            take(rows, "message", messages->message);
            take(rows, "peer", messages->peer);
            take(rows, "tag", messages->tag);
            take(rows, "bytes", messages->bytes);
        }
        take(table("sends"), "blocking", found.sends.blocking);
        for (const auto& [name, ends] : {std::pair{"sent", &found.sent}, {"received", &found.received}}) {
            const nb::dict rows = table(name);
            take(rows, "call", ends->call);
            take(rows, "of", ends->of);
        }
        const nb::dict collectives = table("collectives");
        take(collectives, "call", found.collectives.call);
        take(collectives, "instance", found.collectives.instance);
        take(collectives, "entered_ps", found.collectives.entered_ps);
        take(collectives, "latest_ps", found.collectives.latest_ps);
        take(collectives, "tag", found.collectives.tag);
        take(collectives, "shape", found.collectives.shape);
        const nb::dict shapes = table("shapes");
        take(shapes, "begin", found.shapes.begin);
        take(shapes, "sends", found.shapes.sends);
        take(shapes, "peer", found.shapes.peer);
        take(shapes, "bytes", found.shapes.bytes);
        return found;
    }

    template <class T>
    void take(const nb::dict& table, const char* name, std::span<const T>& into) {
        const auto given = nb::cast<replay::bindings::In<T>>(table[name]);
        into = {given.data(), given.shape(0)};
        kept_.push_back(nb::cast(given));
    }

    std::vector<nb::object> kept_;
    GoalRank rank_;
};

}  // namespace

void bind_goal(nb::module_& module) {
    nb::class_<Rank>(module, "GoalRank", "A rank of a GOAL schedule, written part by part.")
        .def(nb::init<std::int64_t, std::int64_t, std::int64_t, const nb::dict&>(), "first_ps"_a, "last_ps"_a,
             "unit_ps"_a, "tables"_a,
             nb::sig("def __init__(self, first_ps: int, last_ps: int, unit_ps: int, "
                     "tables: dict[str, logpost.replay.columns.Piece]) -> None"),
             "Tables calls, sends, receives, sent, received, collectives and shapes, sorted by call.")
        .def_prop_ro("ended", &Rank::ended, "All is written.")
        .def("next", &Rank::next, "operations"_a,
             nb::sig("def next(self, operations: int) -> tuple[bytes, int, logpost.replay.columns.Piece, int, int]"),
             "The next calls, until there are at least so many operations: their text, the first one's label, columns "
             "kind (calc, send, recv), call, message and instance, how many calls, and messages' ends of 0 bytes.");
}

}  // namespace logpost::analyzer::bindings
