#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

/// Finds the exposure that permits each access: the k-th access of an origin to a target through a window belongs to
/// the k-th exposure of that target for that origin, in program order, as MPI defines it.
void match_epochs(Trace& trace);

/// The same in steps, for locations that are not in memory together.
class EpochPairs {
  public:
    void add(replay::Location location, const Column<Epoch>& epochs);
    /// Calls `visit(location, epoch, match)` for both sides of each pair of all that were added.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const auto& [key, sides] : between_) {
            const auto& [origin, target, window] = key;
            for (std::size_t k = 0; k < std::min(sides.accesses.size(), sides.exposures.size()); ++k) {
                visit(origin, sides.accesses[k], sides.exposures[k]);
                visit(target, sides.exposures[k], sides.accesses[k]);
            }
        }
    }

  private:
    struct Sides {
        std::vector<std::uint32_t> accesses, exposures;  // indices in the epochs of origin and target
    };
    std::map<std::tuple<replay::Location, replay::Location, std::int32_t>, Sides> between_;  // origin, target, window
};

}  // namespace logpost::analyzer
