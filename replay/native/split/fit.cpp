#include "replay/native/split/fit.hpp"

#include <algorithm>

namespace logpost::replay {
namespace {

__extension__ typedef unsigned __int128 Wide;

/// Shares `available` among the stages of `tier` in proportion to what they want; `total` > available >= 0.
void scale(std::span<Stage> stages, std::uint8_t tier, std::int64_t available, std::int64_t total) {
    if (total <= 0) {
        return;
    }
    std::int64_t left = available;
    for (auto& stage : stages) {
        if (stage.tier == tier) {
            const Wide product = static_cast<Wide>(stage.wanted_ps) * static_cast<Wide>(available);
            stage.granted_ps = static_cast<std::int64_t>(product / static_cast<Wide>(total));
            left -= stage.granted_ps;
        }
    }
    // `left` is less than the number of stages in the tier, so each gets at most one picosecond more.
    while (left > 0) {
        Stage* best = nullptr;
        Wide best_remainder = 0;
        for (auto& stage : stages) {
            if (stage.tier != tier) {
                continue;
            }
            const Wide product = static_cast<Wide>(stage.wanted_ps) * static_cast<Wide>(available);
            const auto share = static_cast<std::int64_t>(product / static_cast<Wide>(total));
            const Wide remainder = product % static_cast<Wide>(total);
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
