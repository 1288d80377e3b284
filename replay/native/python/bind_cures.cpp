/// Cures: a recorded program's graph, and its replay under transformations.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replay/native/graph/cure.hpp"
#include "replay/native/python/bindings.hpp"

namespace logpost::replay::bindings {

using namespace nb::literals;

namespace {

/// The graph, on the machine that the program ran on, and its cures.
class Curable {
  public:
    Curable(const Program& program, const Parameters& machine, const Parameters& planned)
        : graph_(build_graph(program, machine, planned, nullptr, nullptr, false, false, true)),
          cures_(graph_, machine) {}

    [[nodiscard]] nb::dict messages() const {
        const auto& of = cures_.messages();
        const auto column = [&](std::uint32_t MessageSteps::* member) {
            std::vector<std::int32_t> found;
            found.reserve(of.size());
            for (const auto& one : of) {
                found.push_back(one.*member == kNone ? -1 : static_cast<std::int32_t>(one.*member));
            }
            return array(std::move(found));
        };
        std::vector<std::int64_t> bytes;
        std::vector<std::uint8_t> handshake, waits;
        for (const auto& one : of) {
            bytes.push_back(static_cast<std::int64_t>(one.bytes));
            handshake.push_back(one.match == kNone ? 0 : 1);
            waits.push_back(one.sent == kNone ? 0 : 1);
        }
        nb::dict found;
        found["send_call"] = column(&MessageSteps::send_call);
        found["sent_call"] = column(&MessageSteps::sent_call);
        found["post_call"] = column(&MessageSteps::post_call);
        found["received_call"] = column(&MessageSteps::received_call);
        found["bytes"] = array(std::move(bytes));
        found["handshake"] = array(std::move(handshake));
        found["sender_waits"] = array(std::move(waits));
        return found;
    }

    [[nodiscard]] nb::object replay(const nb::dict& given, bool with_path) const {
        Transformation change;
        std::vector<nb::object> kept;  // columns outlive the replay
        const auto take = [&]<class T>(const char* name, std::span<const T>& into) {
            if (given.contains(name)) {
                const auto column = nb::cast<In<T>>(given[name]);
                into = {column.data(), column.size()};
                kept.push_back(nb::borrow<nb::object>(given[name]));
            }
        };
        take("longer_ps", change.longer_ps);
        take("lasts_ps", change.lasts_ps);
        take("permitted", change.permitted);
        take("longer_at_end_ps", change.longer_at_end_ps);
        take("sent", change.sent);
        take("send_as", change.send_as);
        take("receive_as", change.receive_as);
        take("sent_from", change.sent_from);
        take("posted_by", change.posted_by);
        take("received_by", change.received_by);
        take("as_modelled", change.as_modelled);
        take("shorter_send_ps", change.shorter_send_ps);
        take("shorter_receive_ps", change.shorter_receive_ps);
        take("more_latency_ps", change.more_latency_ps);
        take("more_service_ps", change.more_service_ps);
        take("more_received_ps", change.more_received_ps);
        take("more_handled_ps", change.more_handled_ps);
        take("arrives_through", change.arrives_through);
        take("from", change.from);
        take("to", change.to);
        take("weight_ps", change.weight_ps);
        if (given.contains("further_nodes")) {
            change.further_nodes = nb::cast<std::uint32_t>(given["further_nodes"]);
        }
        std::optional<CuredTimes> found;
        {
            const nb::gil_scoped_release release;
            found = cures_.replay(change, with_path);
        }
        if (!found) {
            return nb::none();
        }
        nb::dict times;
        times["program_ps"] = found->program_ps;
        times["enter_ps"] = array(std::move(found->enter_ps));
        times["leave_ps"] = array(std::move(found->leave_ps));
        if (with_path) {
            std::vector<std::int32_t> call;
            std::vector<std::uint8_t> what;
            std::vector<std::int64_t> begin_ps, end_ps;
            for (const auto& one : found->path) {
                call.push_back(static_cast<std::int32_t>(one.call));
                what.push_back(static_cast<std::uint8_t>(one.what));
                begin_ps.push_back(one.begin_ps);
                end_ps.push_back(one.end_ps);
            }
            times["path_call"] = array(std::move(call));
            times["path_what"] = array(std::move(what));
            times["path_begin_ps"] = array(std::move(begin_ps));
            times["path_end_ps"] = array(std::move(end_ps));
        }
        return times;
    }

  private:
    Graph graph_;
    Cures cures_;
};

}  // namespace

void bind_cures(nb::module_& module) {
    nb::class_<Curable>(module, "Cures",
                        "A recorded program's graph, whose replay without a transformation gives back every time.")
        .def(nb::init<const Program&, const Parameters&, const Parameters&>(), "program"_a, "machine"_a, "planned"_a,
             nb::call_guard<nb::gil_scoped_release>(),
             "A program that ran on `machine`; `planned`: the same with other protocols.")
        .def("messages", &Curable::messages, nb::sig("def messages(self) -> dict[str, typing.Any]"),
             "Columns of the messages: their calls, among those of the whole program (-1: none), bytes, and whether a "
             "handshake precedes their data.")
        .def("replay", &Curable::replay, "transformation"_a, "with_path"_a = false,
             nb::sig("def replay(self, transformation: dict[str, typing.Any], with_path: bool = False) "
                     "-> dict[str, typing.Any] | None"),
             "The longest program and the enters and leaves of all calls under a transformation (columns of the native "
             "struct, by name), and the program's critical path where requested; None: events would have to be before "
             "themselves. Times in ps.");
}

}  // namespace logpost::replay::bindings
