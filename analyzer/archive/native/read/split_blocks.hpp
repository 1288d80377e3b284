#pragma once

/// The queues of messages, replayed as tasks from files to files (docs/scale.md).

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "analyzer/archive/native/read/block_files.hpp"
#include "analyzer/archive/native/read/chosen_file.hpp"
#include "analyzer/archive/native/read/segment_file.hpp"
#include "analyzer/archive/native/read/shards.hpp"
#include "analyzer/archive/native/trace/trace.hpp"
#include "replay/native/cost/parameters.hpp"
#include "replay/native/split/analysis.hpp"
#include "replay/native/split/message_model.hpp"

namespace logpost::analyzer {

/// In the folder of `Shards`, once `chosen-0`: the machine, the placement, the kinds of collective operations, and of
/// each block its NICs. Of each block, of round 1 and, where handshakes wait for processors, of further ones:
///
/// - `left1-B`: waits for sending NICs of messages to other blocks, a segment for each of them;
/// - `replied1-B`: waits of handshakes for the block's processors, likewise;
///
/// and `split-B`: what the analysis needs of each message and location, which maps the file. Where blocks share NICs,
/// there is `chosen-0` alone.

/// Whether `chosen-0` is whole.
bool is_chosen(const Shards& shards);

/// The trace of all blocks for `choose_split`: of columns, what is not needed is not read.
Trace map_blocks(const std::filesystem::path& archive, const Shards& shards);

/// Writes down what the replays of all blocks need; all blocks are joined. `machine`: the chosen one, for
/// `chosen_machine`.
void choose_split(const Trace& trace, const replay::Parameters& parameters, const std::string& machine,
                  const Shards& shards);

/// The machine as `choose_split` was given it.
std::string chosen_machine(const Shards& shards);

/// Replays a block's collective operations. False: its file was whole.
bool operate_block(const std::filesystem::path& archive, const Shards& shards, std::uint32_t block);

/// Replays a block's sending NICs. False: its file was whole.
bool leave_block(const Shards& shards, int round, std::uint32_t block);

/// Replays a block's receiving NICs and processors; all have left. False: its files were whole.
bool reply_block(const Shards& shards, int round, std::uint32_t block);

/// What blocks found of the messages to the locations of a part of a program whose timelines are there. `columns`:
/// keeps what they are in, if anything does but `files`.
replay::MessageModel::Replayed found_messages(const Shards& shards, const SegmentReader& chosen, const Outline& outline,
                                              const replay::Program& program, MappedColumns* columns);

/// What blocks found of the messages, operations and accounts of a trace that was gathered; null: they share NICs, and
/// replayed nothing.
///
/// All throw ArchiveError.
std::shared_ptr<replay::ReplayedBlocks> replayed_blocks(const Trace& trace, const Shards& shards);

}  // namespace logpost::analyzer
