#include "analyzer/archive/native/events/epochs.hpp"

namespace logpost::analyzer {

void EpochPairs::add(replay::Location location, const Column<Epoch>& epochs) {
    epochs.for_each([&](std::size_t i, const Epoch& epoch) {
        const auto index = static_cast<std::uint32_t>(i);
        if (epoch.peer == replay::kNoLocation) {
            return;
        }
        if (epoch.kind == Epoch::Kind::access) {
            between_[{location, epoch.peer, epoch.rma_window}].accesses.push_back(index);
        } else if (epoch.kind == Epoch::Kind::exposure) {
            between_[{epoch.peer, location, epoch.rma_window}].exposures.push_back(index);
        }
    });
}

void match_epochs(Trace& trace) {
    EpochPairs pairs;
    for (std::size_t l = 0; l < trace.traces.size(); ++l) {
        pairs.add(replay::location_at(l), trace.traces[l].epochs);
    }
    pairs.for_each([&](replay::Location location, std::uint32_t epoch, std::uint32_t match) {
        trace.traces[replay::index(location)].epochs[epoch].match = match;
    });
}

}  // namespace logpost::analyzer
