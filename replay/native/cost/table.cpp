#include "replay/native/cost/table.hpp"

#include <algorithm>
#include <cmath>

namespace logpost::replay {

Reading Curve::at(double size) const {
    if (size <= x.front()) {
        return {.value = y.front()};
    }
    const bool beyond = size > x.back();
    if (beyond && !continued) {
        return {.value = y.back(), .beyond_size = true};
    }
    const std::size_t last = x.size() - 1;
    if (beyond) {
        const double slope = last == 0 ? 0.0 : std::max((y[last] - y[last - 1]) / (x[last] - x[last - 1]), 0.0);
        return {.value = y[last] + slope * (size - x[last]), .beyond_size = true};
    }
    const auto above = static_cast<std::size_t>(std::lower_bound(x.begin(), x.end(), size) - x.begin());
    if (x[above] == size) {
        return {.value = y[above]};
    }
    const double slope = (y[above] - y[above - 1]) / (x[above] - x[above - 1]);
    return {.value = y[above - 1] + slope * (size - x[above - 1])};
}

Reading Surface::at(double size, double second) const {
    if (second <= z.front()) {
        return curves.front().at(size);
    }
    if (second >= z.back()) {
        auto reading = curves.back().at(size);
        reading.beyond_second = second > z.back();
        return reading;
    }
    const auto above = static_cast<std::size_t>(std::upper_bound(z.begin(), z.end(), second) - z.begin());
    const auto low = curves[above - 1].at(size);
    if (z[above - 1] == second) {
        return low;
    }
    const auto high = curves[above].at(size);
    const double share = std::log2(second / z[above - 1]) / std::log2(z[above] / z[above - 1]);
    return {.value = low.value + share * (high.value - low.value), .beyond_size = low.beyond_size || high.beyond_size};
}

}  // namespace logpost::replay
