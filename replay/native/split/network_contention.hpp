#pragma once

/// C_n of every message between nodes: what it waited in the network for links that others used (docs/split.md).

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/native/program/message_facts.hpp"
#include "replay/native/program/program.hpp"
#include "replay/native/program/span.hpp"
#include "replay/native/program/wide.hpp"

namespace logpost::replay {

class MessageModel;

/// The traffic of one phase, and what its contention is by LoGPC's equations (3)-(6) with E[B^2].
struct TrafficPhase {
    Span span;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    double utilisation = 0;    // rho of the busiest dimension
    double contention_ps = 0;  // C_n, mean wait of a message; infinite: saturated
    WidePs excess_ps = 0;      // duration of messages that nothing else explains, over those whose receiver waited
    WidePs granted_ps = 0;     // of it, network contention
};

/// What one link carried in one phase.
struct LinkTraffic {
    std::uint32_t phase = 0;
    std::int32_t link = 0;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    WidePs granted_ps = 0;  // network contention of the messages that took it
};

class NetworkContention {
  public:
    NetworkContention() = default;
    /// Two passes over the messages of a model that grants no network contention yet. Nothing where the network is not
    /// known.
    NetworkContention(const MessageModel& model, unsigned threads);

    /// Picoseconds granted to a message.
    [[nodiscard]] std::int64_t of(MessageId id) const noexcept {
        return granted_.empty() ? 0 : granted_[first_[index(id.location)] + id.receive];
    }
    [[nodiscard]] const std::vector<TrafficPhase>& phases() const noexcept { return phases_; }
    /// By phase and link; only links that carried something.
    [[nodiscard]] const std::vector<LinkTraffic>& links() const noexcept { return links_; }

  private:
    std::vector<std::size_t> first_;  // by receiving location: its first message in granted_
    std::vector<std::int64_t> granted_;
    std::vector<TrafficPhase> phases_;
    std::vector<LinkTraffic> links_;
};

}  // namespace logpost::replay
