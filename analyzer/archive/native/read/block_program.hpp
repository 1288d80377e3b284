#pragma once

/// A part of a program, from the files of its blocks, for tasks of one block.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "analyzer/archive/native/read/chosen_file.hpp"
#include "analyzer/archive/native/read/segment_file.hpp"
#include "analyzer/archive/native/read/shards.hpp"
#include "replay/native/program/program.hpp"
#include "replay/native/split/message_model.hpp"

namespace logpost::analyzer {

/// A block's locations, and those of other blocks that its messages lead to.
class BlockProgram {
  public:
    /// `shards` must outlive it. Throws ArchiveError.
    BlockProgram(const Shards& shards, std::uint32_t block, const SegmentReader& chosen, Outline outline);
    /// Of some locations, whatever their blocks, and those that send them messages; for tables. Throws ArchiveError.
    BlockProgram(const Shards& shards, const SegmentReader& chosen, Outline outline,
                 std::vector<std::size_t> locations);

    /// Its messages, to be replayed. May be called once. Throws ArchiveError.
    [[nodiscard]] replay::MessageModel model(bool asynchronous_progress);
    [[nodiscard]] const replay::Program& program() const noexcept { return program_; }
    /// How many call paths the program has, of which nothing else is known here.
    void set_callpaths(std::size_t count) { program_.callers.resize(count, replay::kUndefined); }
    [[nodiscard]] const Setting& setting() const noexcept { return setting_; }
    [[nodiscard]] const Outline& outline() const noexcept { return outline_; }
    /// The block's.
    [[nodiscard]] const std::vector<std::size_t>& locations() const noexcept { return locations_; }
    [[nodiscard]] std::uint32_t block_of(replay::Location location) const noexcept {
        return outline_.block_of[replay::index(location)];
    }

  private:
    enum class Partners : std::uint8_t { receivers, senders, both };

    BlockProgram(const Shards& shards, const SegmentReader& chosen, Outline outline);
    void map(std::size_t location);
    std::vector<std::size_t> map_partners(const std::vector<std::size_t>& of, Partners which);
    /// The partners of its partners, too: their receives decide what else its partners' calls work for.
    void map_further() { map_partners(partners_, Partners::receivers); }
    /// These where data has gaps: what its copy costs depends on what its receiver sends back.
    void map_shapes();

    const Shards& shards_;
    std::uint32_t block_ = 0;
    Outline outline_;
    Setting setting_;
    std::vector<std::size_t> locations_;
    std::vector<std::size_t> partners_;               // of the messages of these
    std::vector<std::vector<std::size_t>> nics_;      // of these
    std::unique_ptr<SegmentReader> joined_;           // of the block whose location was mapped last
    std::uint32_t open_ = 0;                          // that block
    std::vector<std::shared_ptr<const void>> files_;  // mapped
    std::vector<std::uint8_t> known_;                 // by location: mapped
    replay::Program program_;
};

}  // namespace logpost::analyzer
