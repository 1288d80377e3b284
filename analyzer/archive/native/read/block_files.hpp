#pragma once

/// What the tasks of an archive hand on to each other, and how files of blocks have it.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyzer/archive/native/read/range.hpp"
#include "analyzer/archive/native/read/segment_file.hpp"
#include "analyzer/archive/native/read/shards.hpp"
#include "analyzer/archive/native/trace/callpaths.hpp"
#include "analyzer/archive/native/trace/error.hpp"
#include "analyzer/archive/native/trace/quality.hpp"
#include "analyzer/archive/native/trace/trace.hpp"
#include "replay/native/memory/spill.hpp"

namespace logpost::analyzer {

/// The file of a block.
inline std::filesystem::path file_of(const Shards& shards, const char* kind, std::uint32_t block) {
    return shards.folder / (std::string(kind) + "-" + std::to_string(block));
}
/// What errors call it.
inline std::string name_of(std::uint32_t block, const Shards& shards) {
    return "block " + std::to_string(block) + " of " + std::to_string(shards.blocks);
}

inline constexpr std::size_t kCommon = 0;      ///< segments of `decoded-B`
inline constexpr std::size_t kOperations = 1;  ///
inline constexpr std::size_t kLocations = 2;   ///< the first of a location
inline constexpr std::size_t kWhole = 0;       ///< segments of `numbered-0`
inline constexpr std::size_t kOfBlocks = 1;    ///< the first of a block
inline constexpr std::size_t kReceived = 0;    ///< segments of `matched-B`
inline constexpr std::size_t kFromBlocks = 1;  ///< the first of pairs with sends of a block

/// What the columns of a trace are in that others have read: mapped files, and beyond a quarter of the limit of memory
/// the file of what exceeds it, which alone can be released.
class MappedColumns {
  public:
    explicit MappedColumns(std::shared_ptr<replay::Spill> spill) : spill_(std::move(spill)) {}

    /// The bytes of a mapped segment, where they stay. Any thread may call it.
    std::span<const char> keep(std::span<const char> mapped) {
        const auto before = bytes_.fetch_add(mapped.size(), std::memory_order_relaxed);
        if (!spill_ || before + mapped.size() <= spill_->limit_bytes() / 4) {
            return mapped;
        }
        const auto* const stored = spill_->store({{const_cast<char*>(mapped.data()), mapped.size()}});
        return {reinterpret_cast<const char*>(stored), mapped.size()};
    }
    /// Keeps a file mapped as long as the columns are read.
    void keep_file(std::shared_ptr<const void> file) { files_.push_back(std::move(file)); }

  private:
    std::shared_ptr<replay::Spill> spill_;
    std::vector<std::shared_ptr<const void>> files_;
    std::atomic<std::uint64_t> bytes_{0};
};

/// A location as `decoded-B` and `joined-B` have it.
struct StoredLocation {
    replay::Location location;
    unsigned tree;
    std::string damage;
    LocationTrace trace;
};

/// In `decoded-B`: without collective operations and epochs, which are in a segment of all locations.
void put_decoded(SegmentBytes& out, std::size_t location, const LocationTrace& trace, unsigned tree,
                 const std::string& damage);
enum class Parts : std::uint8_t { all, calls_and_receives };
StoredLocation get_decoded(SegmentView in, Parts parts = Parts::all);

/// The collective operations and epochs of a location, in the order of the block's locations.
void put_operations(SegmentBytes& out, const LocationTrace& trace);
void get_operations(SegmentView& in, LocationTrace& trace);

/// In `joined-B`, as the analysis has it; its columns are used where they lie.
void put_joined(SegmentBytes& out, const StoredLocation& stored, const Sums& sums);
StoredLocation get_joined(SegmentView in, Sums& sums);

/// What a block has in addition to its locations.
struct Common {
    std::vector<replay::Location> owner;      // of all locations
    std::vector<replay::Location> locations;  // of the block
    std::vector<replay::Location> processes;  // their owners
    std::vector<Extent> extents;              // likewise
    std::vector<std::uint8_t> off;            // whether their measurement was ever switched off
    QualityCounts quality{};
    std::uint64_t pairs = 0;  // of messages within
    std::vector<CallpathTree> trees;

    void put(SegmentBytes& out) const;
    static Common get(SegmentView in);
};

/// What all blocks, and the analysis, need.
struct Whole {
    std::int64_t begin_ps = 0;
    std::int64_t length_ps = 0;
    std::uint32_t instances = 0;  // collective operations
    QualityCounts quality{};
    std::vector<Callpath> callpaths;

    void put(SegmentBytes& out) const;
    static Whole get(SegmentView in);
};

/// A pair as its receiver's block found it.
struct Pair {
    replay::Location location{};  // that received
    std::uint32_t receive = 0;
    replay::Location from{};  // that sent
    std::uint32_t send = 0;
};

inline constexpr std::tuple kPairFields{&Pair::location, &Pair::receive, &Pair::from, &Pair::send};

/// Duration of the messages of other blocks to a location.
struct ReceivedSum {
    Sum ps;
    replay::Location location;
};

/// Says that files of one folder are of different analyses. Throws ArchiveError.
[[noreturn]] inline void do_not_fit(const Shards& shards) {
    throw ArchiveError(shards.folder.string() + ": blocks of different analyses; remove it, and run the command again");
}
inline void progressed(const Shards& shards) {
    if (shards.progress != nullptr) {
        shards.progress->fetch_add(1, std::memory_order_relaxed);
    }
}

inline std::int64_t difference(std::int64_t a, std::int64_t b) noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
inline std::int64_t sum(std::int64_t a, std::int64_t b) noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
/// Records as differences from the one before: a repeated record needs one byte.
template <class Record, class Fields>
void put_record(SegmentBytes& out, const Fields& fields, const Record& record, Record& before) {
    const auto put = [&](auto field) {
        out.put_small(difference(static_cast<std::int64_t>(record.*field), static_cast<std::int64_t>(before.*field)));
    };
    std::apply([&](auto... field) { (put(field), ...); }, fields);
    before = record;
}
template <class Record, class Fields>
void get_record(SegmentView& in, const Fields& fields, Record& record) {
    const auto get = [&](auto field) {
        auto& value = record.*field;
        value = static_cast<std::remove_reference_t<decltype(value)>>(
            sum(static_cast<std::int64_t>(value), in.get_small()));
    };
    std::apply([&](auto... field) { (get(field), ...); }, fields);
}

}  // namespace logpost::analyzer
