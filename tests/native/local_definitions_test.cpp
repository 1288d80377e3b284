// A local definition file read byte by byte says what libotf2 reads in it, or nothing.
#include "analyzer/archive/native/definitions/local_definitions.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <vector>

#include "archive_builder.hpp"

namespace logpost::analyzer {
namespace {

using File = std::vector<unsigned char>;
using Ids = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

const File kHeader = {0x03, 0x42, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
const File kEnd = {0x02, 0x01};
// Regions (3), 2 entries, dense: 0 is 9, 1 is 300 = 0x012c.
const File kDense = {0x05, 9, 3, 1, 2, 0, 1, 9, 2, 0x2c, 0x01};
// Communicators (6), 1 entry, sparse: 40 is the largest id.
const File kSparse = {0x05, 7, 6, 1, 1, 1, 1, 40, 0xff};
// At 256 the clock is 5 ticks ahead; at 512, 1 tick behind (all bits set).
const File kAhead = {0x06, 18, 0, 1, 0, 0, 0, 0, 0, 0, 1, 5, 0, 0, 0, 0, 0, 0, 0, 0};
const File kBehind = {0x06, 17, 0, 2, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0, 0, 0, 0, 0, 0};

File file(std::initializer_list<File> pieces) {
    File whole;
    for (const auto& piece : pieces) {
        whole.insert(whole.end(), piece.begin(), piece.end());
    }
    return whole;
}

Ids ids(const LocalDefinitions::IdMap& map) {
    Ids found;
    OTF2_IdMap_Traverse(
        map.get(),
        [](std::uint64_t local, std::uint64_t global, void* user) {
            static_cast<Ids*>(user)->emplace_back(local, global);
        },
        &found);
    return found;
}

TEST(LocalDefinitions, AreMappingTablesAndClockOffsets) {
    const auto found = parse_local_definitions(file({kHeader, kDense, kAhead, kSparse, kBehind, kEnd}));
    ASSERT_TRUE(found);
    ASSERT_EQ(found->mapping_tables.size(), 2U);
    EXPECT_EQ(found->mapping_tables[0].first, OTF2_MAPPING_REGION);
    EXPECT_EQ(ids(found->mapping_tables[0].second), (Ids{{0, 9}, {1, 300}}));
    EXPECT_EQ(found->mapping_tables[1].first, OTF2_MAPPING_COMM);
    EXPECT_EQ(ids(found->mapping_tables[1].second), (Ids{{40, UINT64_MAX}}));
    ASSERT_EQ(found->clock_offsets.size(), 2U);
    EXPECT_EQ(found->clock_offsets[0].time, 256U);
    EXPECT_EQ(found->clock_offsets[0].offset, 5);
    EXPECT_EQ(found->clock_offsets[1].time, 512U);
    EXPECT_EQ(found->clock_offsets[1].offset, -1);
}

TEST(LocalDefinitions, MayBeNoneAndEndInANewline) {
    EXPECT_TRUE(parse_local_definitions(file({kHeader, kEnd})));
    EXPECT_TRUE(parse_local_definitions(file({kHeader, kDense, kEnd, {'\n'}})));
}

TEST(LocalDefinitions, AreLeftToTheLibraryWhereTheyAreCut) {
    const auto whole = file({kHeader, kDense, kSparse, kAhead, kBehind, kEnd});
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_FALSE(parse_local_definitions(std::span(whole).first(size))) << size;
    }
    EXPECT_FALSE(parse_local_definitions(file({whole, {'x'}})));
}

TEST(LocalDefinitions, AreLeftToTheLibraryWhereTheyAreAnythingElse) {
    auto big_endian = file({kHeader, kEnd});
    big_endian[1] = 0x23;
    EXPECT_FALSE(parse_local_definitions(big_endian));
    EXPECT_FALSE(parse_local_definitions(file({kHeader, {0x0a, 1, 0}, kEnd})));  // another record
    EXPECT_FALSE(parse_local_definitions(file({kHeader, kDense, kDense, kEnd})));
    EXPECT_FALSE(parse_local_definitions(file({kHeader, kBehind, kAhead, kEnd})));
    EXPECT_FALSE(parse_local_definitions(file({kHeader, kAhead, kAhead, kEnd})));
    // More entries than bytes, a mode that is none, an id of nine bytes, content behind the last entry.
    EXPECT_FALSE(parse_local_definitions(file({kHeader, {0x05, 6, 3, 1, 200, 0, 1, 9}, kEnd})));
    EXPECT_FALSE(parse_local_definitions(file({kHeader, {0x05, 6, 3, 1, 1, 2, 1, 9}, kEnd})));
    EXPECT_FALSE(parse_local_definitions(file({kHeader, {0x05, 6, 3, 1, 1, 0, 9, 9}, kEnd})));
    EXPECT_FALSE(parse_local_definitions(file({kHeader, {0x05, 7, 3, 1, 1, 0, 1, 9, 0}, kEnd})));
}

// What libotf2 writes: a table longer than 254 bytes, and values of all lengths.
TEST(LocalDefinitions, AreReadAsTheLibraryWroteThem) {
    const tests::ScratchDirectory scratch;
    tests::ArchiveBuilder archive{scratch.path() / "a"};
    archive.world(1);
    std::map<std::uint64_t, std::uint64_t> regions;
    for (unsigned i = 0; i < 64; ++i) {
        regions[std::uint64_t{1} << i] = 3 * i;
    }
    archive.local(0, {{1U << 20U, -1}, {1ULL << 60U, 1LL << 40U}, {(1ULL << 60U) + 1, -(1LL << 50U)}}, regions);
    archive.events(0, [](tests::Events&) {});
    const auto written = archive.finish();
    const auto bytes = small_file(written.parent_path() / written.stem() / "0.def");
    ASSERT_TRUE(bytes);
    EXPECT_GT(bytes->size(), 255U);
    const auto found = parse_local_definitions(*bytes);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->mapping_tables.size(), 1U);
    EXPECT_EQ(ids(found->mapping_tables[0].second), Ids(regions.begin(), regions.end()));
    ASSERT_EQ(found->clock_offsets.size(), 3U);
    EXPECT_EQ(found->clock_offsets[0].offset, -1);
    EXPECT_EQ(found->clock_offsets[1].time, 1ULL << 60U);
    EXPECT_EQ(found->clock_offsets[1].offset, 1LL << 40U);
    EXPECT_EQ(found->clock_offsets[2].offset, -(1LL << 50U));
}

TEST(LocalDefinitions, AreLeftToTheLibraryInALargeFile) {
    const tests::ScratchDirectory scratch;
    const auto name = scratch.path() / "0.def";
    std::ofstream(name) << std::string(kOneChunkBytes + 1, 'x');
    EXPECT_FALSE(small_file(name));
    EXPECT_FALSE(small_file(scratch.path() / "1.def"));
    EXPECT_FALSE(parse_local_definitions(File(kOneChunkBytes + 1, 0)));
}

}  // namespace
}  // namespace logpost::analyzer
