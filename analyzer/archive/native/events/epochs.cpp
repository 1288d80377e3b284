#include "analyzer/archive/native/events/epochs.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace logpost::analyzer {

void match_epochs(Trace& trace) {
    using Key = std::tuple<replay::Location, replay::Location, std::int32_t>;  // origin, target, window
    struct Sides {
        std::vector<std::uint32_t> accesses, exposures;  // indices in the epochs of origin and target
    };
    std::map<Key, Sides> between;
    for (std::size_t l = 0; l < trace.traces.size(); ++l) {
        const auto here = replay::location_at(l);
        trace.traces[l].epochs.for_each([&](std::size_t i, const Epoch& epoch) {
            const auto index = static_cast<std::uint32_t>(i);
            if (epoch.peer == replay::kNoLocation) {
                return;
            }
            if (epoch.kind == Epoch::Kind::access) {
                between[{here, epoch.peer, epoch.rma_window}].accesses.push_back(index);
            } else if (epoch.kind == Epoch::Kind::exposure) {
                between[{epoch.peer, here, epoch.rma_window}].exposures.push_back(index);
            }
        });
    }
    for (const auto& [key, sides] : between) {
        auto& origin = trace.traces[replay::index(std::get<0>(key))].epochs;
        auto& target = trace.traces[replay::index(std::get<1>(key))].epochs;
        for (std::size_t k = 0; k < std::min(sides.accesses.size(), sides.exposures.size()); ++k) {
            origin[sides.accesses[k]].match = sides.exposures[k];
            target[sides.exposures[k]].match = sides.accesses[k];
        }
    }
}

}  // namespace logpost::analyzer
