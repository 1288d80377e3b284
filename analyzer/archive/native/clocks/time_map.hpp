#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/archive/native/clocks/clock.hpp"

namespace logpost::analyzer {

/// A process's correction of time: what is added at some instants, linear between them, constant outside. Picoseconds.
class TimeMap {
  public:
    struct Knot {
        std::int64_t at;
        std::int64_t shift;
    };

    TimeMap() = default;
    /// The knots in the order of their times, which all differ.
    explicit TimeMap(std::vector<Knot> knots) : knots_(std::move(knots)) {}

    [[nodiscard]] const std::vector<Knot>& knots() const noexcept { return knots_; }

    /// Corrects times that never run backwards, one after the other.
    class Cursor {
      public:
        Cursor() = default;
        explicit Cursor(const TimeMap& map) : knots_(&map.knots_) {}

        [[nodiscard]] std::int64_t at(std::int64_t time) noexcept {
            const auto& knots = *knots_;
            while (next_ < knots.size() && knots[next_].at <= time) {
                ++next_;
            }
            if (next_ == 0) {
                return moved(time, knots.empty() ? 0 : knots.front().shift);
            }
            const auto& a = knots[next_ - 1];
            if (next_ == knots.size() || a.at == time) {
                return moved(time, a.shift);
            }
            const auto& b = knots[next_];
            const auto rise = (static_cast<Wide>(b.shift) - a.shift) * (static_cast<Wide>(time) - a.at);
            return moved(time, a.shift + rise / (static_cast<Wide>(b.at) - a.at));
        }

        explicit operator bool() const noexcept { return knots_ != nullptr; }

      private:
        __extension__ using Wide = __int128;

        /// Saturates where the clock does: the reader refuses such times.
        [[nodiscard]] static std::int64_t moved(std::int64_t time, Wide shift) noexcept {
            constexpr Wide kMost = Clock::kSaturated;
            return static_cast<std::int64_t>(std::clamp(time + shift, -kMost, kMost));
        }

        const std::vector<Knot>* knots_ = nullptr;
        std::size_t next_ = 0;
    };

  private:
    std::vector<Knot> knots_;
};

}  // namespace logpost::analyzer
