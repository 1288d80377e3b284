#pragma once

/// A message as a labelled partition of its measured time (spec/replay.md section 8).
///
/// Durations are lengths of segments that follow each other without gap from the envelope's begin to its end, so the
/// parts are never negative and add up to the envelope exactly, whatever the model says.

#include <array>
#include <cstddef>
#include <cstdint>

#include "parameters.hpp"

namespace logpost::replay {

enum class Part : std::uint8_t {
    late_sender,
    send_overhead,
    middleware,
    endpoint_contention,
    latency,
    serialization,
    network_contention,
    late_receiver,
    processor_queueing,
    recv_overhead,
    residual,
};
inline constexpr std::size_t kParts = 11;

/// What was measured of one message; picoseconds.
struct MessageTimes {
    std::int64_t s0 = 0;   ///< enter of the send call
    std::int64_t s1 = 0;   ///< leave of the send call
    std::int64_t r0 = 0;   ///< enter of the call that posted the receive (== rw0 if blocking)
    std::int64_t rw0 = 0;  ///< enter of the call that completed the receive
    std::int64_t rw1 = 0;  ///< its leave

    /// Received before it was sent: no clock correction can be right here, so the message is clamped, not fitted.
    [[nodiscard]] bool violates_causality() const noexcept { return rw1 < s0; }
};

/// What the deterministic replays and the recorded facts say of one message; picoseconds.
struct MessageWaits {
    std::int64_t send_endpoint = 0;  ///< FIFO wait at the sending NIC
    std::int64_t recv_endpoint = 0;  ///< FIFO wait at the receiving NIC
    std::int64_t cpu_queue = 0;      ///< FIFO wait for the receiver's processor
    std::int64_t network = 0;        ///< C_n
    std::int64_t receiver_busy = 0;  ///< overhead of other messages on the receiver between arrival and posting
    std::int64_t held_until = 0;     ///< latest planned arrival among the other requests of the completing call
};

/// When the two sides of a rendezvous could take part in it; absolute picoseconds.
struct Handshake {
    std::int64_t matched = 0;       ///< request arrived, receive posted, receiver able to answer
    std::int64_t sender_ready = 0;  ///< clear-to-send arrived and the sender inside MPI
};

/// Not initialized: a partition has room for two dozen, and most use six.
struct Segment {
    std::int64_t begin;
    std::int64_t end;
    Part part;
};

class Partition {
  public:
    static constexpr std::size_t kMaxSegments = 24;

    explicit Partition(std::int64_t begin) noexcept : begin_(begin), cursor_(begin) {}

    /// Appends `duration` of `part`; joins it to the last segment where that has the same part.
    void place(Part part, std::int64_t duration) noexcept;

    [[nodiscard]] std::int64_t begin() const noexcept { return begin_; }
    [[nodiscard]] std::int64_t cursor() const noexcept { return cursor_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] const Segment& operator[](std::size_t i) const noexcept { return segments_[i]; }
    [[nodiscard]] const Segment* begin_segment() const noexcept { return segments_.data(); }
    [[nodiscard]] const Segment* end_segment() const noexcept { return segments_.data() + size_; }
    [[nodiscard]] std::array<std::int64_t, kParts> totals() const noexcept;

    std::int64_t deficit_ps = 0;        ///< how much more the model wanted than was measured
    std::int64_t planned_arrival = 0;   ///< when the model has the message at the receiver
    std::int64_t recv_overhead_ps = 0;  ///< granted at the end of the envelope

  private:
    std::array<Segment, kMaxSegments> segments_;
    std::size_t size_ = 0;
    std::int64_t begin_;
    std::int64_t cursor_;
};

/// End of the send overhead: when an eager message, or a rendezvous request, leaves the sender.
std::int64_t send_block_end(const MessageTimes& times, const MessageStages& stages) noexcept;

/// Facts of a rendezvous. `completing` is the enter of the call that completed the send (== s0 if blocking);
/// `receiver_in_mpi(t)` and `sender_in_mpi(t)` give the first time at or after t at which that
/// side is inside a communication call.
template <class ReceiverInMpi, class SenderInMpi>
Handshake handshake(const MessageTimes& times, std::int64_t completing, const MessageStages& stages,
                    bool asynchronous_progress, ReceiverInMpi&& receiver_in_mpi, SenderInMpi&& sender_in_mpi) {
    Handshake result;
    const std::int64_t request = send_block_end(times, stages) + stages.L;
    const std::int64_t posted = request > times.r0 ? request : times.r0;
    result.matched = posted;
    if (!asynchronous_progress && posted < times.rw0) {
        const std::int64_t inside = receiver_in_mpi(posted);
        result.matched = inside < times.rw0 ? inside : times.rw0;
    }
    const std::int64_t clear = result.matched + stages.o_control + stages.L;
    result.sender_ready = clear;
    if (clear < completing) {
        const std::int64_t inside = sender_in_mpi(clear);
        result.sender_ready = inside < completing ? inside : completing;
    }
    return result;
}

/// When the payload starts to leave the sender, before any wait for its NIC.
std::int64_t injection(const MessageTimes& times, const MessageStages& stages, const Handshake& handshake) noexcept;

/// Splits one message. `handshake` is used only if stages.rendezvous.
Partition partition(const MessageTimes& times, const MessageStages& stages, const MessageWaits& waits,
                    const Handshake& handshake) noexcept;

}  // namespace logpost::replay
