#pragma once

/// The stages of reading an archive, for one process (`read_archive`) and for many (`shards.hpp`).

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "callpaths.hpp"
#include "definitions.hpp"
#include "quality.hpp"
#include "read.hpp"
#include "trace.hpp"

namespace logpost::analyzer {

/// Event files on disk: location ref -> bytes. Empty where the archive is not made of plain files.
struct EventFiles {
    bool plain = false;
    std::filesystem::path directory;
    std::unordered_map<std::uint64_t, std::uintmax_t> bytes;
    [[nodiscard]] bool has(std::uint64_t ref) const { return bytes.contains(ref); }
};

/// An archive whose definitions are read.
struct Archive {
    std::filesystem::path anchor;
    struct Parts {
        Trace trace;
        QualityCounts quality{};
        Definitions definitions;
        EventFiles files;                // that no location is defined for
        std::vector<std::size_t> order;  // locations that have events, the largest file first
    } parts;
};

/// What decoding leaves beside `Trace::traces`, whose callpaths and times are still those of the decoders.
struct Decoded {
    std::vector<CallpathTree> trees;
    std::vector<unsigned> tree_of;    // by location: its tree
    std::vector<std::string> damage;  // by location; empty: none
    QualityCounts quality{};
};

/// Pairs the messages of a trace whose locations are all decoded; as `match_messages`.
using Matching = std::function<void(Trace&, const std::vector<std::int32_t>& owner, unsigned threads, QualityCounts&)>;

/// Throws ArchiveError where nothing can be read.
Archive open_archive(const std::filesystem::path& path, const ReadOptions& options);
Decoded decode_locations(Archive& archive, const std::vector<std::size_t>& locations, const ReadOptions& options);
/// Numbers times and callpaths, pairs messages, groups collectives. Throws ArchiveError where sums do not fit.
Trace finish_trace(Archive archive, const Decoded& decoded, const ReadOptions& options, const Matching& matching);

}  // namespace logpost::analyzer
