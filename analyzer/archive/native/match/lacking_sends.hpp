#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "replay/native/program/ids.hpp"

namespace logpost::analyzer {

/// Of the messages to one process: the channels that have fewer sends than receives, and how many fewer. A writer left
/// those sends out; a receive that ended before the send that is next began has lost its own.
class LackingSends {
  public:
    void receive(std::int32_t comm, replay::Location sender, std::int32_t tag) { ++channels_[{comm, sender, tag}]; }
    void send(std::int32_t comm, replay::Location sender, std::int32_t tag) { --channels_[{comm, sender, tag}]; }

    [[nodiscard]] bool any() const {
        for (const auto& [channel, lacking] : channels_) {
            if (lacking > 0) {
                return true;
            }
        }
        return false;
    }
    /// Whether one more receive of that channel may stay without a send.
    [[nodiscard]] bool at(std::int32_t comm, replay::Location sender, std::int32_t tag) const {
        const auto found = channels_.find({comm, sender, tag});
        return found != channels_.end() && found->second > 0;
    }
    /// One does.
    void take(std::int32_t comm, replay::Location sender, std::int32_t tag) { --channels_[{comm, sender, tag}]; }

  private:
    std::map<std::tuple<std::int32_t, replay::Location, std::int32_t>, std::int64_t> channels_;
};

}  // namespace logpost::analyzer
