#pragma once

/// Synchronous sends of few bytes: whether their data asks first, or goes along with the request.
///
/// A synchronous send completes after its match, whatever its size. Below the eager limit libraries send the data at
/// once all the same, and only the answer comes back: one latency to the receiver, one more to the sender. A handshake
/// takes three to the receiver. Which of them a program ran with its trace tells where receivers waited: what more of
/// their messages did is taken for all.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/native/program.hpp"
#include "replay/native/whatif/draft.hpp"

namespace logpost::replay {

/// Whether synchronous sends below the eager limit send their data at once. `classes`: of the messages, by location and
/// send; kNone: it goes nowhere.
inline bool pushes_synchronous(const Program& program, const Draft& draft,
                               const std::vector<std::vector<std::uint32_t>>& classes) {
    std::uint64_t pushed = 0;
    std::uint64_t asked = 0;
    for (std::size_t l = 0; l < program.timelines.size(); ++l) {
        const auto& receiver = program.timelines[l];
        receiver.receives.for_each([&](std::size_t, const MessageEnd& receive) {
            if (receive.match == kNone || receive.complete_call == kNone || receive.peer == kUndefined ||
                classes[static_cast<std::size_t>(receive.peer)].empty()) {
                return;
            }
            const auto s = static_cast<std::size_t>(receive.peer);
            const auto& send = program.timelines[s].sends[receive.match];
            const auto message = classes[s][receive.match];
            const auto& call = program.timelines[s].calls[send.call];
            if (message == kNone || program.kind(call) != CallKind::send_synchronous) {
                return;
            }
            const auto& cost = draft.cost(message);
            if (cost.rendezvous || cost.L == 0) {
                return;
            }
            const auto& completing = receiver.calls[receive.complete_call];
            const auto at_once = call.enter_ps + cost.o_s + cost.l_mw + cost.L + cost.serialization + cost.o_r;
            const auto waits_since = std::max(receiver.calls[receive.call].enter_ps, completing.enter_ps);
            if (completing.leave_ps < at_once + cost.L) {
                ++pushed;
            } else if (waits_since <= call.enter_ps) {
                ++asked;
            }
        });
    }
    return pushed > asked;
}

}  // namespace logpost::replay
