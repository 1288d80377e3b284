#pragma once

/// The stages of reading an archive, for one process (`read_archive`) and for many (`shards.hpp`).

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_set>
#include <vector>

#include "analyzer/archive/native/definitions/definitions.hpp"
#include "analyzer/archive/native/match/match.hpp"
#include "analyzer/archive/native/read/range.hpp"
#include "analyzer/archive/native/read/read.hpp"
#include "analyzer/archive/native/trace/callpaths.hpp"
#include "analyzer/archive/native/trace/quality.hpp"
#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

/// Event files on disk. `refs` of locations is empty where the archive is not made of plain files.
struct EventFiles {
    bool plain = false;
    std::filesystem::path directory;
    std::unordered_set<std::uint64_t> refs;
};

/// An archive whose definitions are read.
struct Archive {
    std::filesystem::path anchor;
    struct Parts {
        Trace trace;
        QualityCounts quality{};
        Definitions definitions;
        EventFiles files;
        std::vector<std::size_t> order;  // locations that have events
    } parts;
};

/// What decoding leaves in addition to the traces, whose callpaths and times are still those of the decoders.
struct Decoded {
    std::vector<CallpathTree> trees;
    std::vector<unsigned> tree_of;    // by location: its tree
    std::vector<std::string> damage;  // by location; empty: none
    QualityCounts quality{};
};

inline void add(QualityCounts& counts, const QualityCounts& more) noexcept {
    for (std::size_t i = 0; i < kQualityCount; ++i) {
        counts[i] += more[i];
    }
}

/// What locations are numbered with that were decoded apart.
struct GlobalNumbers {
    std::int64_t begin_ps = 0;  // of the earliest event, which becomes time 0
    std::int64_t length_ps = 0;
    std::vector<Callpath> callpaths;
    std::vector<std::vector<std::int32_t>> callpath_of;  // by tree and its node
};

/// Throws ArchiveError where nothing can be read.
Archive open_archive(const std::filesystem::path& path, const ReadOptions& options);
/// By the size of their files: the last one to be read should be short.
void largest_first(const Archive& archive, std::vector<std::size_t>& locations);
/// Into `traces`, which has all of `locations`.
Decoded decode_locations(const Archive& archive, const std::vector<std::size_t>& locations, const TraceOf& traces,
                         const ReadOptions& options);
unsigned decoding_threads(const ReadOptions& options, std::size_t locations);
/// Counts what is wrong with locations, all of which are decoded.
void count_locations(Archive& archive, const Decoded& decoded);
/// Throws ArchiveError where times do not fit. `extents`: by location.
GlobalNumbers global_numbers_of(const std::vector<Extent>& extents, const std::vector<const CallpathTree*>& trees,
                                const Archive& archive);
/// Time 0 becomes the earliest event; callpaths get their final numbers.
void renumber(LocationTrace& location, std::int64_t first, const std::vector<std::int32_t>& callpaths);
/// The trace has all callpaths, and their regions.
void take_global_numbers(Trace& trace, GlobalNumbers& numbers);
/// The trace, whose messages are paired and collectives grouped.
Trace finished(Archive archive);

}  // namespace logpost::analyzer
