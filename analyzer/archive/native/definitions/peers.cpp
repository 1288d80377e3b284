#include "analyzer/archive/native/definitions/peers.hpp"

#include <algorithm>

namespace logpost::analyzer {

void Peers::resolve(OTF2_CommRef ref) {
    ref_ = ref;
    communicator_ = ids_.communicator(ref);
    locations_ = nullptr;
    is_self_ = false;
    if (communicator_ == kUndefined) {
        return;
    }
    const auto& communicator = trace_.communicators[static_cast<std::size_t>(communicator_)];
    is_self_ = communicator.is_self;
    locations_ = &communicator.locations;
    if (!communicator.remote_locations.empty()) {
        const auto self = definitions_.owner[replay::index(location_)];
        const auto& remote = communicator.remote_locations;
        const bool in_remote = std::find(remote.begin(), remote.end(), self) != remote.end();
        locations_ = in_remote ? &communicator.locations : &remote;
    }
}

replay::Location Peers::rare(replay::Rank rank) {
    if (communicator_ == kUndefined) {
        count(quality_, Quality::undefined_communicator);
        return kNoLocation;
    }
    if (is_self_ && rank == replay::Rank{0} && locations_->empty()) {
        return definitions_.owner[replay::index(location_)];
    }
    count(quality_, Quality::undefined_peer);
    return kNoLocation;
}

}  // namespace logpost::analyzer
