/// RecordedGraph: what waits for what in a run, and what hypotheses save.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/native/graph/hypothesis.hpp"
#include "replay/native/python/bindings.hpp"

namespace logpost::replay::bindings {

using namespace nb::literals;

namespace {

template <class T>
std::span<const T> span(const In<T>& column) {
    return {column.data(), column.size()};
}
template <class T>
std::span<const T> span(const std::optional<In<T>>& column) {
    return column.has_value() ? span(*column) : std::span<const T>{};
}
template <class T>
std::optional<In<T>> column_of(const nb::dict& columns, const char* name) {
    return columns.contains(name) ? std::optional(nb::cast<In<T>>(columns[name])) : std::nullopt;
}
template <class T>
In<T> needed(const nb::dict& columns, const char* name) {
    return nb::cast<In<T>>(columns[name]);
}

/// The graph, and how many messages it was made of.
class Recorded {
  public:
    Recorded(const nb::dict& calls, const nb::dict& messages, const nb::dict& members, const nb::dict& epochs,
             const In<std::uint8_t>& query, std::int64_t spin_ps) {
        const auto location = needed<std::int32_t>(calls, "location");
        const auto callpath = needed<std::int32_t>(calls, "callpath");
        const auto enter = needed<std::int64_t>(calls, "enter_ps");
        const auto leave = needed<std::int64_t>(calls, "leave_ps");
        const auto begin = needed<std::int64_t>(calls, "begin_ps");
        const auto work = needed<std::int64_t>(calls, "work_ps");
        const auto send = needed<std::int32_t>(messages, "send_call");
        const auto complete = needed<std::int32_t>(messages, "complete_call");
        const auto post = needed<std::int32_t>(messages, "post_call");
        const auto receive = needed<std::int32_t>(messages, "recv_call");
        const auto rendezvous = needed<std::uint8_t>(messages, "rendezvous");
        const auto transport = needed<std::int64_t>(messages, "transport_ps");
        const auto latency = needed<std::int64_t>(messages, "latency_ps");
        const auto serialization = needed<std::int64_t>(messages, "serialization_ps");
        const auto received = needed<std::int64_t>(messages, "received_ps");
        const auto instance = needed<std::int32_t>(members, "instance");
        const auto member = needed<std::int32_t>(members, "call");
        const auto complete_member = needed<std::int32_t>(members, "complete");
        const auto operation = needed<std::uint8_t>(members, "operation");
        const auto root = needed<std::uint8_t>(members, "root");
        const auto waits = needed<std::int32_t>(epochs, "call");
        const auto source = needed<std::int32_t>(epochs, "source");
        const auto leaves = needed<std::uint8_t>(epochs, "leaves");
        const auto own = needed<std::uint8_t>(epochs, "own");
        const auto reason = needed<std::uint8_t>(epochs, "reason");
        const auto rest = needed<std::int64_t>(epochs, "rest_ps");
        messages_ = send.size();
        const nb::gil_scoped_release release;
        graph_.emplace(
            RecordedCalls{span(location), span(callpath), span(enter), span(leave), span(begin), span(work)},
            RecordedMessages{span(send), span(complete), span(post), span(receive), span(rendezvous), span(transport),
                             span(latency), span(serialization), span(received)},
            RecordedMembers{span(instance), span(member), span(complete_member), span(operation), span(root)},
            RecordedEpochs{span(waits), span(source), span(leaves), span(own), span(reason), span(rest)},
            Polling{span(query), spin_ps});
    }

    [[nodiscard]] const RecordedGraph& graph() const noexcept { return *graph_; }

