#include "replay/native/graph/attention.hpp"

#include <algorithm>

#include "replay/native/program/message_facts.hpp"

namespace logpost::replay {

std::uint32_t needed_at(const Program& program, const Events& events, std::size_t location, std::uint32_t completing,
                        std::int64_t L) noexcept {
    const auto& calls = program.timelines[location].calls;
    const auto is_test = [&](std::uint32_t call) { return program.kind(calls[call]) == CallKind::test; };
    if (!is_test(completing) || completing == 0) {
        return events.leaves[location][completing];
    }
    if (calls[completing].enter_ps - calls[completing - 1].leave_ps <= L) {
        return events.leaves[location][completing];
    }
    auto next = completing + 1;
    while (next < calls.size() && is_test(next)) {
        ++next;
    }
    return next < calls.size() ? events.enters[location][next] : events.ends[location];
}

}  // namespace logpost::replay
