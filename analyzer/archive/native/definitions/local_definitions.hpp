#pragma once

#include <otf2/otf2.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/archive/native/clocks/clock.hpp"

namespace logpost::analyzer {

/// What one location's local definitions say: how its ids are renamed, and its clock.
struct LocalDefinitions {
    struct FreeMap {
        void operator()(OTF2_IdMap* map) const { OTF2_IdMap_Free(map); }
    };
    using IdMap = std::unique_ptr<OTF2_IdMap, FreeMap>;

    std::vector<std::pair<OTF2_MappingType, IdMap>> mapping_tables;
    std::vector<ClockOffset> clock_offsets;
};

/// The smallest chunk that OTF2 allows: a file up to this size is one chunk.
inline constexpr std::size_t kOneChunkBytes = OTF2_CHUNK_SIZE_MIN;

/// The bytes of a file of at most `kOneChunkBytes`; nothing: it is larger, or cannot be read.
std::optional<std::vector<unsigned char>> small_file(const std::filesystem::path& file);

/// The definitions of a plain local definition file, without libotf2, which takes and clears a chunk of megabytes for
/// each: with thousands of locations, a fifth of the time that reading takes. Nothing: the file holds anything but
/// intact mapping tables and clock offsets in one little-endian chunk. libotf2 then decides what it means.
std::optional<LocalDefinitions> parse_local_definitions(std::span<const unsigned char> file);

}  // namespace logpost::analyzer