    /// Rows of the waits; the calls that wait and that are waited for.
    [[nodiscard]] nb::dict waits() const {
        std::vector<std::int32_t> call, source, message;
        std::vector<std::int64_t> arrival;
        std::vector<std::uint8_t> reason;
        for (std::uint32_t one = 0; one < graph_->calls(); ++one) {
            for (const auto& wait : graph_->waits_of(one)) {
                call.push_back(static_cast<std::int32_t>(one));
                source.push_back(static_cast<std::int32_t>(graph_->call_of(wait.source)));
                message.push_back(wait.message);
                arrival.push_back(graph_->time(wait.source) + wait.lag_ps);
                reason.push_back(static_cast<std::uint8_t>(wait.reason));
            }
        }
        nb::dict d;
        d["call"] = array(std::move(call));
        d["source"] = array(std::move(source));
        d["message"] = array(std::move(message));
        d["arrival_ps"] = array(std::move(arrival));
        d["reason"] = array(std::move(reason));
        return d;
    }

    /// By call: the row of the wait that ends last; -1: none.
    [[nodiscard]] nb::object binding() const {
        std::vector<std::int32_t> rows(graph_->calls());
        for (std::uint32_t call = 0; call < graph_->calls(); ++call) {
            const auto* wait = graph_->binding(call);
            rows[call] = wait == nullptr ? -1 : static_cast<std::int32_t>(wait - graph_->waits.data());
        }
        return array(std::move(rows));
    }

    [[nodiscard]] nb::object depths(const In<std::int32_t>& calls) const {
        std::vector<std::int32_t> found;
        for (std::size_t i = 0; i < calls.size(); ++i) {
            if (calls(i) < 0 || static_cast<std::uint32_t>(calls(i)) >= graph_->calls()) {
                throw std::invalid_argument("there is no such call");
            }
            found.push_back(static_cast<std::int32_t>(graph_->depth(static_cast<std::uint32_t>(calls(i)))));
        }
        return array(std::move(found));
    }

    [[nodiscard]] nb::dict replay(const nb::dict& hypothesis, const std::vector<std::string>& dropped,
                                  bool with_path) const {
        const auto gap = column_of<std::int64_t>(hypothesis, "gap_ps");
        const auto work = column_of<std::int64_t>(hypothesis, "work_ps");
        const auto share = column_of<double>(hypothesis, "share");
        const auto freed = column_of<std::uint8_t>(hypothesis, "freed");
        const auto later = column_of<std::int32_t>(hypothesis, "later");
        const auto member = column_of<std::int64_t>(hypothesis, "member_ps");
        const auto stay = column_of<std::int64_t>(hypothesis, "stay_ps");
        const auto earlier = column_of<std::int32_t>(hypothesis, "earlier");
        const auto less = column_of<std::int64_t>(hypothesis, "less_ps");
        const auto most = column_of<std::int64_t>(hypothesis, "most_ps");
        const auto instead = column_of<std::int32_t>(hypothesis, "instead");
        const auto lag = column_of<std::int64_t>(hypothesis, "lag_ps");
        const auto of = column_of<std::uint8_t>(hypothesis, "of");
        std::uint32_t reasons = 0;
        for (std::size_t reason = 0; reason < kReasonNames.size(); ++reason) {
            reasons |= std::ranges::find(dropped, kReasonNames[reason]) != dropped.end() ? 1U << reason : 0U;
        }
        HypothesisOutcome outcome;
        {
            const nb::gil_scoped_release release;
            outcome = logpost::replay::replay(
                *graph_,
                {span(gap), span(work), span(share), span(freed), span(later), span(member), span(stay), span(earlier),
                 span(less), span(most), span(instead), span(lag), reasons, span(of)},
                messages_, with_path);
        }
        std::vector<std::int32_t> on_path;
        std::vector<std::uint8_t> what;
        std::vector<std::int64_t> begin, end;
        for (const auto& stretch : outcome.path) {
            on_path.push_back(static_cast<std::int32_t>(stretch.call));
            what.push_back(static_cast<std::uint8_t>(stretch.what));
            begin.push_back(stretch.begin_ps);
            end.push_back(stretch.end_ps);
        }
        nb::dict d;
        d["length_ps"] = outcome.length_ps;
        d["enter_ps"] = array(std::move(outcome.enter_ps));
        d["leave_ps"] = array(std::move(outcome.leave_ps));
        d["waited_ps"] = array(std::move(outcome.waited_ps));
        d["path_call"] = array(std::move(on_path));
        d["path_what"] = array(std::move(what));
        d["path_begin_ps"] = array(std::move(begin));
        d["path_end_ps"] = array(std::move(end));
        return d;
    }

