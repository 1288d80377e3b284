#pragma once

/// What a rank's time may be. The one place that tables, figures and findings have the names and their order from.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "replay/native/cost/part.hpp"

namespace logpost::replay {

/// compute, the message parts (Part + 1), waiting for a lock, then what is not split yet.
enum Category : std::uint8_t { kCompute = 0, kLockWait = 12, kCollectiveWait = 13, kCollective = 14, kMpiOther = 15 };
inline constexpr std::size_t kCategories = 16;

/// Names of the categories, in their order.
inline constexpr std::array<std::string_view, kCategories> kCategoryNames = [] {
    std::array<std::string_view, kCategories> names{};
    names[kCompute] = "compute";
    std::copy(std::begin(kPartNames), std::end(kPartNames), names.begin() + 1);
    names[kLockWait] = "lock_wait";
    names[kCollectiveWait] = "collective_wait";
    names[kCollective] = "collective";
    names[kMpiOther] = "mpi_other";
    return names;
}();
inline constexpr std::uint8_t category_of(Part part) noexcept {
    return static_cast<std::uint8_t>(part) + 1;
}
inline constexpr std::uint8_t kResidual = category_of(Part::residual);

using Exposed = std::array<std::int64_t, kCategories>;

}  // namespace logpost::replay
