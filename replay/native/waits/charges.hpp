#pragma once

/// What the waits of a location are charged for later ones.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "replay/native/waits/waits.hpp"

namespace logpost::replay {

/// Of each kind of wait.
using Costs = std::array<double, kWaitKinds>;

/// What the waits of one location are charged for later ones, going back in time.
///
/// An interval of the location in which it waited, and then delayed another, charges each of those waits in proportion
/// to its length. At most one interval is open for each partner.
class Charges {
  public:
    /// From now on, back to the call `until`, each picosecond of waiting costs so much.
    void open(std::uint32_t until, const Costs& rates) {
        const auto place = std::ranges::lower_bound(ends_, until, {}, &End::first);
        if (place != ends_.end() && place->first == until) {
            add(place->second, rates);
        } else {
            ends_.insert(place, {until, rates});
        }
        add(rates_, rates);
    }
    /// The rates at a call, once those of intervals that begin at it or later are closed.
    const Costs& at(std::uint32_t call) {
        while (!ends_.empty() && ends_.back().first >= call + 1) {
            for (std::size_t kind = 0; kind < kWaitKinds; ++kind) {
                rates_[kind] -= ends_.back().second[kind];
            }
            ends_.pop_back();
        }
        if (ends_.empty()) {
            rates_.fill(0);  // no rounding errors are left behind
        }
        return rates_;
    }

  private:
    using End = std::pair<std::uint32_t, Costs>;
    static void add(Costs& sum, const Costs& rates) noexcept {
        for (std::size_t kind = 0; kind < kWaitKinds; ++kind) {
            sum[kind] += rates[kind];
        }
    }

    // By the call at which they end, plus 1: 0 is the location's begin. Few are open, and one that opens ends early
    // among them or late: a sorted array costs less than a tree.
    std::vector<End> ends_;
    Costs rates_{};
};

}  // namespace logpost::replay
