#pragma once

/// The stages of reading an archive, for one process (`read_archive`) and for many (`shards.hpp`).

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "analyzer/archive/native/definitions/definitions.hpp"
#include "analyzer/archive/native/match/match.hpp"
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

/// Pairs the messages of a trace whose locations are all decoded; as `match_messages`.
using Matching =
    std::function<void(Trace&, const std::vector<replay::Location>& owner, unsigned threads, QualityCounts&)>;

/// Throws ArchiveError where nothing can be read.
Archive open_archive(const std::filesystem::path& path, const ReadOptions& options);
/// By the size of their files: the last one to be read should be short.
void largest_first(const Archive& archive, std::vector<std::size_t>& locations);
/// Into `traces`, which has all of `locations`.
Decoded decode_locations(const Archive& archive, const std::vector<std::size_t>& locations, const TraceOf& traces,
                         const ReadOptions& options);
/// Numbers times and callpaths, pairs messages, groups collectives. Throws ArchiveError where sums do not fit.
Trace finish_trace(Archive archive, const Decoded& decoded, const ReadOptions& options, const Matching& matching);

}  // namespace logpost::analyzer
