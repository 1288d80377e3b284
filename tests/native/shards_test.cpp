// Archives made by chance: the trace of any number of blocks is that of one process.
#include "analyzer/archive/native/read/shards.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "analyzer/archive/native/read/block_files.hpp"
#include "archive_builder.hpp"
#include "random_archive.hpp"

namespace logpost::analyzer {
namespace {

/// All that a trace has, as bytes: structures without what their fields leave unused.
std::string bytes_of(const Trace& trace) {
    SegmentBytes all;
    all.put(trace.begin_ps);
    all.put(trace.length_ps);
    all.put(trace.collective_instances);
    all.put_all(trace.callpaths);
    all.put_all(trace.thread_spans);
    all.put_all(trace.quality);
    for (const auto& name : trace.quality_names_affected) {
        all.put_text(name);
    }
    for (const auto& region : trace.regions) {
        all.put_text(region.name);
    }
    for (std::size_t l = 0; l < trace.traces.size(); ++l) {
        put_decoded(all, l, trace.traces[l], 0, "");
        put_operations(all, trace.traces[l]);
    }
    return all.bytes();
}

/// Of one process, or of blocks in a folder; an archive that cannot be read is empty.
std::string read_as(const std::filesystem::path& archive, std::uint32_t blocks, const std::filesystem::path& folder) {
    try {
        ReadOptions options{.threads = 1, .correction = {.offsets = true}};
        if (blocks == 0) {
            return bytes_of(read_archive(find_anchor(archive), options));
        }
        std::filesystem::create_directory(folder);
        const Shards shards{folder, blocks, 7};
        for (std::uint32_t block = 0; block < blocks; ++block) {
            decode_block(find_anchor(archive), shards, block, options);
        }
        for (std::uint32_t block = 0; block < blocks; ++block) {
            match_block(shards, block);
        }
        number_blocks(find_anchor(archive), shards);
        for (std::uint32_t block = 0; block < blocks; ++block) {
            join_block(find_anchor(archive), shards, block);
        }
        options.shards = &shards;
        return bytes_of(read_archive(find_anchor(archive), options));
    } catch (const ArchiveError&) {
        return "";
    }
}

TEST(Blocks, GiveTheTraceOfOneProcess) {
    constexpr std::uint64_t kArchives = 60;
    int readable = 0;
    for (std::uint64_t seed = 0; seed < kArchives; ++seed) {
        const tests::ScratchDirectory scratch;
        const auto archive = scratch.path() / "archive";
        tests::RandomArchive(seed).write(archive);
        const auto whole = read_as(archive, 0, {});
        readable += whole.empty() ? 0 : 1;
        for (const std::uint32_t blocks : {1U, 2U, 7U}) {
            EXPECT_EQ(read_as(archive, blocks, scratch.path() / std::to_string(blocks)) == whole, true)
                << "seed " << seed << ", " << blocks << " blocks";
        }
    }
    EXPECT_GT(readable, static_cast<int>(kArchives / 2));
}

}  // namespace
}  // namespace logpost::analyzer
