#pragma once

#include <vector>

namespace logpost::replay {

/// A value read from a table, and whether it lies beyond the largest coordinates that were measured.
struct Reading {
    double value = 0;
    bool beyond_size = false;
    bool beyond_second = false;  ///< beyond the largest stride, burst or number of processors
};

/// y(x) through measured points, linear between them. Below the first point that point holds. Beyond the last one the
/// last segment continues, unless it falls: noise, or a cost per byte that levels off, would make large messages free.
struct Curve {
    std::vector<double> x;  ///< ascending
    std::vector<double> y;
    bool continued = true;  ///< false: the last point holds beyond it

    [[nodiscard]] bool empty() const noexcept { return x.empty(); }
    [[nodiscard]] Reading at(double size) const;
};

/// y(x, z): a curve over x for each measured z, linear in log2 z between them. Outside of the measured z the nearest
/// holds.
struct Surface {
    std::vector<double> z;  ///< ascending, > 0
    std::vector<Curve> curves;

    [[nodiscard]] bool empty() const noexcept { return curves.empty(); }
    [[nodiscard]] Reading at(double size, double second) const;
};

}  // namespace logpost::replay
