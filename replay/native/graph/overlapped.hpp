#pragma once

/// Perfect overlap: no node waits for a nonblocking exchange while there is something to compute.
///
/// What a rank computes behind a Wait, up to its next call, is before it instead, as if that work needed none of
/// the data that the Wait is for. Waits in a row are one: all that is computed behind any of them is before the
/// first. Calls keep their order, so that what follows another call (a reduction, say) stays behind it.

#include <cstdint>
#include <vector>

#include "replay/native/program/program.hpp"

namespace logpost::replay {

/// Of a location, by call: how many calls, from this one on, have their following work moved before this one; 0: none.
inline std::vector<std::uint32_t> overlapped_waits(const Program& program, const Timeline& timeline) {
    std::vector<std::uint32_t> found(timeline.calls.size());
    const auto completes = [&](const MessageEnd& end) {
        if (end.complete_call != kNone && end.complete_call > end.call) {
            const auto kind = program.kind(timeline.calls[end.complete_call]);
            found[end.complete_call] = kind == CallKind::wait || kind == CallKind::wait_multi ? 1 : 0;
        }
    };
    timeline.sends.for_each([&](std::size_t, const MessageEnd& end) { completes(end); });
    timeline.receives.for_each([&](std::size_t, const MessageEnd& end) { completes(end); });
    // From behind: what a wait would move, the one before it in the row does. The last call has only the program's end
    // behind it.
    for (std::size_t call = found.size(); call-- > 1;) {
        if (call + 1 == found.size()) {
            found[call] = 0;
        }
        if (found[call - 1] != 0 && found[call] != 0) {
            found[call - 1] += found[call];
            found[call] = 0;
        }
    }
    return found;
}

}  // namespace logpost::replay
