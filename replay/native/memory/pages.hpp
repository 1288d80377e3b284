#pragma once

#include <cstddef>

namespace logpost::replay {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20U;  ///< bytes: x86-64's and AArch64's

[[nodiscard]] constexpr std::size_t rounded_up(std::size_t bytes, std::size_t unit) noexcept {
    return (bytes + unit - 1) / unit * unit;
}

}  // namespace logpost::replay
