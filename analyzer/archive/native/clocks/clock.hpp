#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace logpost::analyzer {

/// One ClockOffset record: at local time `time` the global clock reads `time + offset`.
struct ClockOffset {
    std::uint64_t time;
    std::int64_t offset;
};

/// Ticks of one location to picoseconds from `base` (global ticks).
///
/// Offset between two records: linear, rounded to the nearest tick, the first segment extended to earlier times, the
/// last to later ones: libotf2's own rule to the tick, so that every tool sees the same times. Only the small
/// difference to the segment's start is ever a double; absolute ticks (above 2^53 in real archives) stay integers.
///
/// Picoseconds = floor(ticks × 10^12 / resolution), exactly, by a 64.128 fixed-point reciprocal (a 128-bit division per
/// event would cost as much as decoding it).
class Clock {
  public:
    Clock() = default;
    Clock(std::uint64_t ticks_per_second, std::uint64_t base, std::vector<ClockOffset> offsets);

    /// Times may only grow within one location for the offsets' sake, as libotf2 assumes as well.
    [[nodiscard]] std::int64_t to_ps(std::uint64_t ticks) noexcept {
        if (current_ != last_ && ticks > current_->end) {
            advance(ticks);
        }
        std::int64_t drift = 0;
        if (current_->slope != 0.0) {
            const auto begin = current_->begin;
            const double difference =
                ticks >= begin ? static_cast<double>(ticks - begin) : -static_cast<double>(begin - ticks);
            const double change = current_->slope * difference;
            if (std::abs(change) >= 0x1p62) [[unlikely]] {
                return change < 0 ? -kSaturated : kSaturated;
            }
            drift = static_cast<std::int64_t>(std::llrint(change));
        }
        const Int128 since = static_cast<Int128>(ticks) - base_ + current_->offset + drift;
        const auto fitting = static_cast<std::int64_t>(since);
        if (fitting != since) [[unlikely]] {
            return since < 0 ? -kSaturated : kSaturated;
        }
        return ticks_to_ps(fitting);
    }

    /// A span of global ticks, negative or not; floor. Saturates just below ± 2^62 ps (53 days), so that the
    /// difference of two times fits.
    [[nodiscard]] std::int64_t ticks_to_ps(std::int64_t ticks) const noexcept {
        if (static_cast<std::uint64_t>(ticks) > limit_) [[unlikely]] {
            return rare_ticks_to_ps(ticks);
        }
        const auto n = static_cast<std::uint64_t>(ticks);
        const auto low = static_cast<std::uint64_t>((static_cast<UInt128>(n) * fraction_low_) >> 64);
        const auto fraction = static_cast<std::uint64_t>((static_cast<UInt128>(n) * fraction_high_ + low) >> 64);
        return static_cast<std::int64_t>(n * whole_ + fraction);
    }

    /// Back to the first segment.
    void rewind() noexcept { current_ = segments_.data(); }

    static constexpr std::int64_t kSaturated = (std::int64_t{1} << 62) - 1;

  private:
    __extension__ using Int128 = __int128;
    __extension__ using UInt128 = unsigned __int128;
    struct Segment {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        std::int64_t offset = 0;
        double slope = 0.0;
    };
    void advance(std::uint64_t ticks) noexcept;
    [[nodiscard]] std::int64_t rare_ticks_to_ps(std::int64_t ticks) const noexcept;

    std::vector<Segment> segments_;
    const Segment* current_ = nullptr;
    const Segment* last_ = nullptr;
    std::uint64_t base_ = 0;
    std::uint64_t resolution_ = 1;
    std::uint64_t whole_ = 0;          // whole picoseconds per tick
    std::uint64_t fraction_high_ = 0;  // the rest in 2^-64 ps ...
    std::uint64_t fraction_low_ = 0;   // ... and in 2^-128 ps, rounded up
    std::uint64_t limit_ = 0;          // ticks that fit
};

}  // namespace logpost::analyzer
