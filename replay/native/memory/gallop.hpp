#pragma once

#include <algorithm>
#include <cstddef>

namespace logpost::replay {

/// The first index from `begin` on for which `before(index)` does not hold; `end` if it holds for all. Those for which
/// it holds precede all others. Fast where the answer is near `hint`, whichever way: steps from there double, and the
/// last one is bisected.
template <class Before>
[[nodiscard]] std::size_t partition_point_near(std::size_t begin, std::size_t end, std::size_t hint,
                                               Before&& before) noexcept {
    std::size_t low = std::clamp(hint, begin, end);  // all in front of it hold
    std::size_t high = low;                          // none from it on does
    for (std::size_t step = 1; low > begin && !before(low - 1); step *= 2) {
        high = low - 1;
        low -= std::min(low - begin, step);
    }
    for (std::size_t step = 1; high < end && before(high); step *= 2) {
        low = high + 1;
        high = std::min(high + step, end);
    }
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (before(middle)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

}  // namespace logpost::replay
