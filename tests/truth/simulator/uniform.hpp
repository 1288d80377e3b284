#pragma once

#include <cstdint>

namespace logpost::truth {

/// The same pseudo-random number on every machine for (seed, a, b), in [0, 1).
inline double uniform(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
    std::uint64_t x = seed * 0x9E3779B97F4A7C15ULL + a * 0xBF58476D1CE4E5B9ULL + b * 0x94D049BB133111EBULL;
    x ^= x >> 31U;
    x *= 0xD6E8FEB86659FD93ULL;
    x ^= x >> 29U;
    return static_cast<double>(x >> 11U) * 0x1.0p-53;
}

}  // namespace logpost::truth
