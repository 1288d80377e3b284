#pragma once

/// Rows of the table `messages`, in batches.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/native/program/call_numbers.hpp"
#include "replay/native/split/message_model.hpp"

namespace logpost::replay {

/// Rows of the table `messages`, by column.
struct MessageRows {
    static constexpr std::size_t kIds = 15;    // send_location .. recv_number, see the binding
    static constexpr std::size_t kTimes = 20;  // send_enter .. clamped
    enum Id : std::uint8_t {
        send_location,
        recv_location,
        comm,
        tag,
        layout,
        send_callpath,
        recv_callpath,
        window,
        send_call,
        send_complete_call,
        recv_post_call,
        recv_call,
        hops,
        send_number,
        recv_number,
    };
    enum Time : std::uint8_t {
        send_enter,
        send_leave,
        send_complete,
        recv_post,
        recv_enter,
        recv_leave,
        envelope,
        first_part,
        deficit = first_part + kParts,
        clamped,
    };
    std::array<std::vector<std::int32_t>, kIds> ids;
    std::vector<std::uint64_t> bytes;
    std::vector<std::uint64_t> recv_bytes;
    std::vector<std::uint8_t> rendezvous;
    std::vector<std::uint8_t> locality;
    std::vector<std::uint8_t> clock_violation;
    std::array<std::vector<std::int64_t>, kTimes> times;

    void resize(std::size_t n);
};

/// Sums over the messages from one location to another.
struct PairSum {
    Location sender = kNoLocation;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::int64_t envelope_ps = 0;
    std::array<std::int64_t, kParts> parts{};
    std::int64_t deficit_ps = 0;
};

/// Gives the matched messages of a program, by receiving location and receive, and sums them up by sender and receiver.
class MessageTable {
  public:
    /// Begins at a receive. Model and numbers must outlive it.
    MessageTable(const MessageModel& model, const CallNumbers& numbers, MessageId begin = {Location{0}, 0});

    /// Fills at most about `limit` rows; false when all were given. `given(location)`: all of its messages were.
    template <class Given>
    bool next(std::size_t limit, unsigned threads, MessageRows& rows, Given given) {
        const auto slices = next_slices(limit);
        if (slices.empty()) {
            return false;
        }
        fill(slices, threads, rows);
        for (const auto& slice : slices) {
            if (slice.end == model_.program().timelines[slice.location].receives.size()) {
                given(slice.location);
            }
        }
        return true;
    }
    /// Of the messages that were given, by receiving location.
    [[nodiscard]] const std::vector<std::vector<PairSum>>& pairs() const noexcept { return pairs_; }

  private:
    struct Slice {
        std::size_t location;
        std::uint32_t begin;
        std::uint32_t end;
        std::size_t row;
    };
    /// Empty: no message is left.
    std::vector<Slice> next_slices(std::size_t limit);
    void fill(const std::vector<Slice>& slices, unsigned threads, MessageRows& rows);
    /// `slot`: scratch for one slice after the other, kUndefined everywhere between them.
    void fill(const Slice& slice, MessageRows& rows, std::vector<std::int32_t>& slot);

    const MessageModel& model_;
    const CallNumbers& numbers_;
    std::vector<std::vector<PairSum>> pairs_;
    std::size_t location_;
    std::uint32_t receive_;
    std::size_t rows_ = 0;  // of the batch that `next_slices` has found
};

/// Adds the sums of further messages to those of the ones before them, both by sender in the order of first messages.
void add_pairs(std::vector<PairSum>& sums, const std::vector<PairSum>& further);

}  // namespace logpost::replay
