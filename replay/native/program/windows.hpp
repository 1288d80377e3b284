#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace logpost::replay {

/// Equal slices of the trace's time; window w covers [w, w + 1) * width_ps. A window has `cells` equal cells.
struct Windows {
    std::int32_t count = 1;
    std::int64_t width_ps = 1;
    std::int32_t cells = 1;  // a power of two, of which the width is a multiple

    /// Few enough that (locations x windows) stays bounded, enough for a timeline that a person reads.
    static Windows over(std::int64_t length_ps, std::size_t locations) {
        const std::size_t wanted = std::clamp<std::size_t>(65536 / std::max<std::size_t>(1, locations), 32, 256);
        const std::int64_t width = std::max<std::int64_t>(1, length_ps / static_cast<std::int64_t>(wanted) + 1);
        return {.count = static_cast<std::int32_t>(wanted), .width_ps = width};
    }

    /// The same with as many cells as the calls of `groups` of locations are worth: a picture of fewer calls a cell is
    /// as quickly made of the calls themselves.
    [[nodiscard]] Windows with_cells(std::size_t groups, std::size_t calls) const {
        constexpr std::size_t kMostCells = std::size_t{1} << 20U;  // of all groups
        constexpr std::size_t kCallsPerCell = 32;
        const std::size_t in_all = std::min(kMostCells, calls / kCallsPerCell);
        const auto wanted = in_all / std::max<std::size_t>(1, groups * static_cast<std::size_t>(count));
        const auto fine = std::min(std::bit_floor(std::max<std::size_t>(1, wanted)),
                                   std::bit_floor(static_cast<std::size_t>(width_ps)));
        const auto cell = (width_ps - 1) / static_cast<std::int64_t>(fine) + 1;
        return {.count = count,
                .width_ps = cell * static_cast<std::int64_t>(fine),
                .cells = static_cast<std::int32_t>(fine)};
    }

    [[nodiscard]] std::int64_t cell_ps() const noexcept { return width_ps / cells; }
    [[nodiscard]] std::int32_t cell_at(std::int64_t time_ps) const noexcept {
        return static_cast<std::int32_t>(std::clamp<std::int64_t>(time_ps / cell_ps(), 0, count * cells - 1));
    }

    [[nodiscard]] std::int32_t at(std::int64_t time_ps) const noexcept {
        return static_cast<std::int32_t>(std::clamp<std::int64_t>(time_ps / width_ps, 0, count - 1));
    }
};

/// The windows of times that mostly ascend: a division only where the window changes.
class WindowCursor {
  public:
    explicit WindowCursor(const Windows& windows) noexcept : windows_(windows) {}

    [[nodiscard]] std::int32_t at(std::int64_t time_ps) noexcept {
        if (time_ps < begin_ps_ || time_ps - begin_ps_ >= windows_.width_ps) {
            window_ = windows_.at(time_ps);
            begin_ps_ = window_ * windows_.width_ps;
        }
        return window_;
    }

  private:
    const Windows& windows_;
    std::int32_t window_ = 0;
    std::int64_t begin_ps_ = 0;
};

}  // namespace logpost::replay
