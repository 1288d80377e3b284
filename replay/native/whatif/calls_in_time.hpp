#pragma once

/// The calls of all locations in the order of their enters.

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "replay/native/program.hpp"

namespace logpost::replay {

/// All calls of the locations that have an account by the time of their enters, so that what happens at about the same
/// time lies together in memory: `body(location, call)`.
template <class Body>
void for_each_call_in_time(const Program& program, Body&& body) {
    struct Next {
        std::int64_t time;
        std::uint32_t location, call;
        bool operator>(const Next& other) const noexcept {
            return time != other.time ? time > other.time : location > other.location;
        }
    };
    std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
    const auto push = [&](std::uint32_t l, std::uint32_t call) {
        const auto& calls = program.timelines[l].calls;
        if (call < calls.size()) {
            next.push({calls[call].enter_ps, l, call});
        }
    };
    for (std::uint32_t l = 0; l < program.timelines.size(); ++l) {
        if (program.accounted[l] != 0) {
            push(l, 0);
        }
    }
    while (!next.empty()) {
        const auto [time, l, call] = next.top();
        next.pop();
        body(l, call);
        push(l, call + 1);
    }
}

}  // namespace logpost::replay
