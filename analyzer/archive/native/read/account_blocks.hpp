#pragma once

/// Waits and accounts as tasks from files to files (docs/scale.md).

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "analyzer/archive/native/read/chosen_file.hpp"
#include "analyzer/archive/native/read/segment_file.hpp"
#include "analyzer/archive/native/read/shards.hpp"
#include "analyzer/archive/native/trace/trace.hpp"
#include "replay/native/split/account.hpp"
#include "replay/native/waits/causes.hpp"

namespace logpost::analyzer {

/// In the folder of `Shards`: once `waited-0`, with the critical path, delay costs and wait states, and a segment for
/// each block of what its accounts need of these; and of each block `accounted-B`, with the account of each location.
/// Where accounts depend on all blocks (`Outline::accounted`), there is `waited-0` alone.

/// Finds the causes of waits in all blocks, which are joined. False: its file was whole.
bool wait_blocks(const std::filesystem::path& archive, const Shards& shards);

/// What was found of a trace that was gathered; null: its times are not those of the blocks.
std::shared_ptr<replay::Causes> found_causes(const Trace& trace, const Shards& shards);

/// How many rows a location has in the tables of calls and messages.
struct RowCounts {
    replay::Location location = replay::kNoLocation;
    std::uint32_t calls = replay::kNone;  ///< kNone: it has no account
    std::uint32_t messages = 0;           ///< that it receives
};
/// By location; all blocks are accounted.
std::vector<RowCounts> row_counts(const Shards& shards, std::size_t locations);

/// Accounts a block's calls; the queues of all are replayed. False: its file was whole.
bool account_block(const Shards& shards, std::uint32_t block);

/// The file of a block.
std::filesystem::path accounted_file(const Shards& shards, std::uint32_t block);

/// The packed exposed times of a location's calls. `accounted`: the file of its block, mapped; `segment`: of the
/// location there (`Outline::segment_of`).
std::span<const std::uint64_t> found_calls(const SegmentReader& accounted, std::uint32_t segment);

/// The accounts of all locations of a trace that was gathered. `files`: keep what they are in.
std::vector<replay::FoundAccount> found_accounts(const Shards& shards, const Outline& outline, const Trace& trace,
                                                 std::vector<std::shared_ptr<const void>>& files);

/// All throw ArchiveError.

}  // namespace logpost::analyzer
