#pragma once

/// Sums over many ranks: 10,000 of them for 15 minutes are 2500 hours, and int64 picoseconds hold 2562.

#include <cstdint>
#include <limits>

namespace logpost::replay {

/// Picoseconds summed over locations or messages. In memory (little-endian) it is Arrow's decimal128.
__extension__ using WidePs = __int128;

/// A modelled time may be of any size: its sum within one row saturates.
inline void add_saturating(std::int64_t& sum, std::int64_t more) noexcept {
    if (__builtin_add_overflow(sum, more, &sum)) {
        sum = more < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
    }
}

}  // namespace logpost::replay
