#include "replay/native/waits/message_waits.hpp"

#include <algorithm>
#include <cstddef>

#include "replay/native/program/message_facts.hpp"

namespace logpost::replay {
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
            const auto& sender = program.timelines[index(receive.peer)];
            const auto send = sender.sends[receive.match].call;
            waits.late_sender.offer(call.enter_ps, std::min(sender.calls[send].enter_ps, call.leave_ps), receive.peer,
                                    send);
        } else if (operation.kind == Kind::send_complete || operation.kind == Kind::send_whole) {
            const auto& send = mine.sends[operation.index];
            if (send.match == kNone) {
                continue;
            }
            const auto& receiver = program.timelines[index(send.peer)];
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
