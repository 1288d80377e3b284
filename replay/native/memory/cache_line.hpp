#pragma once

#include <cstddef>

namespace logpost::replay {

inline constexpr std::size_t kCacheLine = 64;  ///< bytes: where arrays and what is stored of them begin

}  // namespace logpost::replay
