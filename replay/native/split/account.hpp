#pragma once

/// Where each rank's time went: every instant of its wall time gets one category, so the categories add up to the wall
/// time exactly.

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "replay/native/phases.hpp"
#include "replay/native/program.hpp"
#include "replay/native/split/call_operations.hpp"
#include "replay/native/split/message_model.hpp"

namespace logpost::replay {

/// compute, the message parts (Part + 1), then what is not split yet.
enum Category : std::uint8_t { kCompute = 0, kCollectiveWait = 12, kCollective = 13, kMpiOther = 14 };
inline constexpr std::size_t kCategories = 15;

/// Names of the categories, in their order: the one place that the tables have them from.
inline constexpr std::array<std::string_view, kCategories> kCategoryNames = [] {
    std::array<std::string_view, kCategories> names{};
    names[kCompute] = "compute";
    std::copy(std::begin(kPartNames), std::end(kPartNames), names.begin() + 1);
    names[kCollectiveWait] = "collective_wait";
    names[kCollective] = "collective";
    names[kMpiOther] = "mpi_other";
    return names;
}();
inline constexpr std::uint8_t category_of(Part part) noexcept {
    return static_cast<std::uint8_t>(part) + 1;
}
inline constexpr std::uint8_t kResidual = category_of(Part::residual);

using Exposed = std::array<std::int64_t, kCategories>;

/// Until when each rank of a collective had to wait, from the recorded enters.
class CollectiveWaits {
  public:
    explicit CollectiveWaits(const Program& program);
    /// How long the member waited for others, within [begin, end]; 0 for operations without such a wait.
    [[nodiscard]] std::int64_t wait(const Collective& operation, std::size_t location) const;
    /// Members whose operation ended before another, whom they had to wait for, began it: the clocks disagree.
    [[nodiscard]] std::uint64_t early_ends() const;

    /// When a member entered, and by which call of which location.
    struct Member {
        std::int64_t begin = INT64_MIN;
        std::int32_t location = kUndefined;
        std::uint32_t call = kNone;
    };
    /// The last one that a member needed; without location where it needed nobody, or nobody known.
    [[nodiscard]] Member needed(const Collective& operation, std::size_t location) const;

    struct Instance {
        Member latest;
        Member root;
        std::int64_t earliest_non_root = INT64_MAX;
        std::int64_t earliest_end = INT64_MAX;
        /// Whether all were in it at one time.
        [[nodiscard]] bool met() const noexcept { return latest.begin <= earliest_end; }
    };
    [[nodiscard]] const Instance& instance(std::uint32_t i) const noexcept { return instances_[i]; }
    [[nodiscard]] bool is_root(const Collective& operation, std::size_t location) const;

  private:
    /// When the last of those whom the member waits for began.
    [[nodiscard]] std::int64_t until(const Collective& operation, std::size_t location) const;
    [[nodiscard]] std::size_t rank_of(const Collective& operation, std::size_t location) const;

    const Program& program_;
    std::vector<Instance> instances_;
    std::map<std::uint32_t, std::vector<Member>> scans_;  // the latest up to each rank, for Scan and Exscan only
};

/// What a callpath of one location cost in one phase. Computation counts for the call that follows it.
struct CallpathExposure {
    std::int32_t callpath = kUndefined;  // kUndefined: computation after the last call
    Phase phase = Phase::program;
    std::uint64_t calls = 0;  // entered in this phase
    Exposed exposed{};
    Exposed on_path{};  // of `exposed`, what lies on the critical path
};

/// Time of one category in one window and phase.
struct AccountRow {
    std::int64_t exposed_ps;
    std::int32_t window;
    Phase phase;
    std::uint8_t category;
};

/// Accounts one location, call by call in time order.
class LocationAccount {
  public:
    /// `path`: when the critical path is on this location, in the order of time; must outlive the account.
    LocationAccount(const MessageModel& model, const CollectiveWaits& collectives, std::size_t location,
                    const PhaseLine& phases, std::span<const Span> path);

    /// Accounts the next call and returns its exposed time per category.
    const Exposed& next();
    /// Accounts the time after the last call; afterwards the results are complete.
    void finish();

    [[nodiscard]] std::uint32_t position() const noexcept { return call_; }
    [[nodiscard]] bool done() const noexcept { return call_ == timeline_.calls.size(); }
    /// Exposed time by window, phase and category, in the order of time; no zeros.
    [[nodiscard]] const std::vector<AccountRow>& rows() const noexcept { return rows_; }
    [[nodiscard]] const std::vector<CallpathExposure>& callpaths() const noexcept { return callpaths_; }

  private:
    /// Work of the processor for another message than the one that a call waited for.
    struct Work {
        std::int64_t begin;
        std::int64_t length;
        std::uint8_t category;
    };
    static constexpr MessageId kNoMessage{kUndefined, kNone};

    [[nodiscard]] MessageId message_of(const CallOperation& operation) const noexcept;
    [[nodiscard]] std::int64_t sent(const CallOperation& operation, MessageId id) const noexcept;

    void add(Exposed& exposed, std::uint8_t category, std::int64_t begin, std::int64_t end);
    /// Counts time for a callpath; time only goes forward here, too.
    void count(std::int32_t callpath, std::uint8_t category, std::int64_t begin, std::int64_t length);
    /// Time outside of any call.
    void compute_until(std::int64_t end);
    /// Ends the cell of the accounting at hand; the next one begins where its window or phase ends.
    void next_cell();
    void flush_cell();
    void gather_work(const Call& call, std::span<const CallOperation> operations, std::uint32_t primary);
    void account_messages(Exposed& exposed, const Call& call, std::span<const CallOperation> operations);
    void account_collective(Exposed& exposed, const Call& call, std::span<const CallOperation> operations);
    void lay(Exposed& exposed, const Partition* parts, std::int64_t begin, std::int64_t end);
    CallpathExposure& at_callpath(std::int32_t callpath);
    [[nodiscard]] std::int64_t end_of_window() const noexcept;

    const MessageModel& model_;
    const CollectiveWaits& collectives_;
    std::size_t location_;
    const Timeline& timeline_;
    CallOperations operations_;
    std::vector<MessageModel::Control> controls_;
    std::uint32_t call_ = 0;
    std::int64_t cursor_;
    const PhaseLine phases_;
    std::span<const Span> path_;  // what of it does not lie before the cursor
    std::size_t piece_ = 0;       // of the phases
    std::int32_t window_;
    std::int64_t cell_end_;
    Exposed cell_{};
    std::vector<AccountRow> rows_;
    std::vector<std::int32_t> slot_of_callpath_;
    std::vector<CallpathExposure> callpaths_;
    std::vector<Work> work_;
    std::size_t control_ = 0;  // the first that lies in the call or after it
    Exposed exposed_{};
};

}  // namespace logpost::replay