  private:
    std::optional<RecordedGraph> graph_;
    std::size_t messages_ = 0;
};

}  // namespace

void bind_recorded(nb::module_& module) {
    module.def(
        "wait_reasons", [] { return std::vector<std::string>(kReasonNames.begin(), kReasonNames.end()); },
        "Names of what calls wait for, by code.");
    module.def(
        "on_path", [] { return std::vector<std::string>(kOnPathNames.begin(), kOnPathNames.end()); },
        "Names of what stretches of a recorded program's path are, by code.");
    const auto copied = [](auto member) {
        return [member](const Recorded& self) { return array(std::vector(self.graph().*member)); };
    };
    nb::class_<Recorded>(module, "RecordedGraph", "What waits for what in a recorded program; it repeats the run.")
        .def(nb::init<const nb::dict&, const nb::dict&, const nb::dict&, const nb::dict&, const In<std::uint8_t>&,
                      std::int64_t>(),
             "calls"_a, "messages"_a, "members"_a, "epochs"_a, "query"_a, "spin_ps"_a,
             nb::sig("def __init__(self, calls: dict[str, logpost.replay.columns.Column], "
                     "messages: dict[str, logpost.replay.columns.Column], "
                     "members: dict[str, logpost.replay.columns.Column], "
                     "epochs: dict[str, logpost.replay.columns.Column], query: logpost.replay.columns.UInt8, "
                     "spin_ps: int) -> None"),
             "Calls by location and time; messages, members and waits of epochs name their rows. `query` by call path: "
             "1 asks for "
             "messages, 2 waits for them.")
        .def("gaps", copied(&RecordedGraph::gap_ps), nb::sig("def gaps(self) -> logpost.replay.columns.Int64"),
             "By call: code before it, in ps; 0 where that is waiting.")
        .def("work", copied(&RecordedGraph::work_ps), nb::sig("def work(self) -> logpost.replay.columns.Int64"),
             "By call: what it does itself, in ps.")
        .def("polls", copied(&RecordedGraph::polls), nb::sig("def polls(self) -> logpost.replay.columns.UInt8"),
             "By call: 1 where it asks for a message that has not come.")
        .def("waits", &Recorded::waits, nb::sig("def waits(self) -> logpost.replay.columns.Waits"),
             "What calls wait for: the enter of `source`, of members the last one's or the root's; it has got there at "
             "`arrival_ps`.")
        .def("binding", &Recorded::binding, nb::sig("def binding(self) -> logpost.replay.columns.Int32"),
             "By call: the row of the wait that ends last; -1 where its own work lasts longer.")
        .def("depths", &Recorded::depths, "calls"_a,
             nb::sig("def depths(self, calls: logpost.replay.columns.Int32) -> logpost.replay.columns.Int32"),
             "Ranks that compute one after the other while these calls wait.")
        .def("replay", &Recorded::replay, "hypothesis"_a, "dropped"_a, "with_path"_a = false,
             nb::sig("def replay(self, hypothesis: dict[str, logpost.replay.columns.Column | "
                     "logpost.replay.columns.Float64], dropped: list[str], with_path: bool = False) "
                     "-> logpost.replay.columns.Replayed"),
             "The program under a hypothesis: columns of the native struct, by name, and reasons that nobody waits "
             "for. With its critical path, where that is asked for.");
}

}  // namespace logpost::replay::bindings
