#pragma once

#include <cstdint>
#include <limits>

namespace logpost::replay {

/// A span of time on one location.
struct Span {
    std::int64_t begin_ps = std::numeric_limits<std::int64_t>::min();
    std::int64_t end_ps = std::numeric_limits<std::int64_t>::max();

    [[nodiscard]] bool contains(std::int64_t time_ps) const noexcept { return begin_ps <= time_ps && time_ps < end_ps; }
};

}  // namespace logpost::replay
