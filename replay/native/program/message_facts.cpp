#include "replay/native/program/message_facts.hpp"

#include <algorithm>
#include <cstddef>

namespace logpost::replay {

bool is_post_known(const Program& program, const Timeline& receiver, const MessageEnd& received) noexcept {
    return received.call != received.complete_call || !only_completes(program.kind(receiver.calls[received.call]));
}

MessageTimes measured_times(const Program& program, MessageId id) noexcept {
    const auto& receiver = program.timelines[index(id.location)];
    const auto& received = receiver.receives[id.receive];
    const auto& sender = program.timelines[index(received.peer)];
    const auto& sent = sender.sends[received.match];
    const auto& send_call = sender.calls[sent.call];
    const auto& receive_call = receiver.calls[received.complete_call];
    MessageTimes times;
    times.s0 = send_call.enter_ps;
    times.s1 = send_call.leave_ps;
    times.rw0 = receive_call.enter_ps;
    times.rw1 = receive_call.leave_ps;
    times.r0 = receiver.calls[received.call].enter_ps;
    if (!is_post_known(program, receiver, received)) {
        times.r0 = std::min(times.r0, times.s0);
    }
    return times;
}

SendCompletion completion_of_send(const Program& program, MessageId id) noexcept {
    const auto& received = program.timelines[index(id.location)].receives[id.receive];
    const auto& sender = program.timelines[index(received.peer)];
    const auto& sent = sender.sends[received.match];
    const auto& call = sender.calls[sent.complete_call == kNone ? sent.call : sent.complete_call];
    return {call.enter_ps, call.leave_ps};
}

std::int32_t layout_of_send(const Timeline& sender, std::uint32_t send) noexcept {
    const auto& layouts = sender.layouts;
    const auto at = layouts.partition_point([&](const auto& layout) { return layout.send < send; });
    return at < layouts.size() && layouts[at].send == send ? layouts[at].layout : kUndefined;
}

bool is_rendezvous(const Program& program, MessageId id, bool by_size) noexcept {
    const auto& receiver = program.timelines[index(id.location)];
    const auto& received = receiver.receives[id.receive];
    const auto& sender = program.timelines[index(received.peer)];
    const auto& sent = sender.sends[received.match];
    switch (program.kind(sender.calls[sent.call])) {
        case CallKind::send_synchronous:
            return true;
        case CallKind::send_buffered:
            return false;
        default:
            return by_size && !(sent.complete_call != kNone &&
                                sender.calls[sent.complete_call].leave_ps <= receiver.calls[received.call].enter_ps);
    }
}

std::uint32_t answering_call(const Program& program, const Timeline& timeline, std::uint32_t first, std::uint32_t last,
                             std::int64_t time) noexcept {
    const auto open = timeline.calls.partition_point([&](const Call& call) { return over_at(call, time); });
    auto at = std::clamp(static_cast<std::uint32_t>(open), first, last);
    while (at < last && !attends(program.kind(timeline.calls[at]))) {
        ++at;
    }
    return at;
}

}  // namespace logpost::replay
