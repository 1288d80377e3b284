#pragma once

/// The tables of messages and calls as tasks from files to files (docs/scale.md).

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/archive/native/read/account_blocks.hpp"
#include "analyzer/archive/native/read/block_program.hpp"
#include "analyzer/archive/native/read/chosen_file.hpp"
#include "analyzer/archive/native/read/segment_file.hpp"
#include "analyzer/archive/native/read/shards.hpp"
#include "replay/native/program/call_numbers.hpp"
#include "replay/native/split/call_rows.hpp"
#include "replay/native/split/message_model.hpp"
#include "replay/native/split/message_rows.hpp"

namespace logpost::analyzer {

/// In the folder of `Shards`, `written-B`: the B-th part of the tables of messages and calls, each a Parquet file, and
/// the sums of its messages by sender and receiver. Parts begin where rows of one process have another row group, which
/// depends on the program alone: a part's locations need not be those of a block.

enum class TableOfRows : std::uint8_t { messages, calls };

/// One part of both tables, in batches of one row group each.
class TablePart {
  public:
    /// All blocks are accounted (`tables_are_written`). Null: its file was whole.
    /// `message_rows`: of a row group. Throws ArchiveError.
    static std::unique_ptr<TablePart> begin(const Shards& shards, std::uint32_t part, std::size_t message_rows);

    [[nodiscard]] bool has_rows() const noexcept { return range_.batches > 0 || !range_.blocks.empty(); }
    /// False when all were given.
    bool next_messages(replay::MessageRows& rows);
    /// At most `limit` rows; likewise.
    bool next_calls(std::size_t limit, replay::CallRows& rows);
    /// Writes the file: the tables, and before each what its reader needs to have for all of its rows. Throws
    /// ArchiveError.
    struct Table {
        std::string_view said;
        std::string_view rows;
    };
    void finish(const Table& messages, const Table& calls) const;

  private:
    /// Which rows are the part's.
    struct Range {
        std::vector<std::size_t> locations;  ///< of its messages and calls, ascending
        replay::Location first{};            ///< of the first message
        std::uint64_t skipped = 0;           ///< messages to it that are of the part before
        std::size_t batches = 0;             ///< of messages
        std::vector<std::size_t> accounted;  ///< of the whole program
        replay::CallNumbers numbers;
        std::vector<replay::CallBlock> blocks;
    };
    static Range range(const Shards& shards, std::uint32_t part, std::size_t locations, std::size_t message_rows);

    TablePart(const Shards& shards, std::uint32_t part, std::size_t message_rows, const SegmentReader& chosen,
              Outline outline, Range range);

    Shards shards_;
    std::uint32_t part_;
    std::size_t message_rows_;
    Range range_;
    BlockProgram program_;
    replay::MessageModel::Replayed found_;
    replay::MessageModel model_;
    replay::MessageTable messages_;
    std::vector<std::shared_ptr<const void>> account_files_;
    std::vector<std::span<const std::uint64_t>> calls_;  // by location: packed exposed times
    std::size_t block_ = 0;                              // of range_.blocks, the next
};

/// A table of a part where it is mapped.
struct WrittenTable {
    std::string said;
    std::span<const char> rows;
    std::shared_ptr<const void> file;  ///< keeps it there
};
/// Throws ArchiveError.
WrittenTable written_table(const Shards& shards, std::uint32_t part, TableOfRows table);

/// Whether the tables are written in parts; the machine is chosen. Throws ArchiveError.
bool tables_are_written(const Shards& shards);

/// The sums of all parts' messages, by receiving location. Throws ArchiveError.
std::vector<std::vector<replay::PairSum>> found_pairs(const Shards& shards, std::size_t locations);

}  // namespace logpost::analyzer
