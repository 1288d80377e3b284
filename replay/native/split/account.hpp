#pragma once

/// Where each rank's time went: every instant of its wall time gets one category, so the categories add up to the wall
/// time exactly.

#include <cstdint>
#include <span>
#include <vector>

#include "replay/native/cost/categories.hpp"
#include "replay/native/program/phases.hpp"
#include "replay/native/program/program.hpp"
#include "replay/native/split/collective_split.hpp"
#include "replay/native/split/message_model.hpp"
#include "replay/native/split/transfer_model.hpp"
#include "replay/native/waits/call_operations.hpp"
#include "replay/native/waits/waits.hpp"

namespace logpost::replay {

/// What a callpath of one location cost in one phase. Computation counts for the call that follows it.
struct CallpathExposure {
    std::int32_t callpath = kUndefined;  // kUndefined: computation after the last call
    Phase phase = Phase::program;
    std::uint64_t calls = 0;  // entered in this phase
    Exposed exposed{};
    Exposed on_path{};                // of `exposed`, the part on the critical path
    Exposed waited{};                 // of `exposed`, the part within waits that the path follows (docs/causes.md)
    CollectiveSums in_collectives{};  // what the category `collective` of `exposed` is divided into
};

/// Time of one category in one window and phase.
struct AccountRow {
    std::int64_t exposed_ps;
    std::int32_t window;
    Phase phase;
    std::uint8_t category;
};

/// One location, accounted: what `LocationAccount` has once it is finished.
struct FoundAccount {
    std::span<const AccountRow> rows;
    std::span<const AccountRow> program_cells;
    std::span<const std::uint64_t> callpaths;  ///< packed
};

/// Accounts one location, call by call in time order.
class LocationAccount {
  public:
    /// `met`: how long it waited in each of its operations. `path`: when the critical path is on this location, in the
    /// order of time. `waits`: of its calls. Both must outlive the account.
    LocationAccount(const MessageModel& model, const TransferModel& transfers, const CollectiveSplit& divided,
                    std::size_t location, std::vector<std::int64_t> met, const PhaseLine& phases,
                    std::span<const Span> path, const WaitEnds& waits);

    /// Accounts the next call and returns its exposed time per category.
    const Exposed& next();
    /// Accounts the time after the last call; afterwards the results are complete.
    void finish();

    [[nodiscard]] std::uint32_t position() const noexcept { return call_; }
    [[nodiscard]] bool done() const noexcept { return call_ == timeline_.calls.size(); }
    /// Exposed time by window, phase and category, in the order of time; no zeros.
    [[nodiscard]] const std::vector<AccountRow>& rows() const noexcept { return rows_; }
    /// The program's exposed time by cell and category; `window` is the number of the cell. None where a window is one.
    [[nodiscard]] std::vector<AccountRow>& program_cells() noexcept { return program_cells_; }
    [[nodiscard]] const std::vector<CallpathExposure>& callpaths() const noexcept { return callpaths_; }

  private:
    /// Work of the processor for another message than the one that a call waited for.
    struct Work {
        std::int64_t begin;
        std::int64_t length;
        std::uint8_t category;
    };
    static constexpr MessageId kNoMessage{kNoLocation, kNone};

    [[nodiscard]] MessageId message_of(const CallOperation& operation) const noexcept;
    [[nodiscard]] std::int64_t sent(const CallOperation& operation, MessageId id) const noexcept;

    void add(Exposed& exposed, std::uint8_t category, std::int64_t begin, std::int64_t end);
    /// Counts time for a callpath; time only moves forward here, too.
    void count(std::int32_t callpath, std::uint8_t category, std::int64_t begin, std::int64_t length);
    /// Time outside of any call.
    void compute_until(std::int64_t end);
    /// Ends the cell of the accounting at hand; the next one begins where its window or phase ends.
    void next_cell();
    void flush_cell();
    void gather_work(const Call& call, std::span<const CallOperation> operations, std::uint32_t primary);
    void account_messages(Exposed& exposed, const Call& call, std::span<const CallOperation> operations);
    void account_collective(Exposed& exposed, const Call& call, std::span<const CallOperation> operations);
    /// What [begin, the call's leave] of a call that is in collectives alone is divided into.
    [[nodiscard]] CollectiveSums divide(const Call& call, std::span<const CallOperation> operations,
                                        std::int64_t begin) const;
    void account_one_sided(Exposed& exposed, const Call& call, std::span<const CallOperation> operations);
    /// Labels a call by its work for other messages, and by the message that it waited for where there is one.
    void lay_call(Exposed& exposed, const Call& call, const Partition* parts);
    void lay(Exposed& exposed, const Partition* parts, std::int64_t begin, std::int64_t end);
    CallpathExposure& at_callpath(std::int32_t callpath);
    [[nodiscard]] std::int64_t end_of_fine_cell() const noexcept;
    void flush_window();

    const MessageModel& model_;
    const TransferModel& transfers_;
    const CollectiveSplit& divided_;
    std::size_t location_;
    std::vector<std::int64_t> met_;
    const Timeline& timeline_;
    CallOperations operations_;
    std::vector<MessageModel::Control> controls_;
    std::uint32_t call_ = 0;
    std::int64_t cursor_;
    const PhaseLine phases_;
    std::span<const Span> path_;  // what of it is not before the cursor
    const WaitEnds& waits_;
    std::size_t wait_ = 0;                                 // of the call at hand, or the next one
    std::int64_t waited_until_ = INT64_MIN;                // in the call at hand
    std::size_t piece_ = 0;                                // of the phases
    CollectivePart inside_ = CollectivePart::not_divided;  // what time of the category `collective` is
    std::int32_t fine_cell_;                               // of time, from the trace's start
    std::int64_t cell_end_;                                // where it or the phase ends
    Exposed cell_{};
    Exposed in_window_{};  // and in the phase, without what `cell_` has
    std::vector<AccountRow> rows_;
    std::vector<AccountRow> program_cells_;
    std::vector<std::int32_t> slot_of_callpath_;
    std::vector<CallpathExposure> callpaths_;
    std::int32_t last_callpath_ = INT32_MIN;  // the last one counted; a callpath is kUndefined or more
    std::size_t last_piece_ = 0;
    std::size_t last_place_ = 0;  // in callpaths_
    std::vector<Work> work_;
    std::size_t control_ = 0;  // the first within the call or after it
    Exposed exposed_{};
};

}  // namespace logpost::replay
