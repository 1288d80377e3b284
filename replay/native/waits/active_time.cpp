#include "replay/native/waits/active_time.hpp"

#include <algorithm>

#include "replay/native/memory/gallop.hpp"

namespace logpost::replay {
namespace {

/// Calls that are cheaper to read one by one than sums of them are to keep.
constexpr std::uint32_t kFewCalls = 256;

}  // namespace

ActiveTime::ActiveTime(const Timeline& timeline, std::span<const Wait> waits, std::size_t callpaths, Arena& arena)
    : timeline_(timeline), waits_(waits), waited_(arena.take<std::int64_t>(waits.size() + 1)) {
    waited_[0] = 0;
    for (std::size_t i = 0; i < waits.size(); ++i) {
        waited_[i + 1] = waited_[i] + (waits[i].until_ps - timeline.calls[waits[i].call].enter_ps);
    }
    const auto calls = static_cast<std::uint32_t>(timeline.calls.size());
    if (calls <= kFewCalls) {
        return;
    }
    std::vector<std::uint32_t> slot(CodePlace::count(callpaths), kNone);
    scan(0, calls, 0, [&](std::uint32_t place, std::int64_t) {
        if (slot[place] == kNone) {
            slot[place] = static_cast<std::uint32_t>(places_.size());
            places_.push_back(place);
        }
    });
    // Sums take as much memory as two bytes a call, at most.
    step_ = std::max(kFewCalls, 4 * static_cast<std::uint32_t>(places_.size()));
    std::vector<std::int64_t> now(places_.size(), 0);
    const auto add = [&](std::uint32_t place, std::int64_t length) { now[slot[place]] += length; };
    std::size_t wait = 0;
    sums_ = arena.take<std::int64_t>((calls / step_ + 1) * now.size());
    for (std::uint32_t at = 0; at <= calls - calls % step_; at += step_) {
        std::ranges::copy(now, sums_.begin() + static_cast<std::ptrdiff_t>(at / step_ * now.size()));
        wait = scan(at, std::min(at + step_, calls), wait, add);
    }
}

std::size_t ActiveTime::first_wait(std::uint32_t call) const noexcept {
    // Calls that wait are spread about evenly over all.
    const auto near = waits_.size() * call / std::max<std::size_t>(1, timeline_.calls.size());
    return partition_point_near(0, waits_.size(), near, [&](std::size_t i) { return waits_[i].call < call; });
}

template <class Add>
std::size_t ActiveTime::scan(std::uint32_t from, std::uint32_t to, std::size_t wait, Add&& add) const {
    const auto& calls = timeline_.calls;
    for (auto c = from; c < to; ++c) {
        const auto& call = calls[c];
        auto length = call.leave_ps - call.enter_ps;
        if (wait < waits_.size() && waits_[wait].call == c) {
            length -= waits_[wait].until_ps - call.enter_ps;
            ++wait;
        }
        add(CodePlace{call.callpath, true}.code(), length);
        const bool last = c + 1 == calls.size();
        const auto next = last ? timeline_.last_ps : calls[c + 1].enter_ps;
        add(CodePlace{last ? kUndefined : calls[c + 1].callpath, false}.code(),
            std::max<std::int64_t>(0, next - call.leave_ps));
    }
    return wait;
}

ActiveTime::Spent ActiveTime::collect(std::uint32_t from, std::uint32_t to, PlaceTimes& times) const {
    const auto add = [&](std::uint32_t place, std::int64_t length) { times.add(place, length); };
    std::int64_t in_first = 0;
    std::size_t wait = 0;
    std::size_t counted = 0;  // the first wait after that of the first call
    if (from == kNone) {
        from = 0;
        const auto& first = timeline_.calls[0];
        add(CodePlace{first.callpath, false}.code(), std::max<std::int64_t>(0, first.enter_ps - timeline_.first_ps));
    } else {
        const auto& first = timeline_.calls[from];
        wait = first_wait(from);
        const bool waits = wait < waits_.size() && waits_[wait].call == from;
        in_first = first.leave_ps - (waits ? waits_[wait].until_ps : first.enter_ps);
        counted = wait + (waits ? 1 : 0);
    }
    if (step_ == 0 || to - from <= 2 * step_) {
        wait = scan(from, to, wait, add);
    } else {
        const auto first = (from + step_ - 1) / step_;
        const auto last = to / step_;
        scan(from, first * step_, wait, add);
        for (std::size_t i = 0; i < places_.size(); ++i) {
            add(places_[i], sums_[last * places_.size() + i] - sums_[first * places_.size() + i]);
        }
        wait = scan(last * step_, to, first_wait(last * step_), add);
    }
    return {in_first, waited_[std::max(counted, wait)] - waited_[counted]};
}

}  // namespace logpost::replay
