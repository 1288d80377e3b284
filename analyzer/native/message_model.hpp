#pragma once

/// Every matched message of a trace under a machine: its measured times, the model's stages, the waits that the
/// deterministic FIFO replays give it, and from these its partition.

#include <cstdint>
#include <span>
#include <vector>

#include "huge_array.hpp"
#include "message_facts.hpp"
#include "replay/native/parameters.hpp"
#include "replay/native/partition.hpp"
#include "trace.hpp"
#include "windows.hpp"

namespace logpost::analyzer {

/// One message as the endpoints' replays see it: one cache line, filled once, so that no later pass chases its two ends
/// again. What few messages have (a handshake) and what only its receiver's processor adds stands elsewhere.
struct MessageRecord {
    replay::MessageTimes times;
    std::int64_t arrival = 0;        // when the payload starts to leave, before any wait for its NIC;
                                     // once the receiving endpoints are replayed: when it has arrived
    std::int64_t send_endpoint = 0;  // wait, see replay::MessageWaits
    std::uint32_t stages = 0;        // row of the receiving location's table of stages
    replay::Locality locality = replay::Locality::same_node;
    bool matched = false;
    bool violation = false;  // received before it was sent
};
static_assert(sizeof(MessageRecord) == 64);

/// What the replay of the receiver's processor says of one message, see replay::MessageWaits.
struct ProcessorWaits {
    std::int64_t cpu_queue = 0;
    std::int64_t receiver_busy = 0;
    std::int64_t held_until = 0;
};

/// Traffic of one location as an endpoint in one direction and window.
struct EndpointLoad {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::int64_t busy_ps = 0;
    std::int64_t queued_ps = 0;
    std::int32_t peers = 0;
};

class MessageModel {
  public:
    MessageModel(const Trace& trace, const replay::Parameters& parameters, Windows windows, unsigned threads);

    /// Builds the records and replays the endpoints; call once, first.
    void replay_endpoints();
    /// Replays the processor of one location; a partition needs that of its receiver. Does nothing the second time.
    /// Apart from the endpoints, so that a pass over one location's messages finds them still in the cache.
    void replay_processor(std::size_t location);

    [[nodiscard]] const MessageRecord& record(MessageId id) const noexcept {
        return records_[static_cast<std::size_t>(id.location)][id.receive];
    }
    [[nodiscard]] const replay::MessageStages& stages(MessageId id) const noexcept {
        return stages_[static_cast<std::size_t>(id.location)][record(id).stages];
    }
    /// The message of a send, or receive == kNone where it has no partner.
    [[nodiscard]] static MessageId of_send(const Endpoint& send) noexcept { return {send.peer, send.match}; }

    [[nodiscard]] replay::Partition partition(MessageId id) const noexcept;
    /// When the model has the message at its receiver, waits for NICs included.
    [[nodiscard]] std::int64_t arrival(MessageId id) const noexcept { return record(id).arrival; }
    /// Row of Trace::layouts of the message's data; kUndefined: contiguous or not stated.
    [[nodiscard]] std::int32_t layout(MessageId id) const noexcept;

    [[nodiscard]] const Trace& trace() const noexcept { return trace_; }
    [[nodiscard]] const Windows& windows() const noexcept { return windows_; }
    [[nodiscard]] const EndpointLoad& load(std::size_t location, bool receiving, std::int32_t window) const noexcept {
        return loads_[load_index(location, receiving, window)];
    }
    [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
    [[nodiscard]] std::uint64_t clock_violations() const noexcept { return violations_; }

  private:
    [[nodiscard]] MessageRecord& change(MessageId id) noexcept {
        return records_[static_cast<std::size_t>(id.location)][id.receive];
    }
    [[nodiscard]] std::size_t load_index(std::size_t location, bool receiving, std::int32_t window) const noexcept {
        return (location * 2 + (receiving ? 1 : 0)) * static_cast<std::size_t>(windows_.count) +
               static_cast<std::size_t>(window);
    }
    /// One message at an endpoint.
    struct Customer {
        std::int64_t time;
        std::int64_t service;
        std::int32_t here;    // location that acts as the endpoint
        std::uint32_t index;  // of the message's end there: among its sends, or its receives
    };
    void leaving(std::size_t location, bool between_nodes, std::vector<Customer>& customers) const;
    void arriving(std::size_t location, bool between_nodes, std::vector<Customer>& customers) const;
    /// The stride of a send's data in bytes; 0: contiguous or not stated.
    [[nodiscard]] std::int64_t stride(const LocationTrace& sender, std::uint32_t send) const noexcept;
    /// The handshake of a rendezvous; of an eager message nothing.
    [[nodiscard]] replay::Handshake handshake_of(MessageId id) const noexcept;
    void build_records(std::size_t location);
    void replay_endpoint(std::span<const std::size_t> locations, bool between_nodes, bool receiving);
    void replay_endpoints(bool receiving);
    [[nodiscard]] std::vector<std::vector<std::size_t>> endpoint_groups() const;

    const Trace& trace_;
    const replay::Parameters& parameters_;
    Windows windows_;
    unsigned threads_;
    Places places_;
    HugeArray<MessageRecord> record_memory_;
    HugeArray<ProcessorWaits> processor_memory_;
    std::vector<std::span<MessageRecord>> records_;     // [receiving location][receive], in record_memory_
    std::vector<std::span<ProcessorWaits>> processor_;  // likewise, in processor_memory_
    struct Rendezvous {
        std::uint32_t receive;
        replay::Handshake handshake;
    };
    std::vector<std::vector<Rendezvous>> rendezvous_;         // [receiving location], by receive
    std::vector<std::vector<replay::MessageStages>> stages_;  // [receiving location]: the distinct ones
    std::vector<EndpointLoad> loads_;
    std::vector<std::uint8_t> processor_replayed_;  // by location
    std::uint64_t messages_ = 0;
    std::uint64_t violations_ = 0;
};

}  // namespace logpost::analyzer
