#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/archive/native/trace/id_lookup.hpp"
#include "analyzer/archive/native/trace/quality.hpp"
#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

/// More than the memory of any process: 16 TiB.
inline constexpr std::uint64_t kBytesOutOfRange = std::uint64_t{1} << 44;

/// A node of the calling contexts that the archive defines.
struct CallingContext {
    std::int32_t parent = kUndefined;  // dense
    std::int32_t region = kUndefined;  // dense
    std::int32_t site = 0;             // place of the call of this region in the parent: index into Trace::sites
    std::int32_t root_region = kUndefined;
    std::uint32_t line = 0;  // of the source, where the code itself was; 0: unknown
};

/// What decoding needs of the global definitions, in addition to the Trace.
struct Definitions {
    std::uint64_t ticks_per_second = 1;
    std::uint64_t global_offset = 0;
    std::uint64_t trace_length = 0;

    IdLookup regions;           // ref -> dense region
    IdLookup communicators;     // ref -> dense communicator
    IdLookup calling_contexts;  // ref -> dense context
    IdLookup strings;           // ref -> index into texts
    IdLookup windows;           // ref -> dense window
    IdLookup groups;            // ref -> index into group_members, where there are windows
    std::vector<std::string> texts;
    std::vector<std::vector<replay::Location>> group_members;

    std::vector<CallingContext> contexts;        // parents are before children
    std::vector<CallKind> kinds;                 // by dense region
    std::vector<char> begins_request;            // by dense region: see region_kind.hpp
    std::vector<ThreadRole> thread_roles;        // by dense region; empty: none has any
    std::vector<char> reaches_file;              // by dense region; empty: none does
    std::vector<std::uint64_t> declared_events;  // by dense location
    std::vector<replay::Location> owner;         // by location: the one that is its process's rank
    std::uint32_t layout_attribute = OTF2_UNDEFINED_ATTRIBUTE;
    std::uint32_t target_layout_attribute = OTF2_UNDEFINED_ATTRIBUTE;  // of one-sided transfers
    std::uint32_t context_attribute = OTF2_UNDEFINED_ATTRIBUTE;
    std::uint32_t open_attribute = OTF2_UNDEFINED_ATTRIBUTE;        // what a call waited for that never ended, in words
    std::uint32_t persistent_attribute = OTF2_UNDEFINED_ATTRIBUTE;  // which persistent collective operation was started
    std::uint32_t any_source_attribute = OTF2_UNDEFINED_ATTRIBUTE;  // 1: the receive named no sender
    std::uint32_t periods_attribute = OTF2_UNDEFINED_ATTRIBUTE;     // of the sampler since the sample before
    std::uint32_t level_parameter = OTF2_UNDEFINED_PARAMETER;
    std::vector<std::int32_t> layout_of_text;  // index into texts -> index into Trace::layouts

    /// Regions that stand for what the archive does not name, behind its own ones: see `read.cpp`.
    [[nodiscard]] std::int32_t undefined_region() const { return static_cast<std::int32_t>(kinds.size()); }
    [[nodiscard]] std::int32_t outside_region() const { return undefined_region() + 1; }
    [[nodiscard]] std::int32_t off_region() const { return undefined_region() + 2; }
    [[nodiscard]] std::int32_t flush_region() const { return undefined_region() + 3; }
};

/// Reads the global definitions of an opened archive into `trace` and returns the rest. Throws ArchiveError.
Definitions read_definitions(OTF2_Reader* reader, const std::string& archive, Trace& trace, QualityCounts& quality);

/// The layout that a text such as "blocks=16 block_bytes=16 stride_bytes=64 extent_bytes=976" describes.
/// False: not understood.
bool parse_layout(const std::string& text, Layout& layout);

}  // namespace logpost::analyzer
