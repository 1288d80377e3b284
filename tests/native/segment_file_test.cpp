// Files of segments are whole or not at all.
#include "analyzer/archive/native/read/segment_file.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "analyzer/archive/native/trace/error.hpp"
#include "archive_builder.hpp"

namespace logpost::analyzer {
namespace {

constexpr std::uint64_t kPlan = 7;

std::string message_of(auto&& body) {
    try {
        body();
    } catch (const ArchiveError& error) {
        return error.what();
    }
    return "";
}

class SegmentFile : public ::testing::Test {
  protected:
    tests::ScratchDirectory scratch;
    std::filesystem::path file = scratch.path() / "decoded-0";

    void write() const {
        SegmentWriter writer(file, kPlan, 2, "block 0 of 1");
        SegmentBytes first;
        first.put_text("abc");
        writer.add(first);
        SegmentBytes second;
        for (const std::int64_t value :
             {std::int64_t{0}, std::int64_t{-64}, std::int64_t{64}, std::numeric_limits<std::int64_t>::min(),
              std::numeric_limits<std::int64_t>::max()}) {
            second.put_small(value);
        }
        writer.add(second);
        writer.finish();
    }
};

TEST_F(SegmentFile, HasNoNameUntilItIsWhole) {
    {
        SegmentWriter writer(file, kPlan, 1, "block 0 of 1");
        writer.add(SegmentBytes());
    }
    EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
    EXPECT_FALSE(SegmentReader::whole(file, kPlan));
}

TEST_F(SegmentFile, GivesBackWhatWasPut) {
    write();
    const SegmentReader reader(file, kPlan);
    EXPECT_EQ(reader.segments(), 2U);
    EXPECT_EQ(reader.segment(0).get_text(), "abc");
    auto numbers = reader.segment(1);
    EXPECT_EQ(numbers.get_small(), 0);
    EXPECT_EQ(numbers.get_small(), -64);
    EXPECT_EQ(numbers.get_small(), 64);
    EXPECT_EQ(numbers.get_small(), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(numbers.get_small(), std::numeric_limits<std::int64_t>::max());
    EXPECT_TRUE(numbers.at_end());
    EXPECT_NE(message_of([&] { numbers.get_small(); }).find("decoded-0: ends too early"), std::string::npos);
}

TEST_F(SegmentFile, ColumnsAreUsedWhereTheyAreMapped) {
    replay::Column<std::int64_t> column;
    for (std::int64_t i = 0; i < 100; ++i) {
        column.push_back(i);
    }
    {
        SegmentWriter writer(file, kPlan, 2, "block 0 of 1");
        SegmentBytes odd;
        odd.put_text("abc");
        writer.add(odd);
        SegmentBytes bytes;
        bytes.put_text("abc");
        bytes.put_mapped(column);
        bytes.put_mapped(replay::Column<std::int32_t>());
        writer.add(bytes);
        writer.finish();
    }
    SegmentReader reader(file, kPlan);
    const auto mapping = reader.map();
    const auto bytes = reader.mapped(1);
    SegmentView segment(bytes, "decoded-0");
    EXPECT_EQ(segment.get_text(), "abc");
    replay::Column<std::int64_t> found;
    segment.get_mapped(found);
    ASSERT_EQ(found.size(), 100U);
    EXPECT_EQ(found[99], 99);
    const auto* const first = reinterpret_cast<const char*>(&found[0]);
    EXPECT_TRUE(first >= bytes.data() && first < bytes.data() + bytes.size());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % replay::kCacheLine, 0U);
    replay::Column<std::int32_t> none;
    segment.get_mapped(none);
    EXPECT_TRUE(none.empty());
    EXPECT_TRUE(segment.at_end());
}

/// Of mapped files, in this process's memory.
std::uint64_t resident_kb() {
    std::ifstream status("/proc/self/status");
    std::uint64_t sum = 0;
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("RssFile:") || line.starts_with("RssShmem:")) {
            sum += std::stoull(line.substr(line.find(':') + 1));
        }
    }
    return sum;
}

TEST_F(SegmentFile, IsInMemoryWhereItIsRead) {
    constexpr std::size_t kNumbers = std::size_t{1} << 21U;  // 16 MiB, which the system counts in lots of 64 pages
    constexpr std::uint64_t kMostKb = 2048, kWholeKb = 14 * 1024;
    {
        std::vector<std::int64_t> numbers(kNumbers, 7);
        SegmentWriter writer(file, kPlan, 1, "block 0 of 1");
        SegmentBytes bytes;
        bytes.put_mapped(std::span(numbers));
        writer.add(bytes);
        writer.finish();
    }
    SegmentReader reader(file, kPlan);
    const auto mapping = reader.map();
    const auto before = resident_kb();
    SegmentView segment(reader.mapped(0), "decoded-0");
    EXPECT_LT(resident_kb(), before + kMostKb) << "checked, and not kept";
    std::span<std::int64_t> found;
    segment.get_mapped(found);
    const auto sum = [&] { return std::accumulate(found.begin(), found.end(), std::int64_t{0}); };
    EXPECT_EQ(sum(), std::int64_t{7 * kNumbers});
    EXPECT_GT(resident_kb(), before + kWholeKb);
    release_mapped(found.data(), found.size_bytes());
    EXPECT_LT(resident_kb(), before + kMostKb);
    EXPECT_EQ(sum(), std::int64_t{7 * kNumbers}) << "read again from the file";
}

TEST_F(SegmentFile, IsNotWholeWithAnyByteChangedOrMissing) {
    write();
    EXPECT_TRUE(SegmentReader::whole(file, kPlan));
    EXPECT_FALSE(SegmentReader::whole(file, kPlan + 1));
    std::ifstream in(file, std::ios::binary);
    const std::string sound((std::istreambuf_iterator<char>(in)), {});
    for (std::size_t i = 0; i < sound.size(); ++i) {
        auto damaged = sound;
        damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
        std::ofstream(file, std::ios::binary) << damaged;
        EXPECT_FALSE(SegmentReader::whole(file, kPlan)) << i;
        std::ofstream(file, std::ios::binary) << sound.substr(0, i);
        EXPECT_FALSE(SegmentReader::whole(file, kPlan)) << i;
    }
}

TEST_F(SegmentFile, SaysWhatIsWrong) {
    EXPECT_NE(message_of([&] { SegmentReader(file, kPlan); }).find("No such file"), std::string::npos);
    write();
    EXPECT_NE(message_of([&] { SegmentReader(file, kPlan + 1); }).find("damaged, or of another analysis"),
              std::string::npos);
    const auto nowhere = message_of([&] { SegmentWriter(scratch.path() / "no" / "f", kPlan, 1, "block 3 of 7"); });
    EXPECT_NE(nowhere.find("block 3 of 7 cannot be written to "), std::string::npos) << nowhere;
}

}  // namespace
}  // namespace logpost::analyzer
