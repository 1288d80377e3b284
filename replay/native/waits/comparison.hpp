#pragma once

/// What made one location wait for another: their work since they were last synchronized, compared by place.

#include <cstdint>
#include <optional>
#include <vector>

#include "replay/native/program/program.hpp"
#include "replay/native/waits/active_time.hpp"
#include "replay/native/waits/synchronizations.hpp"
#include "replay/native/waits/waits.hpp"

namespace logpost::replay {

/// By location; none where it is not needed.
using ActiveTimes = std::vector<std::optional<ActiveTime>>;

/// What one place of the delaying location has beyond the waiting one.
struct DelayShare {
    std::uint32_t place;
    double delay_ps;
};

/// What the delaying location did beyond the waiting one, apart from its places.
struct Excess {
    std::uint32_t begin = kNone;  ///< call at which the delaying location's interval begins; kNone: its begin
    double delay_ps = 0;          ///< over all shares
    double waited_ps = 0;         ///< what the delaying location itself waited during that time
};

/// Compares the locations of waits, one wait after the other. Several of them work side by side.
class Comparison {
  public:
    Comparison(const Program& program, const ActiveTimes& active, Synchronizations& synchronizations);

    /// Appends the shares of the wait's places to `shares`.
    Excess compare(std::size_t waiting, const Wait& wait, std::vector<DelayShare>& shares);

  private:
    /// Active time from a synchronization, of which only the completion counts, to a call. Also the time waited.
    std::int64_t profile(std::size_t location, const Synchronization& since, std::uint32_t until, PlaceTimes& times);
    void by_caller(const PlaceTimes& times, PlaceTimes& callers) const;

    const ActiveTimes& active_;
    Synchronizations& synchronizations_;
    std::vector<std::uint32_t> caller_;  // by place: of computation, the function that contains the call after it
    PlaceTimes mine_, theirs_, mine_by_caller_, theirs_by_caller_, excess_by_caller_;
};

}  // namespace logpost::replay
