#pragma once

/// Where each rank's time went: every instant of its wall time gets one category, so the categories add up to the wall
/// time exactly.

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "call_operations.hpp"
#include "message_model.hpp"
#include "trace.hpp"

namespace logpost::analyzer {

/// compute, the message parts (replay::Part + 1), then what is not split yet.
enum Category : std::uint8_t { kCompute = 0, kCollectiveWait = 12, kCollective = 13, kMpiOther = 14 };
inline constexpr std::size_t kCategories = 15;
inline constexpr std::uint8_t category_of(replay::Part part) noexcept {
    return static_cast<std::uint8_t>(part) + 1;
}
inline constexpr std::uint8_t kResidual = category_of(replay::Part::residual);

using Exposed = std::array<std::int64_t, kCategories>;

/// Until when each rank of a collective had to wait, from the recorded enters.
class CollectiveWaits {
  public:
    explicit CollectiveWaits(const Trace& trace);
    /// How long the member waited for others, within [begin, end]; 0 for operations without such a wait.
    [[nodiscard]] std::int64_t wait(const Collective& operation, std::size_t location) const;

    struct Instance {
        std::int64_t latest_begin = INT64_MIN;
        std::int64_t earliest_non_root = INT64_MAX;
        std::int64_t root_begin = INT64_MIN;
    };
    [[nodiscard]] const Instance& instance(std::uint32_t i) const noexcept { return instances_[i]; }
    [[nodiscard]] bool is_root(const Collective& operation, std::size_t location) const;

  private:
    const Trace& trace_;
    std::vector<Instance> instances_;
    std::map<std::uint32_t, std::vector<std::int64_t>> scans_;  // begins by rank, for Scan and Exscan only
};

/// What a callpath of one location cost.
struct CallpathExposure {
    std::int32_t callpath = kUndefined;
    std::uint64_t calls = 0;
    Exposed exposed{};
};

/// Accounts one location, call by call in time order.
class LocationAccount {
  public:
    LocationAccount(const MessageModel& model, const CollectiveWaits& collectives, std::size_t location);

    /// Accounts the next call and returns its exposed time per category.
    const Exposed& next();
    /// Accounts the time after the last call; afterwards the results are complete.
    void finish();

    [[nodiscard]] std::uint32_t position() const noexcept { return call_; }
    [[nodiscard]] bool done() const noexcept { return call_ == trace_.calls.size(); }
    /// Exposed time by window and category.
    [[nodiscard]] const std::vector<Exposed>& windows() const noexcept { return windows_; }
    [[nodiscard]] const std::vector<CallpathExposure>& callpaths() const noexcept { return callpaths_; }

  private:
    /// Overhead of a message other than the one that a call waited for.
    struct Override {
        std::int64_t begin;
        std::int64_t length;
        std::uint8_t category;
        std::uint32_t operation;
    };
    static constexpr MessageId kNoMessage{kUndefined, kNone};

    [[nodiscard]] MessageId message_of(const CallOperation& operation) const noexcept;

    void add(Exposed& exposed, std::uint8_t category, std::int64_t begin, std::int64_t end);
    void add_window(std::uint8_t category, std::int64_t begin, std::int64_t end);
    void account_messages(Exposed& exposed, const Call& call, std::span<const CallOperation> operations);
    void account_collective(Exposed& exposed, const Call& call, std::span<const CallOperation> operations);
    void lay(Exposed& exposed, const replay::Partition* parts, std::int64_t begin, std::int64_t end);
    CallpathExposure& at_callpath(std::int32_t callpath);

    const MessageModel& model_;
    const CollectiveWaits& collectives_;
    std::size_t location_;
    const LocationTrace& trace_;
    CallOperations operations_;
    std::uint32_t call_ = 0;
    std::int64_t cursor_;
    std::int32_t window_ = 0;
    std::int64_t window_end_;
    std::vector<Exposed> windows_;
    std::vector<std::int32_t> slot_of_callpath_;
    std::vector<CallpathExposure> callpaths_;
    std::vector<Override> overrides_;
    Exposed exposed_{};
};

}  // namespace logpost::analyzer
