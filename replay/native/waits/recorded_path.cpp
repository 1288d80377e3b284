#include "replay/native/waits/recorded_path.hpp"

#include <algorithm>

#include "replay/native/program/accounted.hpp"

namespace logpost::replay {

std::vector<PathStretch> recorded_path(const Program& program, const Waits& waits) {
    const auto accounted = accounted_locations(program);
    std::vector<PathStretch> path;
    if (accounted.empty()) {
        return path;
    }
    const auto& timelines = program.timelines;
    const auto last = *std::ranges::max_element(accounted, {}, [&](auto l) { return timelines[l].last_ps; });
    const auto first = *std::ranges::min_element(accounted, {}, [&](auto l) { return timelines[l].first_ps; });
    // Waits that are left on each location. Each is followed once, so that clocks that contradict each other cannot
    // lead the path in a circle.
    std::vector<std::size_t> left(timelines.size());
    for (const auto location : accounted) {
        left[location] = waits.of(location).size();
    }
    auto location = last;
    auto end = timelines[last].last_ps;
    auto before = kNone;  // the call that the path came from: what follows it is later
    for (;;) {
        const auto mine = waits.of(location);
        auto& count = left[location];
        while (count > 0 && (mine[count - 1].until_ps > end || mine[count - 1].call >= before)) {
            --count;
        }
        if (count == 0) {
            break;
        }
        const auto& wait = mine[--count];
        path.push_back({wait.until_ps, end, location_at(location), wait.call, wait.kind});
        end = wait.until_ps;
        before = wait.cause_call;
        location = index(wait.cause);
    }
    const auto begin = timelines[first].first_ps;
    const auto here = std::clamp(timelines[location].first_ps, begin, end);
    path.push_back({here, end, location_at(location), kNone, {}});
    if (here > begin) {
        path.push_back({begin, here, kNoLocation, kNone, {}});
    }
    std::ranges::reverse(path);
    return path;
}

}  // namespace logpost::replay
