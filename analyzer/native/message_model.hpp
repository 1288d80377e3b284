#pragma once

/// Every matched message of a trace under a machine: its measured times, the model's stages, the waits that the
/// deterministic FIFO replays give it, and from these its partition.

#include <cstdint>
#include <vector>

#include "replay/native/parameters.hpp"
#include "replay/native/partition.hpp"
#include "trace.hpp"
#include "windows.hpp"

namespace logpost::analyzer {

/// A message, named by its receiving end.
struct MessageId {
    std::int32_t location;  // of the receiver
    std::uint32_t receive;  // index in its `receives`
};

/// Traffic of one location as an endpoint in one direction and window.
struct EndpointLoad {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::int64_t busy_ps = 0;
    std::int64_t queued_ps = 0;
    std::int32_t peers = 0;
};

/// What one message looks like to the replay.
struct ModelledMessage {
    replay::MessageTimes times;
    replay::MessageStages stages;
    replay::Handshake handshake;
    replay::Locality locality = replay::Locality::same_node;
    std::int32_t layout = kUndefined;
};

class MessageModel {
  public:
    MessageModel(const Trace& trace, const replay::Parameters& parameters, Windows windows, unsigned threads);

    /// Replays the endpoints and processors; call once before asking for partitions.
    void replay_queues();

    [[nodiscard]] bool matched(MessageId id) const noexcept { return receive(id).match != kNone; }
    [[nodiscard]] const Endpoint& receive(MessageId id) const noexcept {
        return trace_.traces[static_cast<std::size_t>(id.location)].receives[id.receive];
    }
    [[nodiscard]] const Endpoint& send(MessageId id) const noexcept {
        const auto& end = receive(id);
        return trace_.traces[static_cast<std::size_t>(end.peer)].sends[end.match];
    }
    /// The message of a send, or receive == kNone where it has no partner.
    [[nodiscard]] MessageId of_send(const Endpoint& send) const noexcept { return {send.peer, send.match}; }

    [[nodiscard]] replay::MessageTimes times(MessageId id) const noexcept;
    [[nodiscard]] ModelledMessage model(MessageId id) const;
    [[nodiscard]] replay::Partition partition(MessageId id) const;
    [[nodiscard]] replay::Partition partition(MessageId id, const ModelledMessage& message) const noexcept;
    /// When the model has the message at its receiver, waits for NICs included.
    [[nodiscard]] std::int64_t arrival(MessageId id, const ModelledMessage& message) const noexcept;

    [[nodiscard]] const Trace& trace() const noexcept { return trace_; }
    [[nodiscard]] const Windows& windows() const noexcept { return windows_; }
    [[nodiscard]] unsigned threads() const noexcept { return threads_; }
    [[nodiscard]] const EndpointLoad& load(std::size_t location, bool receiving, std::int32_t window) const noexcept {
        return loads_[(location * 2 + (receiving ? 1 : 0)) * static_cast<std::size_t>(windows_.count) +
                      static_cast<std::size_t>(window)];
    }
    [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
    [[nodiscard]] std::uint64_t clock_violations() const noexcept { return violations_; }

  private:
    /// What the replays leave for a message, in picoseconds.
    struct Waits {
        std::int64_t send_endpoint = 0;
        std::int64_t recv_endpoint = 0;
        std::int64_t cpu_queue = 0;
        std::int64_t receiver_busy = 0;
        std::int64_t held_until = 0;
    };

    [[nodiscard]] replay::Locality locality(std::int32_t a, std::int32_t b) const noexcept;
    [[nodiscard]] std::int64_t in_mpi(std::size_t location, std::int64_t time) const noexcept;
    [[nodiscard]] Waits& waits(MessageId id) noexcept {
        return waits_[static_cast<std::size_t>(id.location)][id.receive];
    }
    [[nodiscard]] const Waits& waits(MessageId id) const noexcept {
        return waits_[static_cast<std::size_t>(id.location)][id.receive];
    }
    void replay_endpoints(bool receiving);
    void replay_processor(std::size_t location);
    [[nodiscard]] std::vector<std::vector<std::size_t>> endpoint_groups() const;

    const Trace& trace_;
    const replay::Parameters& parameters_;
    Windows windows_;
    unsigned threads_;
    std::vector<std::vector<Waits>> waits_;  // [receiving location][receive]
    std::vector<EndpointLoad> loads_;
    std::uint64_t messages_ = 0;
    std::uint64_t violations_ = 0;
};

}  // namespace logpost::analyzer
