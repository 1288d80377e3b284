// Archives made by chance: the trace of any number of blocks is that of one process.
#include "analyzer/archive/native/read/shards.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/archive/native/read/account_blocks.hpp"
#include "analyzer/archive/native/read/block_files.hpp"
#include "analyzer/archive/native/read/read_program.hpp"
#include "analyzer/archive/native/read/split_blocks.hpp"
#include "analyzer/archive/native/read/table_blocks.hpp"
#include "analyzer/archive/native/read/tasks.hpp"
#include "archive_builder.hpp"
#include "checked_analysis.hpp"
#include "random_archive.hpp"
#include "replay/native/cost/cost.hpp"
#include "replay/native/split/analysis.hpp"
#include "replay/native/split/collective_split.hpp"

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

/// All tasks up to joining.
void join(const std::filesystem::path& archive, const Shards& shards) {
    const ReadOptions options{.threads = 1, .correction = {.offsets = true}};
    for (std::uint32_t block = 0; block < shards.blocks; ++block) {
        decode_block(find_anchor(archive), shards, block, options);
    }
    for (std::uint32_t block = 0; block < shards.blocks; ++block) {
        match_block(shards, block);
    }
    number_blocks(find_anchor(archive), shards);
    for (std::uint32_t block = 0; block < shards.blocks; ++block) {
        join_block(find_anchor(archive), shards, block);
    }
}

