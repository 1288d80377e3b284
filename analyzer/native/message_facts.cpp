#include "message_facts.hpp"

#include <algorithm>

namespace logpost::analyzer {

Places::Places(const Trace& trace) {
    places_.reserve(trace.locations.size());
    for (const auto& location : trace.locations) {
        places_.push_back({location.group, location.node});
    }
}

replay::MessageTimes measured_times(const Trace& trace, MessageId id) noexcept {
    const auto& receiver = trace.traces[static_cast<std::size_t>(id.location)];
    const auto& received = receiver.receives[id.receive];
    const auto& sender = trace.traces[static_cast<std::size_t>(received.peer)];
    const auto& sent = sender.sends[received.match];
    const auto& send_call = sender.calls[sent.call];
    const auto& receive_call = receiver.calls[received.complete_call];
    replay::MessageTimes times;
    times.s0 = send_call.enter_ps;
    times.s1 = send_call.leave_ps;
    times.rw0 = receive_call.enter_ps;
    times.rw1 = receive_call.leave_ps;
    times.r0 = received.call == received.complete_call ? times.rw0 : receiver.calls[received.call].enter_ps;
    return times;
}

SendCompletion completion_of_send(const Trace& trace, MessageId id) noexcept {
    const auto& received = trace.traces[static_cast<std::size_t>(id.location)].receives[id.receive];
    const auto& sender = trace.traces[static_cast<std::size_t>(received.peer)];
    const auto& sent = sender.sends[received.match];
    const auto& call = sender.calls[sent.complete_call == kNone ? sent.call : sent.complete_call];
    return {call.enter_ps, call.leave_ps};
}

bool is_rendezvous(const Trace& trace, MessageId id, bool by_size) noexcept {
    const auto& receiver = trace.traces[static_cast<std::size_t>(id.location)];
    const auto& received = receiver.receives[id.receive];
    const auto& sender = trace.traces[static_cast<std::size_t>(received.peer)];
    const auto& sent = sender.sends[received.match];
    switch (trace.regions[static_cast<std::size_t>(sender.calls[sent.call].region)].kind) {
        case RegionKind::send_synchronous:
            return true;
        case RegionKind::send_buffered:
            return false;
        default:
            return by_size && !(sent.complete_call != kNone &&
                                sender.calls[sent.complete_call].leave_ps <= receiver.calls[received.call].enter_ps);
    }
}

std::int64_t first_in_mpi(const LocationTrace& location, std::int64_t time) noexcept {
    const auto& calls = location.calls;
    std::size_t low = 0;
    std::size_t high = calls.size();
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (calls[middle].leave_ps < time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == calls.size() ? INT64_MAX : std::max(time, calls[low].enter_ps);
}

}  // namespace logpost::analyzer
