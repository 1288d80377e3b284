#pragma once

#include <cstdint>
#include <utility>

#include "clock.hpp"
#include "quality.hpp"
#include "trace.hpp"

namespace logpost::analyzer {

/// The times of one location's events: ticks in, picoseconds out that never run backwards; knows the first and the
/// last.
class EventTimes {
  public:
    void begin() { first_ps_ = last_ps_ = kBeforeAll; }
    void begin_events(Clock clock) { clock_ = std::move(clock); }

    std::int64_t at(std::uint64_t ticks, QualityCounts& quality) {
        auto now = clock_.to_ps(ticks);
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
    std::int64_t first_ps_ = kBeforeAll;
    std::int64_t last_ps_ = kBeforeAll;
};

}  // namespace logpost::analyzer