/// Of one process, or of blocks in a folder; an archive that cannot be read is empty.
std::string read_as(const std::filesystem::path& archive, std::uint32_t blocks, const std::filesystem::path& folder) {
    try {
        ReadOptions options{.threads = 1, .correction = {.offsets = true}};
        if (blocks == 0) {
            return bytes_of(read_archive(find_anchor(archive), options));
        }
        std::filesystem::create_directory(folder);
        const Shards shards{folder, blocks, 7, 8};
        join(archive, shards);
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

/// All that a model has found, as bytes.
std::string bytes_of(replay::MessageModel& model) {
    SegmentBytes all;
    all.put(model.totals());
    for (std::size_t l = 0; l < model.program().timelines.size(); ++l) {
        const auto found = model.found(l);
        all.put_mapped(found.records);
        all.put_mapped(found.processor);
        for (const auto& entry : found.rendezvous) {  // its waits are those of a next round
            all.put(entry.receive);
            all.put(entry.handshake);
        }
        all.put_mapped(found.stages);
        all.put_mapped(found.loads);
        all.put_mapped(found.late_replies);
    }
    return all.bytes();
}

/// Likewise what a split of collective operations has.
std::string bytes_of(const replay::CollectiveSplit& split, const replay::Program& program) {
    SegmentBytes all;
    all.put_all(split.kinds());
    for (std::size_t l = 0; l < program.timelines.size(); ++l) {
        program.timelines[l].collectives.for_each([&](std::size_t i, const replay::Collective& one) {
            all.put(split.kind_of(one).value_or(kNone));
            all.put(split.parts(l, static_cast<std::uint32_t>(i), 1'000'000));
        });
    }
    return all.bytes();
}

constexpr std::size_t kRows = 50;  // a location has more calls, or fewer
constexpr std::size_t kMessages = 7;

void put_rows(SegmentBytes& all, const replay::MessageRows& rows) {
    for (const auto& column : rows.ids) {
        all.put_all(column);
    }
    all.put_all(rows.bytes);
    all.put_all(rows.recv_bytes);
    all.put_all(rows.rendezvous);
    all.put_all(rows.locality);
    all.put_all(rows.clock_violation);
    for (const auto& column : rows.times) {
        all.put_all(column);
    }
}

void put_rows(SegmentBytes& all, const replay::CallRows& rows) {
    all.put_all(rows.call);
    all.put_all(rows.location);
    all.put_all(rows.region);
    all.put_all(rows.callpath);
    all.put_all(rows.enter);
    all.put_all(rows.leave);
    for (const auto& column : rows.exposed) {
        all.put_all(column);
    }
}

/// The tables of messages and calls, batch by batch.
struct Rows {
    SegmentBytes messages;
    SegmentBytes calls;

    [[nodiscard]] std::string bytes() const { return messages.bytes() + calls.bytes(); }
};

Rows rows_of(replay::Analysis& analysis) {
    Rows all;
    for (replay::MessageRows rows; analysis.next_messages(kMessages, rows);) {
        put_rows(all.messages, rows);
    }
    for (std::size_t block = 0; block < analysis.call_blocks(); ++block) {
        for (replay::CallRows rows; analysis.next_calls(block, kRows, rows);) {
            put_rows(all.calls, rows);
        }
    }
    return all;
}

/// Of all parts, which are written.
Rows rows_of_parts(const Shards& shards) {
    Rows all;
    for (std::uint32_t part = 0; part < shards.blocks; ++part) {
        const auto table = TablePart::begin(shards, part, kMessages);
        for (replay::MessageRows rows; table->next_messages(rows);) {
            put_rows(all.messages, rows);
        }
        for (replay::CallRows rows; table->next_calls(kRows, rows);) {
            put_rows(all.calls, rows);
        }
        table->finish({.said = "said", .rows = "messages"}, {.said = "", .rows = "calls"});
        EXPECT_EQ(TablePart::begin(shards, part, kMessages), nullptr);
        EXPECT_EQ(written_table(shards, part, TableOfRows::messages).said, "said");
        const auto calls = written_table(shards, part, TableOfRows::calls);
        EXPECT_EQ(std::string(calls.rows.begin(), calls.rows.end()), "calls");
    }
    return all;
}

/// Likewise what an analysis has of calls and of what they waited for.
std::string bytes_of_calls(replay::Analysis& analysis) {
    SegmentBytes all;
    for (const auto& pairs : analysis.pairs()) {
        all.put_all(pairs);
    }
    for (std::size_t item = 0; item < analysis.accounted().size(); ++item) {
        all.put_mapped(analysis.accounts()[item]);
        all.put_all(analysis.callpaths(item));
    }
    const auto cells = analysis.time_cells();
    all.put_all(cells.cell);
    all.put_all(cells.exposed);
    all.put_all(analysis.path());
    all.put_all(analysis.delays());
    all.put_all(analysis.wait_states());
    return all.bytes();
}

/// Ranks of an archive whose definitions do not say it: each on a separate node, or on sockets of one.
void place(replay::Program& program, bool apart) {
    for (std::size_t l = 0; l < program.placement.size(); ++l) {
        program.placement[l].node = apart ? static_cast<std::int32_t>(l) : 0;
        program.placement[l].socket = static_cast<std::int32_t>(l % 2);
    }
}

struct Replayed {
    int blocks = 0;      // programs whose blocks replayed their messages
    int handshakes = 0;  // of these, programs with some
    int shown = 0;       // of these, programs that show progress without processors
    int rounds = 0;      // of these, programs that needed further rounds
    int operations = 0;  // kinds of collective operations
    int accounted = 0;   // programs whose blocks accounted their calls
    int controls = 0;    // of these, programs with work for handshakes
};

/// An archive's messages, replayed by one process and as blocks, whose files are in a folder. `seed`: for errors, and
/// whether ranks are on separate nodes.
void replay_as_blocks(const std::filesystem::path& archive, const std::filesystem::path& folder,
                      const replay::Parameters& parameters, std::uint64_t seed, std::uint32_t blocks, Replayed& count) {
    const Shards shards{folder, blocks, 7, 8};
    std::filesystem::create_directory(shards.folder);
    ReadOptions options{.threads = 1, .shards = &shards};
    try {
        join(archive, shards);
        auto trace = read_program(find_anchor(archive), options, ClockMode::offsets);
        place(trace.program, seed % 2 == 0);
        const auto task_of_blocks = [&](const char* stage) {
            for (auto block = blocks; block-- > 0;) {
                EXPECT_TRUE(run_task(archive, shards, stage, block, options));
                EXPECT_FALSE(run_task(archive, shards, stage, block, options));
            }
        };
        task_of_blocks("meet");
        choose_split(trace, parameters, "machine", shards);
        EXPECT_EQ(chosen_machine(shards), "machine");
        task_of_blocks("operate");
        for (int round = 1; round <= replay::MessageModel::kRounds; ++round) {
            for (auto block = blocks; block-- > 0;) {
                leave_block(shards, round, block);
            }
            for (std::uint32_t block = 0; block < blocks; ++block) {
                reply_block(shards, round, block);
            }
        }
        EXPECT_TRUE(run_task(archive, shards, "wait", 0, options));
        EXPECT_FALSE(run_task(archive, shards, "wait", 0, options));
        for (auto block = blocks; block-- > 0;) {
            EXPECT_TRUE(run_task(archive, shards, "account", block, options));
        }
        const auto written = tables_are_written(shards) ? rows_of_parts(shards) : Rows{};
        const auto& program = trace.program;
        const replay::CollectiveWaits waits(program);
        replay::CollectiveSplit divided(program, parameters, waits, 1);
        const auto windows = replay::windows_of(program);
        replay::MessageModel whole(program, parameters, windows, {}, 1, divided.take_nic_uses());
        const auto found = replayed_blocks(trace, shards);
        if (found == nullptr) {
            return;
        }
        replay::MessageModel gathered(program, parameters, windows, {}, 1, found->messages);
        const replay::CollectiveSplit taken(program, parameters, waits, 1, &found->operations);
        EXPECT_EQ(bytes_of(taken, program) == bytes_of(divided, program), true)
            << "seed " << seed << ", " << blocks << " blocks";
        count.operations += static_cast<int>(divided.kinds().size());
        EXPECT_EQ(bytes_of(gathered) == bytes_of(whole), true) << "seed " << seed << ", " << blocks << " blocks";
        replay::Analysis alone(program, parameters, {}, 1);
        replay::Analysis together(program, parameters, 1, found_causes(trace, shards), found);
        const auto rows = tables_are_written(shards) ? written : rows_of(together);
        EXPECT_EQ(rows.bytes() == rows_of(alone).bytes(), true) << "seed " << seed << ", " << blocks << " blocks";
        EXPECT_EQ(bytes_of_calls(together) == bytes_of_calls(alone), true)
            << "seed " << seed << ", " << blocks << " blocks";
        const bool accounted = !found->accounts.empty();
        count.accounted += accounted ? 1 : 0;
        count.controls += accounted && whole.attendance().handshakes > 0 && !whole.asynchronous_progress() ? 1 : 0;
        ++count.blocks;
        count.handshakes += whole.attendance().handshakes > 0 ? 1 : 0;
        count.shown += whole.asynchronous_progress() && !parameters.asynchronous_progress ? 1 : 0;
        count.rounds += std::filesystem::exists(shards.folder / "left2-0") ? 1 : 0;
    } catch (const ArchiveError&) {
        return;
    }
}

void replay_as_blocks(std::uint64_t seed, bool one_sided, std::uint32_t blocks, Replayed& count) {
    const tests::ScratchDirectory scratch;
    const auto archive = scratch.path() / "archive";
    tests::RandomArchive random(seed);
    random.one_sided = one_sided;
    random.write(archive);
    auto parameters = tests::machine(random);
    parameters.asynchronous_progress = parameters.asynchronous_progress && seed % 4 == 0;
    replay_as_blocks(archive, scratch.path() / "blocks", parameters, seed, blocks, count);
}

/// One call of rank 0 sends data with gaps to rank 1, which sends some back, and then data to rank 2. How long rank 0
/// works for the first message depends on rank 1, which exchanges nothing with rank 2.
TEST(Blocks, KnowTheExchangesOfTheirSendersOtherReceivers) {
    const tests::ScratchDirectory scratch;
    tests::ArchiveBuilder archive(scratch.path() / "archive");
    const auto isend = archive.region("MPI_Startall");
    const auto irecv = archive.region("MPI_Irecv");
    const auto waitall = archive.region("MPI_Waitall");
    archive.world(3);
    const auto attribute = archive.attribute("logpost:layout", OTF2_TYPE_STRING);
    const auto layout = archive.text("blocks=3 block_bytes=17 stride_bytes=64 extent_bytes=145");
    const auto rank = [&](std::uint64_t self, const std::vector<std::uint32_t>& to,
                          const std::vector<std::uint32_t>& from) {
        archive.events(self, [&](tests::Events& e) {
            OTF2_AttributeList* list = OTF2_AttributeList_New();
            std::uint64_t request = 0;
            e.enter(0, irecv);
            for (std::size_t i = 0; i < from.size(); ++i) {
                e.irecv_request(1, request++);
            }
            e.leave(5, irecv).enter(5, isend);
            for (const auto peer : to) {
                OTF2_AttributeList_AddStringRef(list, attribute, layout);
                e.isend(6, peer, 0, 1, 51, request++, list);
            }
            e.leave(100, isend).enter(100, waitall);
            request = 0;
            for (const auto peer : from) {
                e.irecv(480, peer, 0, 1, 51, request++);
            }
            for (std::size_t i = 0; i < to.size(); ++i) {
                e.isend_complete(490, request++);
            }
            e.leave(500, waitall);
            OTF2_AttributeList_Delete(list);
        });
    };
    rank(0, {1, 2}, {1});
    rank(1, {0}, {0});
    rank(2, {}, {0});
    archive.finish();
    replay::Parameters parameters;
    for (auto& locality : parameters.localities) {
        locality.ranges = {{.up_to_bytes = UINT64_MAX, .L = 1e3, .o_s = 2e3, .o_r = 1e3, .g = 1e3, .G = 1}};
    }
    const auto of = [](double l_mw) {
        return replay::middleware_tables(
            {.tables = {}, .alone = {{.bytes = 51, .block_bytes = 17, .stride_bytes = 64, .l_mw = l_mw}}});
    };
    parameters.middleware = of(10e3);
    parameters.middleware_self = of(200e3);
    Replayed count;
    for (const std::uint32_t blocks : {1U, 3U}) {
        replay_as_blocks(scratch.path() / "archive", scratch.path() / std::to_string(blocks), parameters, 2, blocks,
                         count);
    }
    EXPECT_EQ(count.accounted, 2);
}

TEST(Blocks, ReplayTheMessagesOfOneProcess) {
    constexpr std::uint64_t kArchives = 40;
    Replayed count;
    for (std::uint64_t seed = 1040; seed < 1040 + kArchives; ++seed) {
        for (const std::uint32_t blocks : {1U, 2U, 7U}) {
            replay_as_blocks(seed, true, blocks, count);
        }
        replay_as_blocks(seed, false, static_cast<std::uint32_t>(1 + seed % 7), count);
    }
    EXPECT_GT(count.blocks, static_cast<int>(kArchives));
    EXPECT_GT(count.handshakes, 20);
    EXPECT_GT(count.rounds, 10);
    EXPECT_GT(count.shown, 0);
    EXPECT_GT(count.operations, 20);
    EXPECT_GT(count.accounted, 30);
    EXPECT_GT(count.controls, 10);
}

/// The ranks of each of two blocks of an archive. Its ranks, the later the more events, are on these nodes.
std::vector<std::vector<int>> ranks_of_blocks(const std::vector<std::string>& nodes) {
    const tests::ScratchDirectory scratch;
    tests::ArchiveBuilder archive(scratch.path() / "archive");
    const auto region = archive.region("MPI_Comm_rank");
    std::vector<std::uint64_t> ranks;
    for (std::uint64_t rank = 0; rank < nodes.size(); ++rank) {
        archive.location(rank, nodes[rank]);
        ranks.push_back(rank);
        archive.events(rank, [&](tests::Events& events) {
            for (std::uint64_t i = 0; i <= 10 * rank; ++i) {
                events.enter(2 * i, region).leave(2 * i + 1, region);
            }
        });
    }
    archive.numbering(OTF2_PARADIGM_MPI, ranks);
    archive.communicator(ranks, 0, "MPI_COMM_WORLD");
    const auto anchor = archive.finish();
    const Shards shards{scratch.path(), 2, 7, 8};
    std::vector<std::vector<int>> found;
    for (std::uint32_t block = 0; block < 2; ++block) {
        decode_block(anchor, shards, block, {.threads = 1});
        const auto common = Common::get(SegmentReader(file_of(shards, "decoded", block), shards.plan).segment(kCommon));
        auto& mine = found.emplace_back();
        for (const auto location : common.locations) {
            mine.push_back(replay::number(location));
        }
    }
    return found;
}

TEST(Blocks, BeginAtNodes) {
    using Ranks = std::vector<std::vector<int>>;
    EXPECT_EQ(ranks_of_blocks({"a", "a", "a", "b", "b", "b"}), (Ranks{{0, 1, 2}, {3, 4, 5}}));
    // One node, and nodes whose ranks do not follow each other: of about as many events.
    EXPECT_EQ(ranks_of_blocks({"a", "a", "a", "a", "a", "a"}), (Ranks{{0, 1, 2, 3}, {4, 5}}));
    EXPECT_EQ(ranks_of_blocks({"a", "b", "c", "a", "b", "c"}), (Ranks{{0, 1, 2, 3}, {4, 5}}));
    EXPECT_EQ(ranks_of_blocks({"a", "b", "b", "b", "b", "c"}), (Ranks{{0, 1, 2, 3, 4}, {5}}));
    EXPECT_EQ(ranks_of_blocks({"a", "b", "b", "b", "b", "b"}), (Ranks{{0}, {1, 2, 3, 4, 5}}));
}

}  // namespace
}  // namespace logpost::analyzer
