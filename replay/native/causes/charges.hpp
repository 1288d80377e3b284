#pragma once

/// What the waits of a location are charged for later ones.

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

#include "replay/native/causes/waits.hpp"

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
        auto& ends = ends_[until];
        for (std::size_t kind = 0; kind < kWaitKinds; ++kind) {
            ends[kind] += rates[kind];
            rates_[kind] += rates[kind];
        }
    }
    /// The rates at a call, once those of intervals that begin at it or later are closed.
    const Costs& at(std::uint32_t call) {
        while (!ends_.empty() && std::prev(ends_.end())->first >= call + 1) {
            const auto last = std::prev(ends_.end());
            for (std::size_t kind = 0; kind < kWaitKinds; ++kind) {
                rates_[kind] -= last->second[kind];
            }
            ends_.erase(last);
        }
        if (ends_.empty()) {
            rates_.fill(0);  // no rounding errors are left behind
        }
        return rates_;
    }

  private:
    std::map<std::uint32_t, Costs> ends_;  // by the call at which they end, plus 1: 0 is the location's begin
    Costs rates_{};
};

}  // namespace logpost::replay
