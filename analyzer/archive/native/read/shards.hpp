#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>

#include "analyzer/archive/native/read/read.hpp"
#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

/// An archive that is read as tasks from files to files, on any number of processes and machines.
///
/// A block is a stretch of processes (in the order of the locations that stand for them, with all of their threads) of
/// about as many events as any other. In `folder`, of each block:
///
/// - `decoded-B`: what the reader keeps of its locations, messages within the block paired;
/// - `crossing-B`: sends to other blocks, a segment for each of them;
/// - `matched-B`: pairs of sends of other blocks and receives of this one, a segment for each of them;
/// - `joined-B`: its locations as the analysis has them, which maps the file.
///
/// and once `numbered-0`: the earliest event, call paths, and what collective operations and epochs belong together,
/// with a segment for each block. Each is whole or missing (`segment_file.hpp`).
struct Shards {
    std::filesystem::path folder;
    std::uint32_t blocks = 1;
    std::uint64_t plan = 0;   // of archive, blocks and clock mode: files of another plan are not taken
    std::uint64_t split = 0;  // likewise of these and the machine: files of the stages after joining
    /// Grows while a block is read or written, for a watchdog.
    std::atomic<std::uint64_t>* progress = nullptr;

    /// The block that replays a collective operation.
    [[nodiscard]] std::uint32_t block_of(std::uint32_t instance) const noexcept {
        return instance % std::max(1U, blocks);
    }
    /// Its number among that block's operations.
    [[nodiscard]] std::uint32_t number_in_block(std::uint32_t instance) const noexcept {
        return instance / std::max(1U, blocks);
    }
    /// How many of so many operations belong to a block.
    [[nodiscard]] std::uint32_t count_in_block(std::uint32_t instances, std::uint32_t block) const noexcept {
        return number_in_block(instances) + (block < block_of(instances) ? 1 : 0);
    }
};

/// Decodes a block and pairs the messages within. False: its files are whole already.
bool decode_block(const std::filesystem::path& archive, const Shards& shards, std::uint32_t block,
                  const ReadOptions& options);

/// Pairs what other blocks sent to this one; all blocks are decoded. False: its file is whole already.
bool match_block(const Shards& shards, std::uint32_t block);

/// Numbers what all blocks have in common; all are decoded. False: the file is whole already.
bool number_blocks(const std::filesystem::path& archive, const Shards& shards);

/// Puts a block together; all blocks are matched and numbered. False: its file is whole already.
bool join_block(const std::filesystem::path& archive, const Shards& shards, std::uint32_t block);

/// The trace that `read_archive` would give, from the files of all blocks: its columns are mapped.
///
/// All throw ArchiveError.
/// `checked`: all bytes of columns are read, and found to be whole; else none, until they are needed.
Trace gather(const std::filesystem::path& archive, const Shards& shards, const ReadOptions& options,
             bool checked = true);

}  // namespace logpost::analyzer
