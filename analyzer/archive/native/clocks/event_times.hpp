#pragma once

#include <cstdint>
#include <limits>
#include <utility>

#include "analyzer/archive/native/clocks/clock.hpp"
#include "analyzer/archive/native/clocks/time_map.hpp"
#include "analyzer/archive/native/trace/quality.hpp"
#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

/// The times of one location's events: ticks in, picoseconds out that never run backwards; knows the first and the
/// last.
class EventTimes {
  public:
    void begin() { first_ps_ = last_ps_ = kNoEvent; }
    /// `map`: corrects the clock's times; none: the times stay as they are.
    void begin_events(Clock clock, const TimeMap* map) {
        clock_ = std::move(clock);
        map_ = map != nullptr ? TimeMap::Cursor(*map) : TimeMap::Cursor();
    }

    /// Always inlined: compilers weigh it by all files that are compiled together.
    [[gnu::always_inline]] std::int64_t at(std::uint64_t ticks, QualityCounts& quality) {
        auto now = clock_.to_ps(ticks);
        if (map_) [[unlikely]] {
            now = map_.at(now);
        }
        if (now < last_ps_) [[unlikely]] {
            count(quality, Quality::time_backwards);
            now = last_ps_;
        }
        last_ps_ = now;
        if (first_ps_ == kNoEvent) [[unlikely]] {
            first_ps_ = now;
        }
        return now;
    }

    /// 0 where there was no event.
    [[nodiscard]] std::int64_t last() const noexcept { return last_ps_ == kNoEvent ? 0 : last_ps_; }

    /// Writes the first and the last time; 0 where there was no event.
    void end(LocationTrace& out) const {
        out.first_ps = first_ps_ == kNoEvent ? 0 : first_ps_;
        out.last_ps = last();
    }

  private:
    static constexpr std::int64_t kNoEvent = std::numeric_limits<std::int64_t>::min();

    Clock clock_;
    TimeMap::Cursor map_;
    std::int64_t first_ps_ = kNoEvent;
    std::int64_t last_ps_ = kNoEvent;
};

}  // namespace logpost::analyzer
