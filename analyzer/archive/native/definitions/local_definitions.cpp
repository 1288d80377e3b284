// A local definition file, byte by byte (libotf2 3.x):
//
//   chunk header   03, byte order (42: little-endian), number of the first and of the last event (8 bytes each)
//   record         its type, bytes of its content (1 byte; ff: 8 more bytes state them), content
//   end            02 (of the chunk), 01 (of the file); in some archives a newline
//
//   mapping table (05): what it renames (1 byte), n (compressed), 0: dense or 1: sparse, then n global ids or n pairs
//                       of a local and its global id (compressed)
//   clock offset (06):  local time (8 bytes), offset (compressed), standard deviation (8 bytes)
//
// A compressed integer is the number of its bytes, then these; ff alone is the largest.
#include "analyzer/archive/native/definitions/local_definitions.hpp"

#include <cstdint>
#include <fstream>
#include <limits>
#include <system_error>

namespace logpost::analyzer {
namespace {

constexpr unsigned kChunkHeader = 3;
constexpr unsigned kLittleEndian = 0x42;
constexpr unsigned kEndOfChunk = 2;
constexpr unsigned kEndOfFile = 1;
constexpr unsigned kMappingTable = 5;
constexpr unsigned kClockOffset = 6;
constexpr unsigned kEscaped = 0xff;

/// Takes values from the front of some bytes. Once there are too few, or one is malformed, `good` is false for ever and
/// all values are 0.
class Bytes {
  public:
    explicit Bytes(std::span<const unsigned char> bytes) : left_(bytes) {}

    unsigned byte() { return static_cast<unsigned>(fixed(1)); }
    std::uint64_t fixed(std::size_t size) {
        std::uint64_t value = 0;
        const auto taken = bytes(size);
        for (std::size_t i = 0; i < taken.size(); ++i) {
            value |= std::uint64_t{taken[i]} << (8 * i);
        }
        return value;
    }
    std::uint64_t compressed() {
        const auto size = byte();
        if (size == kEscaped) {
            return std::numeric_limits<std::uint64_t>::max();
        }
        good = good && size <= 8;
        return good ? fixed(size) : 0;
    }
    std::span<const unsigned char> bytes(std::uint64_t size) {
        good = good && size <= left_.size();
        const auto taken = left_.first(good ? static_cast<std::size_t>(size) : 0);
        left_ = left_.subspan(taken.size());
        return taken;
    }
    [[nodiscard]] std::size_t left() const { return left_.size(); }

    bool good = true;

  private:
    std::span<const unsigned char> left_;
};

bool take_mapping_table(Bytes record, LocalDefinitions& into) {
    const auto type = static_cast<OTF2_MappingType>(record.byte());
    for (const auto& [known, map] : into.mapping_tables) {
        if (known == type) {
            return false;  // libotf2 refuses a second one
        }
    }
    const auto entries = record.compressed();
    const auto mode = record.byte();
    // An id takes a byte at least.
    if (!record.good || entries == 0 || entries > record.left() ||
        (mode != OTF2_ID_MAP_DENSE && mode != OTF2_ID_MAP_SPARSE)) {
        return false;
    }
    LocalDefinitions::IdMap map(OTF2_IdMap_Create(static_cast<OTF2_IdMapMode>(mode), entries));
    for (std::uint64_t i = 0; i < entries; ++i) {
        const auto local = mode == OTF2_ID_MAP_SPARSE ? record.compressed() : i;
        const auto global = record.compressed();
        if (!record.good || !map || OTF2_IdMap_AddIdPair(map.get(), local, global) != OTF2_SUCCESS) {
            return false;
        }
    }
    into.mapping_tables.emplace_back(type, std::move(map));
    return record.left() == 0;
}

bool take_clock_offset(Bytes record, LocalDefinitions& into) {
    const auto time = record.fixed(8);
    const auto offset = static_cast<std::int64_t>(record.compressed());
    record.fixed(8);
    // libotf2 refuses two comparisons of a clock at the same time.
    const bool later = into.clock_offsets.empty() || into.clock_offsets.back().time < time;
    into.clock_offsets.push_back({time, offset});
    return record.good && record.left() == 0 && later;
}

}  // namespace

std::optional<std::vector<unsigned char>> small_file(const std::filesystem::path& file) {
    std::error_code unknown;
    const auto size = std::filesystem::file_size(file, unknown);
    if (unknown || size > kOneChunkBytes) {
        return std::nullopt;
    }
    std::vector<char> bytes(static_cast<std::size_t>(size));
    std::ifstream in(file, std::ios::binary);
    if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
        return std::nullopt;
    }
    return std::vector<unsigned char>(bytes.begin(), bytes.end());
}

std::optional<LocalDefinitions> parse_local_definitions(std::span<const unsigned char> file) {
    Bytes in(file);
    if (file.size() > kOneChunkBytes || in.byte() != kChunkHeader || in.byte() != kLittleEndian) {
        return std::nullopt;
    }
    in.bytes(16);
    LocalDefinitions found;
    for (;;) {
        const auto type = in.byte();
        if (type == kEndOfChunk) {
            const bool ended = in.byte() == kEndOfFile && (in.left() == 0 || (in.left() == 1 && in.byte() == '\n'));
            return in.good && ended ? std::optional(std::move(found)) : std::nullopt;
        }
        const auto length = in.byte();
        const Bytes record(in.bytes(length == kEscaped ? in.fixed(8) : length));
        if (!in.good || !((type == kMappingTable && take_mapping_table(record, found)) ||
                          (type == kClockOffset && take_clock_offset(record, found)))) {
            return std::nullopt;
        }
    }
}

}  // namespace logpost::analyzer
