#pragma once

/// Synchronous sends below the eager limit (LibraryProperty::synchronous_sends): what a trace shows of them.
///
/// A synchronous send completes after its match, whatever its size. Most libraries send the data with the request, and
/// only the acknowledgement returns: one latency to the receiver, one more to the sender. A handshake costs three to
/// the receiver. Where the network itself matches, the transfer begins when both ends have called, and ends for both at
/// once. Observations: the time of the data at a waiting receiver, and the time at which a sender completes whose
/// receive had been posted.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/native/cost/library.hpp"
#include "replay/native/graph/draft.hpp"
#include "replay/native/program/program.hpp"

namespace logpost::replay {

/// Observes them and decides the property. `classes`: of the messages, by location and send; kNone: it has no receiver.
inline void decide_synchronous_sends(const Program& program, Draft& draft,
                                     const std::vector<std::vector<std::uint32_t>>& classes) {
    auto& found = draft.of_library(LibraryProperty::synchronous_sends);
    for (std::size_t l = 0; l < program.timelines.size(); ++l) {
        const auto& receiver = program.timelines[l];
        receiver.receives.for_each([&](std::size_t, const MessageEnd& receive) {
            if (receive.match == kNone || receive.complete_call == kNone || receive.peer == kNoLocation ||
                classes[index(receive.peer)].empty()) {
                return;
            }
            const auto s = index(receive.peer);
            const auto& sender = program.timelines[s];
            const auto& send = sender.sends[receive.match];
            const auto message = classes[s][receive.match];
            const auto& call = sender.calls[send.call];
            if (message == kNone || program.kind(call) != CallKind::send_synchronous) {
                return;
            }
            const auto& cost = draft.cost(message);
            if (cost.rendezvous) {
                return;
            }
            ++found.places;
            if (cost.L == 0) {
                return;
            }
            const auto sent = call.enter_ps + cost.o_s + cost.l_mw / 2;
            const auto posted = receiver.calls[receive.call].enter_ps;
            const auto& completing = receiver.calls[receive.complete_call];
            const auto arrives = sent + cost.L + cost.serialization;
            if (completing.leave_ps < arrives + cost.o_r + cost.l_mw + cost.L) {
                found.see(allows(Synchronous::push) | allows(Synchronous::match));
            } else if (std::max(posted, completing.enter_ps) <= call.enter_ps) {
                found.see(allows(Synchronous::handshake));
            }
            if (send.complete_call == kNone || posted > sent) {
                return;
            }
            const auto& waiting = sender.calls[send.complete_call];
            if (waiting.enter_ps < arrives) {
                found.see(waiting.leave_ps < arrives + cost.L / 2
                              ? allows(Synchronous::match)
                              : allows(Synchronous::handshake) | allows(Synchronous::push));
            }
        });
    }
    draft.decide(LibraryProperty::synchronous_sends);
}

}  // namespace logpost::replay
