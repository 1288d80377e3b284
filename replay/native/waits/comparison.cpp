#include "replay/native/waits/comparison.hpp"

#include <algorithm>

namespace logpost::replay {

namespace {

std::vector<std::uint32_t> callers_of(const Program& program) {
    std::vector<std::uint32_t> callers(CodePlace::count(program.callpaths()));
    for (std::uint32_t place = 0; place < callers.size(); ++place) {
        const auto of = CodePlace::of(place);
        callers[place] = of.in_call || of.callpath == kUndefined
                             ? place
                             : CodePlace{program.callers[static_cast<std::size_t>(of.callpath)], false}.code();
    }
    return callers;
}

}  // namespace

Comparison::Comparison(const Program& program, const ActiveTimes& active, Synchronizations& synchronizations)
    : active_(active),
      synchronizations_(synchronizations),
      caller_(callers_of(program)),
      mine_(CodePlace::count(program.callpaths())),
      theirs_(mine_),
      mine_by_caller_(mine_),
      theirs_by_caller_(mine_),
      excess_by_caller_(mine_) {}

Excess Comparison::compare(std::size_t waiting, const Wait& wait, std::vector<DelayShare>& shares) {
    const auto delaying = index(wait.cause);
    const auto since = synchronizations_.before(delaying, wait.cause_call, location_at(waiting));
    Excess excess;
    excess.begin = since.call;
    excess.waited_ps = static_cast<double>(profile(delaying, since, wait.cause_call, mine_));
    profile(waiting, synchronizations_.before(waiting, wait.call, wait.cause), wait.call, theirs_);
    by_caller(mine_, mine_by_caller_);
    by_caller(theirs_, theirs_by_caller_);
    // A function's time on both locations is compared; its excess is that of the calls which the time precedes.
    excess_by_caller_.clear();
    for (const auto place : mine_.places()) {
        excess_by_caller_.add(caller_[place], std::max<std::int64_t>(0, mine_[place] - theirs_[place]));
    }
    for (const auto place : mine_.places()) {
        const auto beyond = mine_[place] - theirs_[place];
        const auto of = caller_[place];
        const auto delay = mine_by_caller_[of] - theirs_by_caller_[of];
        if (beyond > 0 && delay > 0) {
            const auto share =
                static_cast<double>(delay) * static_cast<double>(beyond) / static_cast<double>(excess_by_caller_[of]);
            shares.push_back({place, share});
            excess.delay_ps += share;
        }
    }
    return excess;
}

std::int64_t Comparison::profile(std::size_t location, const Synchronization& since, std::uint32_t until,
                                 PlaceTimes& times) {
    times.clear();
    const auto& active = *active_[location];
    const auto spent = active.collect(since.call, until, times);
    if (since.call != kNone) {
        times.add(active.place_of(since.call), std::min(since.completion_ps, spent.in_first_ps) - spent.in_first_ps);
    }
    return spent.waited_ps;
}

void Comparison::by_caller(const PlaceTimes& times, PlaceTimes& callers) const {
    callers.clear();
    for (const auto place : times.places()) {
        callers.add(caller_[place], times[place]);
    }
}

}  // namespace logpost::replay
