#pragma once

#include <cstdint>
#include <utility>

#include "clock.hpp"
#include "quality.hpp"
#include "time_map.hpp"
#include "trace.hpp"

namespace logpost::analyzer {

/// The times of one location's events: ticks in, picoseconds out that never run backwards; knows the first and the
/// last.
class EventTimes {
  public:
    void begin() { first_ps_ = last_ps_ = kBeforeAll; }
    /// `map`: corrects the clock's times; none: they stand.
    void begin_events(Clock clock, const TimeMap* map) {
        clock_ = std::move(clock);
        map_ = map != nullptr ? TimeMap::Cursor(*map) : TimeMap::Cursor();
    }

    std::int64_t at(std::uint64_t ticks, QualityCounts& quality) {
        auto now = clock_.to_ps(ticks);
        if (map_) [[unlikely]] {
            now = map_.at(now);
        }
        if (now < last_ps_) [[unlikely]] {
            count(quality, Quality::time_backwards);
            now = last_ps_;
        }
        last_ps_ = now;
        if (first_ps_ == kBeforeAll) [[unlikely]] {
            first_ps_ = now;
        }
        return now;
    }

    [[nodiscard]] std::int64_t last() const noexcept { return last_ps_; }

    /// Writes the first and the last time; 0 where there was no event.
    void end(LocationTrace& out, QualityCounts& quality) const {
        if (last_ps_ == kBeforeAll) {
            out.first_ps = out.last_ps = 0;
            return;
        }
        if (first_ps_ == kBeforeAll || last_ps_ == Clock::kSaturated) {
            count(quality, Quality::time_out_of_range);
        }
        out.first_ps = first_ps_;
        out.last_ps = last_ps_;
    }

  private:
    static constexpr std::int64_t kBeforeAll = -Clock::kSaturated;

    Clock clock_;
    TimeMap::Cursor map_;
    std::int64_t first_ps_ = kBeforeAll;
    std::int64_t last_ps_ = kBeforeAll;
};

}  // namespace logpost::analyzer
