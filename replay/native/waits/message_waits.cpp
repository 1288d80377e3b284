#include "replay/native/waits/message_waits.hpp"

#include <algorithm>
#include <cstddef>

#include "replay/native/program/message_facts.hpp"

namespace logpost::replay {
namespace {

/// Calls visit(location, end) for the other end of what a call completes first, where that has one.
template <class Visit>
void first_other_end(const Program& program, const Timeline& mine, std::span<const CallOperation> operations,
                     Visit&& visit) {
    using Kind = CallOperation::Kind;
    if (operations.empty() || !operations.front().of_message() || operations.front().kind == Kind::send_start) {
        return;
    }
    const bool received = operations.front().kind == Kind::receive_complete;
    const auto& end = (received ? mine.receives : mine.sends)[operations.front().index];
    if (end.match != kNone) {
        const auto& other = program.timelines[static_cast<std::size_t>(end.peer)];
        visit(other, (received ? other.sends : other.receives)[end.match]);
    }
}

}  // namespace

void fetch_ahead(const Program& program, const Timeline& mine, const CallOperations& operations,
                 std::uint32_t call) noexcept {
    if (call % kTogether != 0) {
        return;
    }
    FarEnds others;
    const auto end = std::min<std::size_t>(call + kTogether, mine.calls.size());
    for (std::size_t c = call; c < end; ++c) {
        first_other_end(program, mine, operations.of(static_cast<std::uint32_t>(c)),
                        [&](const Timeline& other, const MessageEnd& at) { others.add(other, at); });
    }
    others.for_each([](const Timeline& other, const MessageEnd& at) { touch(other.calls[at.call]); });
}

MessageWaitStates message_waits(const Program& program, const Timeline& mine, const Call& call,
                                std::span<const CallOperation> operations) noexcept {
    using Kind = CallOperation::Kind;
    MessageWaitStates waits;
    const auto kind = program.kind(call);
    if (kind == CallKind::test) {
        return waits;
    }
    for (const auto& operation : operations) {
        if (operation.kind == Kind::receive_complete) {
            const auto& receive = mine.receives[operation.index];
            if (receive.match == kNone) {
                continue;
            }
            const auto& sender = program.timelines[static_cast<std::size_t>(receive.peer)];
            const auto send = sender.sends[receive.match].call;
            waits.late_sender.offer(call.enter_ps, std::min(sender.calls[send].enter_ps, call.leave_ps), receive.peer,
                                    send);
        } else if (operation.kind == Kind::send_complete || operation.kind == Kind::send_whole) {
            const auto& send = mine.sends[operation.index];
            if (send.match == kNone) {
                continue;
            }
            const auto& receiver = program.timelines[static_cast<std::size_t>(send.peer)];
            if (!is_post_known(program, receiver, receiver.receives[send.match])) {
                continue;
            }
            const auto request = receiver.receives[send.match].call;
            const auto posted = receiver.calls[request].enter_ps;
            if (call.leave_ps > posted) {
                waits.late_receiver.offer(call.enter_ps, posted, send.peer, request);
            }
        }
    }
    if (kind == CallKind::wait_multi && waits.late_sender.found()) {
        waits.late_receiver = {};
    }
    return waits;
}

}  // namespace logpost::replay
