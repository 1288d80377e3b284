#pragma once

/// What a group of settings makes of a graph's edges: lanes side by side, in loops that become vector instructions.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "replay/native/graph/graph.hpp"

namespace logpost::replay {

/// max(min(w, 0), w + shift): a weight falls to nothing at most, one below nothing stays. `floor` below 0: the edge is
/// as good as absent.
inline std::int64_t shifted(std::int64_t weight, std::int64_t shift, std::int64_t floor) noexcept {
    const std::int64_t least = (weight < 0 ? weight : 0) + floor;
    const std::int64_t moved = weight + shift + floor;
    return moved < least ? least : moved;
}

/// weight * factor, halves away from zero; a factor of 1 changes nothing.
inline std::int64_t scaled(std::int64_t weight, double factor) noexcept {
    // A double does not hold every time of hours in picoseconds: unchanged must be unchanged.
    const double product = static_cast<double>(weight) * factor;
    const auto whole = static_cast<std::int64_t>(product);
    const double rest = product - static_cast<double>(whole);
    const auto rounded = whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0);
    return factor == 1.0 ? weight : rounded;
}

/// Times of one node.
template <std::size_t Lanes>
using LaneTimes = std::array<std::int64_t, Lanes>;

/// What a group of `Lanes` settings makes of weights, by model. A model that no lane changes has no row: most weights
/// of a program stay.
template <std::size_t Lanes>
class LaneWeights {
  public:
    /// By model and lane, `lanes` lanes of which the group starts at `first`.
    LaneWeights(std::size_t models, std::size_t lanes, std::size_t first, const std::vector<std::uint8_t>& is_scaled,
                const std::vector<std::int64_t>& shift, const std::vector<std::int64_t>& floor,
                const std::vector<double>& factor)
        : changes_(models) {
        for (std::size_t m = 0; m < models; ++m) {
            const auto at = static_cast<std::ptrdiff_t>(m * lanes + first);
            if (is_scaled[m] != 0) {
                std::array<double, Lanes> row;
                std::copy_n(factor.begin() + at, Lanes, row.begin());
                if (std::ranges::any_of(row, [](double one) { return one != 1.0; })) {
                    changes_[m] = numbered(factors_.size(), Change::scaled);
                    factors_.push_back(row);
                }
                continue;
            }
            Shift row;
            std::copy_n(shift.begin() + at, Lanes, row.shift.begin());
            std::copy_n(floor.begin() + at, Lanes, row.floor.begin());
            const auto nothing = [](std::int64_t one) { return one == 0; };
            if (!std::ranges::all_of(row.shift, nothing) || !std::ranges::all_of(row.floor, nothing)) {
                changes_[m] = numbered(shifts_.size(), Change::shifted);
                shifts_.push_back(row);
            }
        }
    }

    /// What becomes of an edge's weight.
    [[gnu::always_inline]] void change(std::uint32_t model, std::int64_t weight,
                                       LaneTimes<Lanes>& changed) const noexcept {
        const auto change = changes_[model];
        switch (static_cast<Change>(change & 3U)) {
            case Change::none:
                changed.fill(weight);
                break;
            case Change::shifted: {
                const auto& row = shifts_[change >> 2U];
                for (std::size_t lane = 0; lane < Lanes; ++lane) {
                    changed[lane] = shifted(weight, row.shift[lane], row.floor[lane]);
                }
                break;
            }
            case Change::scaled: {
                const auto& row = factors_[change >> 2U];
                for (std::size_t lane = 0; lane < Lanes; ++lane) {
                    changed[lane] = scaled(weight, row[lane]);
                }
                break;
            }
        }
    }

  private:
    enum class Change : std::uint8_t { none, shifted, scaled };
    struct Shift {
        std::array<std::int64_t, Lanes> shift, floor;
    };
    static std::uint32_t numbered(std::size_t row, Change change) noexcept {
        return static_cast<std::uint32_t>(row) << 2U | static_cast<std::uint32_t>(change);
    }

    std::vector<std::uint32_t> changes_;  // by model: the row, and in the last two bits what is changed
    std::vector<Shift> shifts_;
    std::vector<std::array<double, Lanes>> factors_;
};

/// Lanes in passes of 8, 4, 2 and 1: `body(first, lanes)`.
template <class Body>
void for_each_group(std::size_t lanes, Body&& body) {
    std::size_t lane = 0;
    for (const std::size_t width : {8, 4, 2, 1}) {
        for (; lane + width <= lanes; lane += width) {
            body(lane, width);
        }
    }
}

/// Calls `body` with the width as a constant.
template <class Body>
void of_width(std::size_t width, Body&& body) {
    switch (width) {
        case 8:
            return body(std::integral_constant<std::size_t, 8>{});
        case 4:
            return body(std::integral_constant<std::size_t, 4>{});
        case 2:
            return body(std::integral_constant<std::size_t, 2>{});
        default:
            return body(std::integral_constant<std::size_t, 1>{});
    }
}

/// Calls `body()`, compiled for wide vectors where the processor has them. `body` must be inlined to gain by it.
#if defined(__x86_64__) && defined(__GNUC__)
template <class Body>
[[gnu::target("avx2"), gnu::noinline]] void with_wide_vectors(const Body& body) {
    body();
}
/// Eight times at once, and the larger one of two is one instruction.
template <class Body>
[[gnu::target("avx512f,prefer-vector-width=512"), gnu::noinline]] void with_widest_vectors(const Body& body) {
    body();
}
template <class Body>
void on_this_processor(const Body& body) {
    if (__builtin_cpu_supports("avx512f") != 0) {
        with_widest_vectors(body);
    } else if (__builtin_cpu_supports("avx2") != 0) {
        with_wide_vectors(body);
    } else {
        body();
    }
}
#else
template <class Body>
void on_this_processor(const Body& body) {
    body();
}
#endif

}  // namespace logpost::replay
