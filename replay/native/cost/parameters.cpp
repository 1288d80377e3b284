#include "replay/native/cost/parameters.hpp"

#include <algorithm>

namespace logpost::replay {

std::size_t LocalityParameters::range_of(double bytes) const noexcept {
    const auto found = std::ranges::find_if(
        ranges, [bytes](const Range& range) { return bytes <= static_cast<double>(range.up_to_bytes); });
    return std::min(static_cast<std::size_t>(found - ranges.begin()), ranges.size() - 1);
}

}  // namespace logpost::replay
