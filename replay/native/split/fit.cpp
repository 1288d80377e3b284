#include "replay/native/split/fit.hpp"

#include <algorithm>
#include <bit>

namespace logpost::replay {
namespace {

__extension__ typedef unsigned __int128 Wide;

/// Shares `available` among the stages of `tier` in proportion to what they want; `total` > available >= 0. `Product`
/// holds available * total.
template <class Product>
void scale_in(std::span<Stage> stages, std::uint8_t tier, std::int64_t available, std::int64_t total) {
    const auto of = [&](const Stage& stage) {
        return static_cast<Product>(stage.wanted_ps) * static_cast<Product>(available);
    };
    const auto whole = static_cast<Product>(total);
    std::int64_t left = available;
    for (auto& stage : stages) {
        if (stage.tier == tier) {
            stage.granted_ps = static_cast<std::int64_t>(of(stage) / whole);
            left -= stage.granted_ps;
        }
    }
    // `left` is less than the number of stages in the tier, so each gets at most one picosecond more.
    while (left > 0) {
        Stage* best = nullptr;
        Product best_remainder = 0;
        for (auto& stage : stages) {
            if (stage.tier != tier) {
                continue;
            }
            const auto share = static_cast<std::int64_t>(of(stage) / whole);
            const Product remainder = of(stage) % whole;
            if (stage.granted_ps == share && remainder > best_remainder) {
                best = &stage;
                best_remainder = remainder;
            }
        }
        if (best == nullptr) {
            break;  // unreachable: remainders sum to a multiple of total
        }
        ++best->granted_ps;
        --left;
    }
}

/// The same for any times. Those of most messages are short enough for the processor's own division.
void scale(std::span<Stage> stages, std::uint8_t tier, std::int64_t available, std::int64_t total) {
    constexpr int kBits = 64;
    if (total <= 0) {
        return;
    }
    if (std::bit_width(static_cast<std::uint64_t>(available)) + std::bit_width(static_cast<std::uint64_t>(total)) <=
        kBits) {
        scale_in<std::uint64_t>(stages, tier, available, total);
    } else {
        scale_in<Wide>(stages, tier, available, total);
    }
}

}  // namespace

Fit fit(std::int64_t duration_ps, std::span<Stage> stages) {
    std::int64_t wanted = 0;
    for (auto& stage : stages) {
        wanted += stage.wanted_ps;
    }
    if (wanted <= duration_ps) {
        for (auto& stage : stages) {
            stage.granted_ps = stage.wanted_ps;
        }
        return {.residual_ps = duration_ps - wanted, .deficit_ps = 0};
    }
    std::int64_t left = duration_ps;
    bool exhausted = false;
    for (std::uint8_t tier = 0; tier < kTiers; ++tier) {
        std::int64_t total = 0;
        for (const auto& stage : stages) {
            total += stage.tier == tier ? stage.wanted_ps : 0;
        }
        if (exhausted) {
            for (auto& stage : stages) {
                stage.granted_ps = stage.tier == tier ? 0 : stage.granted_ps;
            }
        } else if (total <= left) {
            for (auto& stage : stages) {
                stage.granted_ps = stage.tier == tier ? stage.wanted_ps : stage.granted_ps;
            }
            left -= total;
        } else {
            scale(stages, tier, left, total);
            left = 0;
            exhausted = true;
        }
    }
    return {.residual_ps = left, .deficit_ps = wanted - duration_ps};
}

}  // namespace logpost::replay
