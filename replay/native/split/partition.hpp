#pragma once

/// A message as a labelled partition of its measured time (docs/split.md).
///
/// Durations are lengths of segments that follow each other without gap from the envelope's begin to its end, so the
/// parts are never negative and add up to the envelope exactly, whatever the model says.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "replay/native/cost/cost.hpp"
#include "replay/native/cost/part.hpp"
#include "replay/native/program/message_times.hpp"

namespace logpost::replay {

/// What the deterministic replays and the recorded facts say of one message; picoseconds.
struct MessageWaits {
    std::int64_t send_endpoint = 0;  ///< FIFO wait at the sending NIC
    std::int64_t recv_endpoint = 0;  ///< FIFO wait at the receiving NIC
    std::int64_t cpu_queue = 0;      ///< FIFO wait for the receiver's processor
    std::int64_t network = 0;        ///< C_n
    std::int64_t receiver_busy = 0;  ///< overhead of other messages on the receiver between arrival and posting
    std::int64_t held_until = 0;     ///< when the completing call has served all else, less this message's own service
    std::int64_t begun = 0;          ///< its send call starts other messages before it: the time for that
    std::int64_t sender_from = 0;  ///< a reply: from when on its request, awaited by the receiver, waited at the sender
    std::int64_t sender_busy = 0;  ///< since then, until the reply: overhead of other messages on the sender
};

/// When the two sides of a rendezvous could take part in it; absolute picoseconds.
struct Handshake {
    std::int64_t matched = 0;       ///< request arrived, receive posted, receiver able to answer
    std::int64_t sender_ready = 0;  ///< clear-to-send arrived and the sender inside MPI
};

/// Not initialized: a partition has room for 26, and most use six.
struct Segment {
    std::int64_t begin;
    std::int64_t end;
    Part part;
};

class Partition {
  public:
    static constexpr std::size_t kMaxSegments = 26;

    explicit Partition(std::int64_t begin) noexcept : begin_(begin), cursor_(begin) {
        segments_[0] = {.begin = begin, .end = begin, .part = kNoPart};
    }

    /// Appends `duration` of `part`, nothing where that is not positive; joins it to the last segment where that has
    /// the same part. Without a branch: which parts a message has differs from one to the next.
    [[gnu::always_inline]] void place(Part part, std::int64_t duration) noexcept {
        const bool some = duration > 0;
        const bool joined = !some || segments_[size_].part == part;
        size_ += joined ? 0 : 1;
        auto& last = segments_[size_];
        last.part = some ? part : last.part;
        last.begin = joined ? last.begin : cursor_;
        cursor_ += some ? duration : 0;
        last.end = cursor_;
    }

    [[nodiscard]] std::int64_t begin() const noexcept { return begin_; }
    [[nodiscard]] std::int64_t cursor() const noexcept { return cursor_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] const Segment& operator[](std::size_t i) const noexcept { return segments_[i + 1]; }
    [[nodiscard]] const Segment* begin_segment() const noexcept { return segments_.data() + 1; }
    [[nodiscard]] const Segment* end_segment() const noexcept { return begin_segment() + size_; }
    [[nodiscard]] std::array<std::int64_t, kParts> totals() const noexcept;

    std::int64_t deficit_ps = 0;        ///< how much more the model wanted than was measured
    std::int64_t planned_arrival = 0;   ///< when the model has the message at the receiver
    std::int64_t recv_overhead_ps = 0;  ///< granted at the end of the envelope

  private:
    static constexpr Part kNoPart{kParts};

    std::array<Segment, 1 + kMaxSegments> segments_;  // the first is none: what the first part placed may not join
    std::size_t size_ = 0;
    std::int64_t begin_;
    std::int64_t cursor_;
};

/// End of the send overhead: when an eager message, or a rendezvous request, leaves the sender. `begun`: see
/// MessageWaits.
std::int64_t send_block_end(const MessageTimes& times, const MessageStages& stages, std::int64_t begun = 0) noexcept;

/// When the receiver can answer a rendezvous' request: it is there, the receive is posted, and the receiver is inside a
/// call that makes progress. `receiver_attends(t)` gives the first such time at or after t; with asynchronous progress
/// the NIC sends the CTS.
template <class ReceiverAttends>
std::int64_t request_ready(const MessageTimes& times, std::int64_t request, bool asynchronous_progress,
                           ReceiverAttends&& receiver_attends) {
    const std::int64_t posted = request > times.r0 ? request : times.r0;
    if (asynchronous_progress || posted >= times.rw0) {
        return posted;
    }
    const std::int64_t attends = receiver_attends(posted);
    return attends < times.rw0 ? attends : times.rw0;
}

/// When the sender can answer the clear-to-send that is there at `clear`. `completing` is the enter of the call that
/// completed the send (== s0 if blocking).
template <class SenderAttends>
std::int64_t clear_ready(std::int64_t clear, std::int64_t completing, bool asynchronous_progress,
                         SenderAttends&& sender_attends) {
    if (asynchronous_progress || clear >= completing) {
        return clear;
    }
    const std::int64_t attends = sender_attends(clear);
    return attends < completing ? attends : completing;
}

/// Facts of a rendezvous whose processors have nothing else to do.
template <class ReceiverAttends, class SenderAttends>
Handshake handshake(const MessageTimes& times, std::int64_t completing, const MessageStages& stages,
                    bool asynchronous_progress, ReceiverAttends&& receiver_attends, SenderAttends&& sender_attends) {
    const std::int64_t request = send_block_end(times, stages) + stages.L_control;
    const std::int64_t matched = request_ready(times, request, asynchronous_progress, receiver_attends);
    const std::int64_t clear = matched + stages.o_control + stages.L_control;
    return {.matched = matched, .sender_ready = clear_ready(clear, completing, asynchronous_progress, sender_attends)};
}

/// When the payload starts to leave the sender, before any wait for its NIC.
std::int64_t injection(const MessageTimes& times, const MessageStages& stages, const Handshake& handshake,
                       std::int64_t begun = 0) noexcept;

/// Splits one message. `handshake` is used only if stages.rendezvous.
Partition partition(const MessageTimes& times, const MessageStages& stages, const MessageWaits& waits,
                    const Handshake& handshake) noexcept;

}  // namespace logpost::replay
