#pragma once

/// From a program and a machine to the rows of a run's tables, in batches, so that no table is ever whole in memory.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "replay/native/memory/arena.hpp"
#include "replay/native/program/accounted.hpp"
#include "replay/native/program/call_numbers.hpp"
#include "replay/native/program/phases.hpp"
#include "replay/native/program/program.hpp"
#include "replay/native/split/account.hpp"
#include "replay/native/split/call_rows.hpp"
#include "replay/native/split/message_model.hpp"
#include "replay/native/split/message_rows.hpp"
#include "replay/native/split/time_cells.hpp"
#include "replay/native/split/transfer_model.hpp"
#include "replay/native/waits/causes.hpp"
#include "replay/native/waits/wait_states.hpp"

namespace logpost::replay {

/// Rows of the table `transfers`, by column.
struct TransferRows {
    static constexpr std::size_t kIds = 14;                                // location .. target_layout, see the binding
    static constexpr std::size_t kTimes = 6 + kTransferCategories.size();  // start .. deficit
    enum Id : std::uint8_t {
        location,
        target,
        rma_window,
        number,
        callpath,
        complete_callpath,
        window,
        call,
        complete_call,
        remote_call,
        hops,
        epoch,
        layout,
        target_layout,
    };
    enum Time : std::uint8_t {
        start,
        start_leave,
        complete_enter,
        complete_leave,
        envelope,
        first_part,
        deficit = first_part + kTransferCategories.size(),
    };
    std::array<std::vector<std::int32_t>, kIds> ids;
    std::vector<std::uint64_t> bytes;
    std::vector<std::uint8_t> kind;
    std::vector<std::uint8_t> locality;
    std::array<std::vector<std::int64_t>, kTimes> times;

    void resize(std::size_t n);
};

/// Windows for the tables of a program, and cells for timelines.
Windows windows_of(const Program& program);

/// A program's messages and collective operations, replayed elsewhere.
struct ReplayedBlocks {
    MessageModel::Replayed messages;
    CollectiveSplit::Replayed operations;
    std::vector<FoundAccount> accounts;       // by location; empty: neither accounted, nor are rows written
    std::vector<std::vector<PairSum>> pairs;  // by receiving location; likewise
    std::vector<std::shared_ptr<const void>> account_files;  // that the accounts are in
};

class Analysis {
  public:
    /// Replays every message. `interest` is the region of interest by location; empty: the whole program. Program and
    /// parameters must outlive the analysis.
    Analysis(const Program& program, const Parameters& parameters, std::vector<Span> interest, unsigned threads);
    /// Likewise, with the region of interest and the causes of waits from `causes`, which several analyses may share.
    /// `replayed`: what blocks of the program found of their messages, for these parameters; null: nothing.
    Analysis(const Program& program, const Parameters& parameters, unsigned threads, std::shared_ptr<Causes> causes,
             std::shared_ptr<const ReplayedBlocks> replayed = nullptr);
    Analysis(const Analysis&) = delete;
    Analysis& operator=(const Analysis&) = delete;
    ~Analysis() = default;

    /// Fills at most about `limit` rows; false when all were given, or written elsewhere.
    bool next_messages(std::size_t limit, MessageRows& rows);
    /// Calls are accounted in blocks of whole locations, which depend on each other in nothing: several threads may ask
    /// at once, each for another block.
    [[nodiscard]] std::size_t call_blocks() const noexcept { return call_blocks_.size(); }
    /// Fills at most `limit` rows of a block and accounts their locations; false when all of the block were given.
    bool next_calls(std::size_t block, std::size_t limit, CallRows& rows);
    /// Fills at most about `limit` rows; false when all were given.
    bool next_transfers(std::size_t limit, TransferRows& rows);
    /// Accounts all messages and calls whose rows were not requested yet, and frees what rows are made from. From then
    /// on only the sums over them are available.
    void forget_messages();
    /// Computes every partition without keeping it; the sum of all parts. For measuring the split alone.
    std::int64_t split_only();

    [[nodiscard]] const Program& program() const noexcept { return program_; }
    [[nodiscard]] const MessageModel& model() const noexcept { return model_; }
    [[nodiscard]] unsigned threads() const noexcept { return threads_; }
    [[nodiscard]] const CollectiveWaits& collectives() const noexcept { return causes_->collectives(); }
    /// The critical path of the recorded execution. Computed at the first request; any thread may call it.
    const std::vector<PathStretch>& path() { return causes_->path(); }
    /// Wait states by location, of calls entered in the region of interest, or at any time where none was given.
    /// Likewise.
    const std::vector<WaitTotals>& wait_states() { return causes_->wait_states(); }
    /// What makes others wait in the region of interest. Likewise, also concurrently with `next_calls` and
    /// `next_messages`.
    const std::vector<DelayCost>& delays() { return causes_->delays(); }
    /// What collective operations are divided into.
    [[nodiscard]] const CollectiveSplit& divided() const noexcept { return collective_split_; }
    [[nodiscard]] const TransferModel& transfers() const noexcept { return transfers_; }
    /// Locations that have an account: ranks, and other locations that communicate.
    [[nodiscard]] const std::vector<std::size_t>& accounted() const noexcept { return accounted_; }
    /// The region of interest on a location: what of its program the user looks at.
    [[nodiscard]] Span interest(std::size_t location) const noexcept { return causes_->interest(location); }
    /// The number of a location's call in the whole run; kUndefined for kNone.
    [[nodiscard]] std::int32_t call_id(std::size_t location, std::uint32_t call) const noexcept {
        return numbers_.of(location, call);
    }

    /// By place in `accounted()`. Accounts the calls whose rows were not requested yet.
    const std::vector<std::span<const AccountRow>>& accounts();
    /// Of one place in `accounted()`; likewise.
    std::vector<CallpathExposure> callpaths(std::size_t item);
    /// The accounts of the program in finer cells than windows; likewise.
    TimeCellRows time_cells();
    /// By receiving location. Splits the messages whose rows were not requested yet.
    const std::vector<std::vector<PairSum>>& pairs();

  private:
    /// Whether the rows of messages and calls were written elsewhere.
    [[nodiscard]] bool is_written() const noexcept { return !found_accounts_.empty(); }
    void open_account(CallBlock& block) const;
    void close_account(CallBlock& block);
    void fill_transfer(std::size_t location, std::uint32_t transfer, std::size_t row, TransferRows& rows) const;

    const Program& program_;
    unsigned threads_;
    std::vector<std::size_t> accounted_;
    std::shared_ptr<Causes> causes_;
    CollectiveSplit collective_split_;
    std::shared_ptr<const ReplayedBlocks> replayed_;
    MessageModel model_;
    TransferModel transfers_;
    CallNumbers numbers_;
    MessageTable messages_;
    Arena account_memory_;
    std::vector<std::span<const AccountRow>> accounts_;
    std::vector<std::span<const std::uint64_t>> callpaths_;  // packed
    std::vector<FoundAccount> found_accounts_;               // by location; empty: each is accounted here
    std::vector<std::shared_ptr<const void>> account_files_;
    TimeCells time_cells_;
    std::vector<std::vector<PairSum>> found_pairs_;  // where rows of messages were written elsewhere
    std::size_t transfer_location_ = 0;
    std::uint32_t transfer_ = 0;
    std::vector<CallBlock> call_blocks_;
};

}  // namespace logpost::replay
