#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace logpost::replay {

/// One stage that a model wants to place into an interval. Lower tiers are served first.
struct Stage {
    std::int64_t wanted_ps = 0;
    std::uint8_t tier = 0;
    std::int64_t granted_ps = 0;
};

struct Fit {
    std::int64_t residual_ps = 0;  ///< what no stage claimed
    std::int64_t deficit_ps = 0;   ///< what the stages wanted beyond the interval
};

inline constexpr std::uint8_t kTiers = 4;

/// Places stages into an interval of `duration_ps` (docs/split.md, section 4).
///
/// A tier that fits is served in full. The first that does not is scaled to what is left by largest remainder (ties go
/// to the earlier stage), and later tiers get nothing. Afterwards every grant is in [0, wanted],
/// sum(granted) + residual = duration, and residual * deficit = 0, all in integers.
///
/// Expects duration_ps >= 0, wanted_ps >= 0 and tier < kTiers.
Fit fit(std::int64_t duration_ps, std::span<Stage> stages);

}  // namespace logpost::replay
