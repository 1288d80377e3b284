#include "analyzer/archive/native/clocks/clock.hpp"

#include <algorithm>

namespace logpost::analyzer {

namespace {
constexpr std::uint64_t kPsPerSecond = 1'000'000'000'000ULL;
}

Clock::Clock(std::uint64_t ticks_per_second, std::uint64_t base, std::vector<ClockOffset> offsets)
    : base_(base), resolution_(std::max<std::uint64_t>(ticks_per_second, 1)) {
    whole_ = kPsPerSecond / resolution_;
    const UInt128 rest = static_cast<UInt128>(kPsPerSecond % resolution_) << 64;
    fraction_high_ = static_cast<std::uint64_t>(rest / resolution_);
    fraction_low_ = static_cast<std::uint64_t>((((rest % resolution_) << 64) + resolution_ - 1) / resolution_);
    constexpr auto kMostTicks = static_cast<UInt128>(std::numeric_limits<std::int64_t>::max());
    limit_ =
        static_cast<std::uint64_t>(std::min(static_cast<UInt128>(kSaturated) * resolution_ / kPsPerSecond, kMostTicks));

    std::stable_sort(offsets.begin(), offsets.end(),
                     [](const ClockOffset& a, const ClockOffset& b) { return a.time < b.time; });
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        const auto& a = offsets[i];
        const auto& b = offsets[i + 1];
        if (b.time == a.time) {
            continue;
        }
        const auto rise = static_cast<double>(static_cast<Int128>(b.offset) - a.offset);
        segments_.push_back({a.time, b.time, a.offset, rise / static_cast<double>(b.time - a.time)});
    }
    if (segments_.empty()) {
        segments_.push_back({0, 0, offsets.empty() ? 0 : offsets.front().offset, 0.0});
    }
    current_ = segments_.data();
    last_ = segments_.data() + segments_.size() - 1;
}

void Clock::advance(std::uint64_t ticks) noexcept {
    while (current_ != last_ && ticks > current_->end) {
        ++current_;
    }
}

std::int64_t Clock::rare_ticks_to_ps(std::int64_t ticks) const noexcept {
    const auto limit = static_cast<std::int64_t>(limit_);
    if (ticks > limit) {
        return kSaturated;
    }
    if (ticks < -limit) {
        return -kSaturated;
    }
    const Int128 scaled = static_cast<Int128>(ticks) * static_cast<Int128>(kPsPerSecond);
    const auto divisor = static_cast<Int128>(resolution_);
    const Int128 quotient = scaled / divisor;
    return static_cast<std::int64_t>(scaled % divisor < 0 ? quotient - 1 : quotient);
}

}  // namespace logpost::analyzer
