#pragma once

/// Collective operations, replayed as tasks from files to files (docs/scale.md).

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "analyzer/archive/native/read/block_files.hpp"
#include "analyzer/archive/native/read/shards.hpp"
#include "replay/native/program/program.hpp"
#include "replay/native/split/collective_members.hpp"
#include "replay/native/split/collective_split.hpp"
#include "replay/native/split/nic_use.hpp"

namespace logpost::analyzer {

/// Operations are shared out, too: operation i belongs to block i % blocks, whatever locations it has. In the folder of
/// `Shards`, of each block:
///
/// - `members-B`: the parts of its locations in operations, a segment for each block of these;
/// - `met-B`: its operations with all members, in the order of ranks;
/// - `operated-B`: their replay, with two segments for each block of locations: what the operations' messages ask of
///   its NICs, and the replayed parts of each member's time.

bool has_members(const Shards& shards, std::uint32_t block);
/// The locations are joined.
void write_members(const Shards& shards, std::uint32_t block, const std::vector<StoredLocation>& locations);

/// Puts a block's operations together; all blocks are joined. False: its file was whole.
bool meet_block(const std::filesystem::path& archive, const Shards& shards, std::uint32_t block);

/// The kinds of all operations, and their algorithms.
std::vector<replay::CollectiveKind> choose_kinds(const Shards& shards, const replay::Program& program,
                                                 const replay::Parameters& parameters);

/// Replays a block's operations, of chosen kinds, on locations that are placed so. `block_of`: by location.
void operate_block(const std::filesystem::path& archive, const Shards& shards, std::uint32_t block,
                   const replay::Parameters& parameters, const replay::Placement& placement,
                   std::vector<replay::CollectiveKind> kinds, const std::vector<std::uint32_t>& block_of);
bool has_operated(const Shards& shards, std::uint32_t block);
/// What all operations ask of the NICs of a block's locations. `of`: by location, filled for these.
void take_uses(const Shards& shards, std::uint32_t block, std::vector<std::vector<replay::NicUse>>& of);
/// The replays of all operations of a program, of kinds as they were chosen. `block_of`: by location. `files`: keep
/// what they are in.
replay::CollectiveSplit::Replayed replayed_operations(const Shards& shards, const replay::Program& program,
                                                      std::vector<replay::CollectiveKind> kinds,
                                                      const std::vector<std::uint32_t>& block_of,
                                                      std::vector<std::shared_ptr<const void>>& files);
/// Of these the parts of a block's locations alone, whose timelines the program has.
replay::CollectiveSplit::Replayed operations_of_block(const Shards& shards, std::uint32_t block,
                                                      const replay::Program& program,
                                                      const std::vector<std::uint32_t>& block_of,
                                                      std::vector<std::shared_ptr<const void>>& files);

/// All throw ArchiveError.

}  // namespace logpost::analyzer
