#pragma once

/// Synchronous sends of few bytes: whether their data asks first, goes along with the request, or goes when it is
/// matched.
///
/// A synchronous send completes after its match, whatever its size. Below the eager limit libraries send the data at
/// once all the same, and only the answer comes back: one latency to the receiver, one more to the sender. A handshake
/// takes three to the receiver. Where the network itself matches (Portals, SimGrid's SMPI), the transfer begins when
/// both ends have asked for it, and is over for both at one time. Which of them a program ran with its trace tells:
/// where receivers waited, when the data came, and where senders waited for a receive that had been posted, when they
/// knew. What more of their messages did is taken for all.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/native/graph/draft.hpp"
#include "replay/native/program/program.hpp"

namespace logpost::replay {

enum class Synchronous : std::uint8_t {
    asks,     ///< request, answer, data
    pushes,   ///< data, answer
    matches,  ///< data, once both ends are there
};

/// How synchronous sends below the eager limit go. `classes`: of the messages, by location and send; kNone: it goes
/// nowhere.
inline Synchronous synchronous_sends(const Program& program, const Draft& draft,
                                     const std::vector<std::vector<std::uint32_t>>& classes) {
    std::uint64_t at_once = 0;
    std::uint64_t asked = 0;
    std::uint64_t told = 0;      // the sender knew one latency after the data had come
    std::uint64_t together = 0;  // it knew when the data came
    for (std::size_t l = 0; l < program.timelines.size(); ++l) {
        const auto& receiver = program.timelines[l];
        receiver.receives.for_each([&](std::size_t, const MessageEnd& receive) {
            if (receive.match == kNone || receive.complete_call == kNone || receive.peer == kUndefined ||
                classes[static_cast<std::size_t>(receive.peer)].empty()) {
                return;
            }
            const auto s = static_cast<std::size_t>(receive.peer);
            const auto& sender = program.timelines[s];
            const auto& send = sender.sends[receive.match];
            const auto message = classes[s][receive.match];
            const auto& call = sender.calls[send.call];
            if (message == kNone || program.kind(call) != CallKind::send_synchronous) {
                return;
            }
            const auto& cost = draft.cost(message);
            if (cost.rendezvous || cost.L == 0) {
                return;
            }
            const auto sent = call.enter_ps + cost.o_s + cost.l_mw / 2;
            const auto posted = receiver.calls[receive.call].enter_ps;
            const auto& completing = receiver.calls[receive.complete_call];
            const auto comes = sent + cost.L + cost.serialization;
            if (completing.leave_ps < comes + cost.o_r + cost.l_mw + cost.L) {
                ++at_once;
            } else if (std::max(posted, completing.enter_ps) <= call.enter_ps) {
                ++asked;
            }
            if (send.complete_call == kNone || posted > sent) {
                return;
            }
            const auto& waiting = sender.calls[send.complete_call];
            if (waiting.enter_ps < comes) {
                ++(waiting.leave_ps < comes + cost.L / 2 ? together : told);
            }
        });
    }
    if (at_once <= asked) {
        return Synchronous::asks;
    }
    return together > told ? Synchronous::matches : Synchronous::pushes;
}

}  // namespace logpost::replay
