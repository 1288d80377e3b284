#pragma once

/// The simulated machine: LogGP values per locality class, exactly as a machine file states them. Times in picoseconds.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace logpost::truth {

using Time = std::int64_t;  ///< picoseconds from the start of the simulation

inline constexpr Time kNanosecond = 1'000;
inline constexpr Time kMicrosecond = 1'000'000;
inline constexpr Time kMillisecond = 1'000'000'000;

/// The layout of a message's data in memory; one block is contiguous.
struct Layout {
    std::uint64_t blocks = 1;
    std::uint64_t block_bytes = 0;
    std::uint64_t stride_bytes = 0;
    [[nodiscard]] bool strided() const noexcept { return blocks > 1 && stride_bytes > block_bytes; }
};

/// LogGP between two ends of one locality class.
struct Class {
    Time L = 5 * kMicrosecond;
    Time o_s = 1 * kMicrosecond;
    Time o_r = 1 * kMicrosecond;
    Time g = 1 * kMicrosecond;
    double G = 1'000.0;  ///< ps per byte: 1000 is 1 GB/s

    [[nodiscard]] Time serialization(std::uint64_t bytes) const {
        return bytes == 0 ? 0 : std::llround(static_cast<double>(bytes - 1) * G);
    }
    /// The service time of a message at an endpoint.
    [[nodiscard]] Time service(std::uint64_t bytes) const {
        return std::max(g, static_cast<Time>(std::llround(static_cast<double>(bytes) * G)));
    }
};

/// How the ranks of a node share its cores (cores.hpp).
struct Scheduling {
    int cores_per_node = 0;  ///< 0: each rank has one, always
    Time slice = 4 * kMillisecond;
    bool yields = false;
    double daemon_odds = 0.0;
    Time daemon_length = 0;
};

struct Machine {
    Class other_node;
    Class same_node{
        .L = 400 * kNanosecond, .o_s = 200 * kNanosecond, .o_r = 200 * kNanosecond, .g = 100 * kNanosecond, .G = 200.0};
    std::optional<std::uint64_t> eager_limit = 8192;
    int ranks_per_node = 1;
    int nics_per_node = 1;
    bool asynchronous_progress = false;
    /// Middleware latency of strided data, both ends together: per byte beyond contiguous, as one line of a log3P
    /// table.
    double l_mw_per_byte = 0.0;
    Scheduling scheduling{};

    [[nodiscard]] int node(int rank) const noexcept { return rank / ranks_per_node; }
    [[nodiscard]] const Class& between(int a, int b) const noexcept {
        return node(a) == node(b) ? same_node : other_node;
    }
    [[nodiscard]] Time middleware(std::uint64_t bytes, const Layout& layout) const {
        return layout.strided() ? std::llround(l_mw_per_byte * static_cast<double>(bytes)) : 0;
    }
};

}  // namespace logpost::truth
