// Archives with something wrong in them: counted, named, or refused in one line. One tick is 1000 ps.
#include <fstream>

#include "reader_fixture.hpp"

namespace logpost::analyzer {
namespace {

using ReaderDamage = Reader;

TEST_F(ReaderDamage, RequestsWithoutEndOrBeginningAreCounted) {
    const auto irecv = archive.region("MPI_Irecv");
    const auto wait = archive.region("MPI_Wait");
    archive.world(2);
    archive.events(0, [&](Events& e) {
        e.enter(0, irecv).irecv_request(1, 1).leave(2, irecv);
        e.enter(3, irecv).irecv_request(4, 1).leave(5, irecv);  // id 1 is still pending
        e.enter(6, wait).irecv(7, 1, 0, 3, 8, 42).isend_complete(8, 43).leave(9, wait);
    });
    archive.events(1, [&](Events& e) { e.enter(0, wait).leave(1, wait); });
    const auto trace = read();
    EXPECT_EQ(counted(trace, Quality::request_reused), 1U);
    EXPECT_EQ(counted(trace, Quality::request_never_completed), 1U);
    EXPECT_EQ(counted(trace, Quality::request_unknown), 2U);
    EXPECT_EQ(counted(trace, Quality::receive_unmatched), 1U);  // the others never ended
    ASSERT_EQ(trace.traces[0].receives.size(), 3U);
    EXPECT_EQ(trace.traces[0].receives[0].complete_call, kNone);
    EXPECT_EQ(trace.traces[0].receives[0].comm, kUndefined);
    EXPECT_EQ(trace.traces[0].receives[2].call, 2U);  // placed where it completed
    EXPECT_EQ(trace.traces[0].receives[2].peer, replay::Location{1});
}

TEST_F(ReaderDamage, RecordsOutsideOfAnyCallGetOneOfNoDuration) {
    const auto main = archive.region("main", OTF2_PARADIGM_USER);
    const auto recv = archive.region("MPI_Recv");
    archive.world(2);
    archive.events(0, [&](Events& e) { e.enter(0, main).send(5, 1, 0, 1, 8).leave(10, main); });
    archive.events(1, [&](Events& e) { e.enter(0, recv).recv(7, 0, 0, 1, 8).leave(8, recv); });
    const auto trace = read();
    EXPECT_EQ(counted(trace, Quality::record_outside_call), 1U);
    ASSERT_EQ(trace.traces[0].calls.size(), 1U);
    const auto& call = trace.traces[0].calls[0];
    EXPECT_EQ(call.enter_ps, 5'000);
    EXPECT_EQ(call.leave_ps, 5'000);
    EXPECT_EQ(trace.regions.at(static_cast<std::size_t>(call.region)).name, "(communication outside any call)");
    EXPECT_EQ(trace.traces[0].sends[0].match, 0U);
    EXPECT_EQ(trace.traces[0].communication_events, 1U);
}

TEST_F(ReaderDamage, MisNestedLeavesAndOpenRegionsStillAddUp) {
    const auto a = archive.region("a", OTF2_PARADIGM_USER);
    const auto b = archive.region("b", OTF2_PARADIGM_USER);
    const auto barrier = archive.region("MPI_Barrier");
    archive.world(1);
    archive.events(0, [&](Events& e) {
        e.enter(0, a).enter(10, b).leave(20, a);                                  // closes b as well
        e.leave(25, b);                                                           // not open any more: ignored
        e.enter(30, a).enter(35, barrier).measurement(50, OTF2_MEASUREMENT_OFF);  // the end
    });
    const auto trace = read();
    EXPECT_EQ(counted(trace, Quality::leave_mis_nested), 1U);
    EXPECT_EQ(counted(trace, Quality::leave_without_enter), 1U);
    EXPECT_EQ(counted(trace, Quality::region_open_at_end), 2U);
    EXPECT_EQ(counted(trace, Quality::measurement_off), 1U);
    EXPECT_EQ(profile_of(trace, 0, "a/b")->inclusive_ps, 10'000);
    EXPECT_EQ(profile_of(trace, 0, "a")->visits, 2U);
    EXPECT_EQ(profile_of(trace, 0, "a")->inclusive_ps, 40'000);  // 0..20 and 30..50
    EXPECT_EQ(trace.traces[0].calls[0].leave_ps, 50'000);        // closed at the location's last event
}

// The record that did not fit in the buffer follows a flush, at the same time.
TEST_F(ReaderDamage, AFlushOutsideOfCallsIsACallOfItsOwn) {
    const auto a = archive.region("a", OTF2_PARADIGM_USER);
    const auto b = archive.region("b", OTF2_PARADIGM_USER);
    const auto barrier = archive.region("MPI_Barrier");
    archive.world(1);
    archive.events(0, [&](Events& e) {
        e.enter(0, a).flush(10, 50).enter(10, b).leave(60, b);          // in b, for 40
        e.flush(70, 90).enter(70, barrier).leave(100, barrier);         // in the barrier
        e.enter(110, barrier).flush(120, 150).leave(120, barrier);      // behind it, for 30
        e.flush(160, 160).flush(170, 180).enter(175, b).leave(190, b);  // none, and one that ends too late
        e.leave(200, a);
    });
    const auto trace = read();
    EXPECT_EQ(counted(trace, Quality::flush_in_call), 1U);
    EXPECT_EQ(counted_besides(trace, {Quality::flush_in_call, Quality::collective_call_without_record}), 0U);
    const auto& calls = trace.traces[0].calls;
    ASSERT_EQ(calls.size(), 4U);
    const auto lasts = [&](std::size_t call) { return std::pair(calls[call].enter_ps, calls[call].leave_ps); };
    EXPECT_EQ(lasts(0), std::pair(std::int64_t{10'000}, std::int64_t{50'000}));
    EXPECT_EQ(lasts(1), std::pair(std::int64_t{70'000}, std::int64_t{100'000}));
    EXPECT_EQ(lasts(2), std::pair(std::int64_t{110'000}, std::int64_t{120'000}));
    EXPECT_EQ(lasts(3), std::pair(std::int64_t{120'000}, std::int64_t{150'000}));
    EXPECT_EQ(trace.regions[static_cast<std::size_t>(calls[0].region)].name, "(trace buffer flush)");
    EXPECT_EQ(profile_of(trace, 0, "a/b/(trace buffer flush)")->inclusive_ps, 40'000);
    EXPECT_EQ(profile_of(trace, 0, "a/b")->exclusive_ps, 25'000);
    EXPECT_EQ(trace.traces[0].communication_events, 4U);
}

TEST_F(ReaderDamage, UndefinedReferencesAreCountedAndHarmless) {
    const auto send = archive.region("MPI_Send");
    archive.world(2);
    archive.events(0, [&](Events& e) {
        e.enter(0, 4711).leave(1, 4711);                       // there is no region 4711
        e.enter(2, send).send(3, 1, 99, 1, 8).leave(4, send);  // nor communicator 99
        e.enter(5, send).send(6, 17, 0, 1, 8).leave(7, send);  // nor has the world a rank 17
    });
    archive.events(1, [&](Events& e) { e.enter(0, send).leave(1, send); });
    const auto trace = read();
    EXPECT_EQ(counted(trace, Quality::undefined_region), 2U);
    EXPECT_EQ(counted(trace, Quality::undefined_communicator), 1U);
    EXPECT_EQ(counted(trace, Quality::undefined_peer), 1U);
    EXPECT_EQ(counted(trace, Quality::send_unmatched), 2U);
    ASSERT_NE(profile_of(trace, 0, "(undefined region)"), nullptr);
    EXPECT_EQ(trace.traces[0].sends[0].comm, kUndefined);
}

TEST_F(ReaderDamage, TimesThatRunBackwardsAreHeldAtTheLastOne) {
    const auto a = archive.region("a", OTF2_PARADIGM_USER);
    archive.world(2);
    // libotf2 writes a timestamp only where it grew, so the backward step comes from the clock offsets:
    // offset −(−0) falls by 20 between 10 and 20.
    archive.local(0, {{0, 0}, {10, 0}, {11, -20}, {100, -20}});
    archive.events(0, [&](Events& e) { e.enter(0, a).leave(10, a).enter(11, a).leave(50, a); });
    archive.events(1, [&](Events& e) { e.enter(0, a).leave(1, a); });
    const auto trace = read();
    EXPECT_EQ(counted(trace, Quality::time_backwards), 1U);
    EXPECT_EQ(profile_of(trace, 0, "a")->inclusive_ps, 30'000);  // 0..10 and 10..30
}

TEST_F(ReaderDamage, DeclaredCountsMissingAndUnknownFilesAreNamed) {
    const auto a = archive.region("a", OTF2_PARADIGM_USER);
    archive.location(0);
    archive.location(1, "n0", 2);     // declares 2, holds 4
    archive.location(2, "n0", 1000);  // its file will be gone
    archive.location(3);              // never had an event
    archive.numbering(OTF2_PARADIGM_MPI, {0, 1, 2, 3});
    for (const std::uint64_t l : {0U, 1U, 2U}) {
        archive.events(l, [&](Events& e) { e.enter(0, a).leave(1, a).enter(2, a).leave(3, a); });
    }
    archive.events(3, [&](Events&) {});
    const auto anchor = archive.finish();
    const auto events = anchor.parent_path() / "traces";
    std::filesystem::rename(events / "2.evt", events / "99.evt");
    std::ofstream(events / "notes.txt") << "not an event file";
    const auto trace = read_archive(anchor);
    EXPECT_EQ(counted(trace, Quality::event_count_differs), 1U);
    EXPECT_EQ(counted(trace, Quality::event_file_damaged), 0U);
    EXPECT_EQ(counted(trace, Quality::event_file_missing), 1U);
    EXPECT_EQ(counted(trace, Quality::event_file_not_defined), 1U);
    EXPECT_EQ(trace.traces[1].events, 4U);
    EXPECT_EQ(trace.traces[2].events, 0U);
    ASSERT_EQ(trace.quality_names_affected.size(), 2U);
    EXPECT_EQ(trace.quality_names_affected[0], "event_file_missing: " + (events / "2.evt").string());
    EXPECT_EQ(trace.quality_names_affected[1], "event_file_not_defined: " + (events / "99.evt").string());
}

TEST_F(ReaderDamage, ATruncatedEventFileKeepsWhatStoodBeforeTheDamage) {
    const auto send = archive.region("MPI_Send");
    archive.world(2);
    for (std::uint64_t l = 0; l < 2; ++l) {
        archive.events(l, [&](Events& e) {
            for (std::uint64_t t = 0; t < 300'000; t += 3) {
                e.enter(t, send).send(t + 1, 1 - static_cast<std::uint32_t>(l), 0, 1, 8).leave(t + 2, send);
            }
        });
    }
    const auto anchor = archive.finish();
    // Several chunks of 1 MiB; the last one is cut.
    const auto file = anchor.parent_path() / "traces" / "1.evt";
    ASSERT_GT(std::filesystem::file_size(file), 3U << 20U);
    std::filesystem::resize_file(file, (2U << 20U) + 4711);
    const auto trace = read_archive(anchor);
    EXPECT_EQ(counted(trace, Quality::event_file_damaged), 1U);
    EXPECT_EQ(trace.traces[0].events, 300'000U);
    EXPECT_GT(trace.traces[1].events, 50'000U);
    EXPECT_LT(trace.traces[1].events, 250'000U);
    EXPECT_GT(counted(trace, Quality::send_unmatched), 0U);
}

TEST_F(ReaderDamage, WithoutItsLocalDefinitionsALocationIsNotRead) {
    const auto a = archive.region("a", OTF2_PARADIGM_USER);
    archive.world(2);
    archive.local(1, {{0, 5}, {10, 6}}, {{7, a}});
    archive.events(0, [&](Events& e) { e.enter(0, a).leave(1, a); });
    archive.events(1, [&](Events& e) { e.enter(0, 7).leave(1, 7); });
    const auto anchor = archive.finish();
    const auto local = anchor.parent_path() / "traces" / "1.def";
    std::filesystem::resize_file(local, std::filesystem::file_size(local) - 3);
    const auto trace = read_archive(anchor);
    EXPECT_EQ(counted(trace, Quality::event_file_damaged), 1U);
    EXPECT_EQ(trace.traces[0].events, 2U);
    EXPECT_EQ(trace.traces[1].events, 0U);
    EXPECT_EQ(trace.quality_names_affected.at(0).substr(0, 37), "event_file_damaged: 1.evt: not read, ");
}

TEST_F(ReaderDamage, RefusesInOneLineWhatCannotBeRead) {
    const auto message_of = [](const std::filesystem::path& path) -> std::string {
        try {
            read_archive(path);
        } catch (const ArchiveError& error) {
            return error.what();
        }
        return "";
    };
    archive.world(2);
    archive.events(0, [](Events&) {});
    archive.events(1, [](Events&) {});
    const auto anchor = archive.finish();

    EXPECT_EQ(message_of("/nowhere/traces.otf2"), "/nowhere/traces.otf2: no such file or directory");
    EXPECT_NE(message_of(scratch.path()).find("no .otf2 file in this directory"), std::string::npos);
    std::ofstream(scratch.path() / "x.otf2") << "hello";
    EXPECT_NE(message_of(scratch.path() / "x.otf2").find("not a readable OTF2 anchor file"), std::string::npos);

    // Anchor file: 2 bytes of buffer header, "OTF2", 6 bytes of versions, then the size of an event chunk (8, little
    // endian).
    const auto change = [&](std::streamoff at, char value) {
        std::fstream file(anchor, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(at);
        file.put(value);
    };
    change(12 + 5, 1);  // 2^40 bytes more
    EXPECT_NE(message_of(anchor).find("states a chunk size of 1099512676352 bytes"), std::string::npos);
    change(12 + 5, 0);

    const auto definitions = anchor.parent_path() / "traces.def";
    const auto size = std::filesystem::file_size(definitions);
    std::filesystem::copy_file(definitions, scratch.path() / "whole.def");
    std::filesystem::resize_file(definitions, size / 2);  // libotf2 alone never comes back from this one
    EXPECT_NE(message_of(anchor).find("the global definitions are truncated"), std::string::npos);
    std::filesystem::copy_file(scratch.path() / "whole.def", definitions,
                               std::filesystem::copy_options::overwrite_existing);

    std::filesystem::remove_all(anchor.parent_path() / "traces");
    EXPECT_NE(message_of(anchor).find("none of the 2 event files exists"), std::string::npos);
    std::filesystem::remove(anchor.parent_path() / "traces.def");
    EXPECT_NE(message_of(anchor).find("global definitions cannot be opened"), std::string::npos);
    for (const auto& path : {scratch.path() / "x.otf2", anchor}) {
        EXPECT_EQ(message_of(path).find('\n'), std::string::npos);
    }
}

TEST(QualityTable, HasOneRowPerCounterInOrder) {
    for (std::size_t i = 0; i < kQualityCount; ++i) {
        EXPECT_EQ(static_cast<std::size_t>(kQuality[i].quality), i);
        EXPECT_FALSE(kQuality[i].name.empty());
        EXPECT_GT(kQuality[i].sentence.size(), 20U);
    }
}

}  // namespace
}  // namespace logpost::analyzer
