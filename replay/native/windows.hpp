#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace logpost::replay {

/// Equal slices of the trace's time; window w covers [w, w + 1) * width_ps.
struct Windows {
    std::int32_t count = 1;
    std::int64_t width_ps = 1;

    /// Few enough that (locations x windows) stays bounded, enough for a timeline that a person reads.
    static Windows over(std::int64_t length_ps, std::size_t locations) {
        const std::size_t wanted = std::clamp<std::size_t>(65536 / std::max<std::size_t>(1, locations), 32, 256);
        const std::int64_t width = std::max<std::int64_t>(1, length_ps / static_cast<std::int64_t>(wanted) + 1);
        return {.count = static_cast<std::int32_t>(wanted), .width_ps = width};
    }

    [[nodiscard]] std::int32_t at(std::int64_t time_ps) const noexcept {
        return static_cast<std::int32_t>(std::clamp<std::int64_t>(time_ps / width_ps, 0, count - 1));
    }
};

}  // namespace logpost::replay
