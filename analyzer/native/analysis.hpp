#pragma once

/// From a trace and a machine to the rows of a run's tables, in batches, so that no table is ever whole in memory.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "account.hpp"
#include "message_model.hpp"
#include "trace.hpp"
#include "wait_states.hpp"

namespace logpost::analyzer {

/// Rows of the table `messages`, by column.
struct MessageRows {
    static constexpr std::size_t kIds = 8;     // send_location .. window, see the binding
    static constexpr std::size_t kTimes = 19;  // send_enter .. deficit
    enum Id : std::uint8_t { send_location, recv_location, comm, tag, layout, send_callpath, recv_callpath, window };
    enum Time : std::uint8_t {
        send_enter,
        send_leave,
        send_complete,
        recv_post,
        recv_enter,
        recv_leave,
        envelope,
        first_part,
        deficit = first_part + replay::kParts,
    };
    std::array<std::vector<std::int32_t>, kIds> ids;
    std::vector<std::uint64_t> bytes;
    std::vector<std::uint8_t> rendezvous;
    std::vector<std::uint8_t> locality;
    std::vector<std::uint8_t> clock_violation;
    std::array<std::vector<std::int64_t>, kTimes> times;

    void resize(std::size_t n);
};

/// Rows of the table `calls`, by column.
struct CallRows {
    std::vector<std::int32_t> location, region, callpath;
    std::vector<std::int64_t> enter, leave;
    std::array<std::vector<std::int64_t>, kCategories - 1> exposed;  // without compute

    void resize(std::size_t n);
};

/// Sums over the messages from one location to another.
struct PairSum {
    std::int32_t sender = kUndefined;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::int64_t envelope_ps = 0;
    std::array<std::int64_t, replay::kParts> parts{};
    std::int64_t deficit_ps = 0;
};

class Analysis {
  public:
    /// Both must outlive the analysis.
    Analysis(const Trace& trace, const replay::Parameters& parameters, unsigned threads);

    /// Fills at most about `limit` rows; false when all were given.
    bool next_messages(std::size_t limit, MessageRows& rows);
    /// Fills at most about `limit` rows and accounts their locations; false when all were given.
    bool next_calls(std::size_t limit, CallRows& rows);
    /// Computes every partition without keeping it; the sum of all parts. For measuring the split alone.
    std::int64_t split_only();

    [[nodiscard]] const Trace& trace() const noexcept { return trace_; }
    [[nodiscard]] const MessageModel& model() const noexcept { return model_; }
    [[nodiscard]] unsigned threads() const noexcept { return threads_; }
    [[nodiscard]] const CollectiveWaits& collectives() const noexcept { return collectives_; }
    /// Locations that have an account: ranks, and other locations that communicate.
    [[nodiscard]] const std::vector<std::size_t>& accounted() const noexcept { return accounted_; }

    /// After the last batch of calls, by place in `accounted()`.
    [[nodiscard]] const std::vector<std::vector<Exposed>>& windows() const noexcept { return windows_; }
    [[nodiscard]] const std::vector<std::vector<CallpathExposure>>& callpaths() const noexcept { return callpaths_; }
    /// After the last batch of messages, by receiving location.
    [[nodiscard]] const std::vector<std::vector<PairSum>>& pairs() const noexcept { return pairs_; }

  private:
    struct Slice {
        std::size_t item;  // location, or place in accounted_
        std::uint32_t begin;
        std::uint32_t end;
        std::size_t row;
    };
    void fill_messages(const Slice& slice, MessageRows& rows);

    const Trace& trace_;
    unsigned threads_;
    std::vector<std::size_t> accounted_;
    MessageModel model_;
    CollectiveWaits collectives_;
    std::vector<std::vector<Exposed>> windows_;
    std::vector<std::vector<CallpathExposure>> callpaths_;
    std::vector<std::vector<PairSum>> pairs_;
    std::size_t message_location_ = 0;
    std::uint32_t message_receive_ = 0;
    std::size_t call_item_ = 0;
    std::unique_ptr<LocationAccount> open_;  // the account of a location that a batch did not finish
};

/// The locations that get an account.
std::vector<std::size_t> accounted_locations(const Trace& trace);

}  // namespace logpost::analyzer
