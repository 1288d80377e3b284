// Whole archives, written in code and read back. One tick is 1000 ps; times in the comments are ticks.
#include "read.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "archive_builder.hpp"
#include "definitions.hpp"
#include "quality.hpp"

namespace logpost::analyzer {
namespace {

using tests::ArchiveBuilder;
using tests::Events;
using tests::ScratchDirectory;

std::uint64_t counted(const Trace& trace, Quality what) {
    return trace.quality[static_cast<std::size_t>(what)];
}

/// The sum of all counters but those of the list.
std::uint64_t counted_besides(const Trace& trace, std::initializer_list<Quality> expected) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < trace.quality.size(); ++i) {
        if (std::find(expected.begin(), expected.end(), static_cast<Quality>(i)) == expected.end()) {
            sum += trace.quality[i];
        }
    }
    return sum;
}

const ProfileRow* profile_of(const Trace& trace, std::size_t location, const std::string& path) {
    for (const auto& row : trace.traces[location].profile) {
        std::string name;
        for (auto at = row.callpath; at != kUndefined; at = trace.callpaths[static_cast<std::size_t>(at)].parent) {
            const auto region = trace.callpaths[static_cast<std::size_t>(at)].region;
            const auto& above = trace.regions[static_cast<std::size_t>(region)].name;
            name = name.empty() ? above : std::string(above).append("/").append(name);
        }
        if (name == path) {
            return &row;
        }
    }
    return nullptr;
}

class Reader : public ::testing::Test {
  protected:
    ScratchDirectory scratch;
    ArchiveBuilder archive{scratch.path() / "a"};
    Trace read(unsigned threads = 1) {
        ReadOptions options;
        options.threads = threads;
        return read_archive(archive.finish(), options);
    }
};

TEST_F(Reader, KeepsCallsAndMessagesAndFoldsTheRest) {
    const auto main = archive.region("main", OTF2_PARADIGM_USER);
    const auto work = archive.region("work", OTF2_PARADIGM_USER);
    const auto send = archive.region("MPI_Send");
    const auto recv = archive.region("MPI_Recv");
    archive.world(2);
    archive.events(0, [&](Events& e) {
        e.enter(100, main).enter(110, work).leave(130, work).enter(140, work);
        e.enter(145, send).send(146, 1, 0, 7, 64).leave(150, send);
        e.leave(160, work).leave(200, main);
    });
    archive.events(1, [&](Events& e) {
        e.enter(100, main).enter(120, recv).recv(155, 0, 0, 7, 64).leave(156, recv).leave(190, main);
    });
    const auto trace = read();

    EXPECT_EQ(counted_besides(trace, {}), 0U);
    EXPECT_EQ(trace.length_ps, 100'000);  // 100 .. 200
    ASSERT_EQ(trace.traces[0].calls.size(), 1U);
    const auto& call = trace.traces[0].calls[0];
    EXPECT_EQ(call.enter_ps, 45'000);  // time 0 is the earliest event: 145 − 100
    EXPECT_EQ(call.leave_ps, 50'000);
    EXPECT_EQ(trace.regions[static_cast<std::size_t>(call.region)].name, "MPI_Send");
    ASSERT_EQ(trace.traces[0].sends.size(), 1U);
    const auto& end = trace.traces[0].sends[0];
    EXPECT_EQ(end.peer, 1);
    EXPECT_EQ(end.tag, 7);
    EXPECT_EQ(end.bytes, 64U);
    EXPECT_EQ(end.complete_call, end.call);
    EXPECT_EQ(end.match, 0U);
    EXPECT_EQ(trace.traces[1].receives[0].match, 0U);
    EXPECT_EQ(trace.traces[0].communication_events, 3U);
    EXPECT_EQ(trace.traces[0].events, 9U);

    const auto* row = profile_of(trace, 0, "main/work");
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->visits, 2U);
    EXPECT_EQ(row->inclusive_ps, 40'000);                           // 20 + 20
    EXPECT_EQ(row->exclusive_ps, 35'000);                           // without the 5 of MPI_Send
    EXPECT_EQ(profile_of(trace, 0, "main")->exclusive_ps, 60'000);  // 100 − 40
    EXPECT_EQ(profile_of(trace, 0, "main/work/MPI_Send")->visits, 1U);
    EXPECT_EQ(trace.callpaths[static_cast<std::size_t>(call.callpath)].region, call.region);
}

TEST_F(Reader, NonblockingMessagesEndWhereTheirRequestsComplete) {
    const auto isend = archive.region("MPI_Isend");
    const auto irecv = archive.region("MPI_Irecv");
    const auto waitall = archive.region("MPI_Waitall");
    archive.world(2);
    archive.events(0, [&](Events& e) {
        e.enter(0, isend).isend(1, 1, 0, 1, 10, 77).leave(2, isend);
        e.enter(3, isend).isend(4, 1, 0, 1, 20, 78).leave(5, isend);
        e.enter(6, waitall).isend_complete(7, 78).isend_complete(8, 77).leave(9, waitall);
        // The id is used again.
        e.enter(10, isend).isend(11, 1, 0, 1, 30, 77).leave(12, isend);
        e.enter(13, waitall).isend_complete(14, 77).leave(15, waitall);
    });
    archive.events(1, [&](Events& e) {
        e.enter(0, irecv).irecv_request(1, 5).leave(2, irecv);
        e.enter(3, irecv).irecv_request(4, 6).leave(5, irecv);
        e.enter(6, irecv).irecv_request(7, 7).leave(8, irecv);
        // They complete in another order than they were asked for.
        e.enter(20, waitall).irecv(21, 0, 0, 1, 30, 7).irecv(22, 0, 0, 1, 10, 5).irecv(23, 0, 0, 1, 20, 6);
        e.request_test(24, 99).leave(25, waitall);
    });
    const auto trace = read();
    EXPECT_EQ(counted_besides(trace, {}), 0U);
    const auto& sends = trace.traces[0].sends;
    EXPECT_EQ(sends[0].complete_call, 2U);
    EXPECT_EQ(sends[1].complete_call, 2U);
    EXPECT_EQ(sends[2].complete_call, 4U);
    const auto& receives = trace.traces[1].receives;
    ASSERT_EQ(receives.size(), 3U);
    for (std::uint32_t i = 0; i < 3; ++i) {
        EXPECT_EQ(receives[i].call, i);
        EXPECT_EQ(receives[i].complete_call, 3U);
        EXPECT_EQ(receives[i].bytes, 10 * (i + 1));
        EXPECT_EQ(receives[i].match, i);  // requests match in their order, not in that of completion
    }
}

TEST_F(Reader, CancelledRequestsAreLeftOutAndCounted) {
    const auto isend = archive.region("MPI_Isend");
    const auto irecv = archive.region("MPI_Irecv");
    const auto wait = archive.region("MPI_Wait");
    archive.world(2);
    archive.events(0, [&](Events& e) {
        e.enter(0, isend).isend(1, 1, 0, 1, 10, 1).leave(2, isend);
        e.enter(3, isend).isend(4, 1, 0, 1, 20, 2).leave(5, isend);
        e.enter(6, wait).cancelled(7, 1).leave(8, wait);
        e.enter(9, wait).isend_complete(10, 2).leave(11, wait);
    });
    archive.events(1, [&](Events& e) {
        e.enter(0, irecv).irecv_request(1, 1).leave(2, irecv);
        e.enter(3, irecv).irecv_request(4, 2).leave(5, irecv);
        e.enter(6, wait).cancelled(7, 1).leave(8, wait);
        e.enter(9, wait).irecv(20, 0, 0, 1, 20, 2).leave(21, wait);
        e.enter(22, wait).cancelled(23, 2).leave(24, wait);  // no longer pending
    });
    const auto trace = read();
    EXPECT_EQ(counted(trace, Quality::request_cancelled), 2U);
    EXPECT_EQ(counted(trace, Quality::request_unknown), 1U);
    ASSERT_EQ(trace.traces[0].sends.size(), 1U);
    EXPECT_EQ(trace.traces[0].sends[0].bytes, 20U);
    ASSERT_EQ(trace.traces[1].receives.size(), 1U);
    EXPECT_EQ(trace.traces[1].receives[0].match, 0U);
    EXPECT_EQ(trace.traces[1].receives[0].call, 1U);
}

TEST_F(Reader, RequestsWithoutEndOrBeginningAreCounted) {
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
    EXPECT_EQ(counted(trace, Quality::receive_unmatched), 3U);
    ASSERT_EQ(trace.traces[0].receives.size(), 3U);
    EXPECT_EQ(trace.traces[0].receives[0].complete_call, kNone);
    EXPECT_EQ(trace.traces[0].receives[0].comm, kUndefined);
    EXPECT_EQ(trace.traces[0].receives[2].call, 2U);  // placed where it completed
    EXPECT_EQ(trace.traces[0].receives[2].peer, 1);
}

TEST_F(Reader, RecordsOutsideOfAnyCallGetOneOfNoDuration) {
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
    EXPECT_EQ(trace.regions.at(static_cast<std::size_t>(call.region)).name, "(communication outside of any call)");
    EXPECT_EQ(trace.traces[0].sends[0].match, 0U);
    EXPECT_EQ(trace.traces[0].communication_events, 1U);
}

TEST_F(Reader, NestedCommunicationBelongsToTheOutermostCall) {
    const auto file = archive.region("MPI_File_open");
    const auto bcast = archive.region("MPI_Bcast");
    archive.world(1);
    archive.events(0, [&](Events& e) {
        e.enter(0, file)
            .enter(1, bcast)
            .collective(1, 3, OTF2_COLLECTIVE_OP_BCAST, 0, 0)
            .leave(4, bcast)
            .leave(9, file);
    });
    const auto trace = read();
    EXPECT_EQ(counted(trace, Quality::nested_communication), 1U);
    ASSERT_EQ(trace.traces[0].calls.size(), 1U);
    EXPECT_EQ(trace.traces[0].calls[0].leave_ps, 9'000);
    ASSERT_EQ(trace.traces[0].collectives.size(), 1U);
    EXPECT_EQ(trace.traces[0].collectives[0].begin_ps, 0);
    EXPECT_EQ(trace.traces[0].collectives[0].end_ps, 3'000);
    EXPECT_EQ(profile_of(trace, 0, "MPI_File_open/MPI_Bcast")->inclusive_ps, 3'000);
}

TEST_F(Reader, MisNestedLeavesAndOpenRegionsStillAddUp) {
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

TEST_F(Reader, UndefinedReferencesAreCountedAndHarmless) {
    const auto send = archive.region("MPI_Send");
    archive.world(2);
    archive.events(0, [&](Events& e) {
        e.enter(0, 4711).leave(1, 4711);                       // nobody defined region 4711
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

TEST_F(Reader, TimesThatRunBackwardsAreHeldAtTheLastOne) {
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

TEST_F(Reader, AppliesTheClockOffsetsOfEachLocation) {
    const auto send = archive.region("MPI_Send");
    const auto recv = archive.region("MPI_Recv");
    archive.world(2);
    archive.global_offset = (1ULL << 60) + 1000;
    const std::uint64_t far = 1ULL << 60;  // location 0 counts from here, location 1 from 0
    archive.local(0, {{far, 0}});
    archive.local(1, {{0, static_cast<std::int64_t>(far)}, {100000, static_cast<std::int64_t>(far)}});
    archive.events(0,
                   [&](Events& e) { e.enter(far + 1000, send).send(far + 1001, 1, 0, 1, 8).leave(far + 1002, send); });
    archive.events(1, [&](Events& e) { e.enter(900, recv).recv(1005, 0, 0, 1, 8).leave(1006, recv); });
    const auto trace = read();
    EXPECT_EQ(counted_besides(trace, {}), 0U);
    EXPECT_EQ(trace.traces[1].calls[0].enter_ps, 0);        // the earliest event of all
    EXPECT_EQ(trace.traces[0].calls[0].enter_ps, 100'000);  // 1000 − 900
    EXPECT_EQ(trace.traces[1].calls[0].leave_ps, 106'000);
    EXPECT_EQ(trace.length_ps, 106'000);
}

TEST_F(Reader, IdsMayBeHugeAndInAnyOrder) {
    const auto recv = archive.region("MPI_Recv", OTF2_PARADIGM_MPI, 1'600'000'000);
    const auto send = archive.region("MPI_Send", OTF2_PARADIGM_MPI, 3);
    archive.location(1'600'000'001);
    archive.location(17);
    archive.numbering(OTF2_PARADIGM_MPI, {17, 1'600'000'001});
    const auto comm = archive.communicator({0, 1}, 1'500'000'000);
    archive.events(17, [&](Events& e) { e.enter(0, send).send(1, 1, comm, 2, 8).leave(2, send); });
    archive.events(1'600'000'001, [&](Events& e) { e.enter(0, recv).recv(3, 0, comm, 2, 8).leave(4, recv); });
    const auto trace = read();
    EXPECT_EQ(counted_besides(trace, {}), 0U);
    EXPECT_EQ(trace.locations[0].ref, 1'600'000'001U);
    EXPECT_EQ(trace.locations[0].rank, 1);
    EXPECT_EQ(trace.locations[1].rank, 0);
    EXPECT_EQ(trace.traces[1].sends[0].peer, 0);
    EXPECT_EQ(trace.traces[1].sends[0].match, 0U);
}

TEST_F(Reader, MapsLocalIdsToGlobalOnes) {
    const auto send = archive.region("MPI_Send");
    const auto recv = archive.region("MPI_Recv");
    archive.world(2);
    archive.communicator({1, 0}, 8);
    archive.local(0, {}, {{0, recv}, {1, send}});        // the other way round
    archive.local(1, {}, {{40, 8}}, OTF2_MAPPING_COMM);  // its communicator 40 is communicator 8
    archive.events(0, [&](Events& e) { e.enter(0, 1).send(1, 0, 8, 2, 8).leave(2, 1); });
    archive.events(1, [&](Events& e) { e.enter(0, recv).recv(3, 1, 40, 2, 8).leave(4, recv); });
    const auto trace = read();
    EXPECT_EQ(counted_besides(trace, {}), 0U);
    EXPECT_EQ(trace.regions[static_cast<std::size_t>(trace.traces[0].calls[0].region)].name, "MPI_Send");
    EXPECT_EQ(trace.traces[1].receives[0].match, 0U);
}

TEST_F(Reader, CommunicatorsOfEveryShape) {
    const auto region = archive.region("MPI_Sendrecv");
    archive.world(3);
    const auto self = archive.self_communicator(1);
    const auto alone = archive.communicator({2}, 2);
    const auto inter = archive.inter_communicator({0}, {1, 2}, 3);
    const auto empty = archive.communicator({}, 4);
    archive.numbering(OTF2_PARADIGM_MPI, {0, 1, 2});  // a second time
    archive.numbering(OTF2_PARADIGM_CUDA, {2, 1});    // another paradigm's numbering
    archive.communicator_of_group(archive.group(OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_CUDA, {0}), 5);
    archive.communicator({0, 7}, 6);  // rank 7 does not exist
    archive.events(0, [&](Events& e) {
        e.enter(0, region).send(1, 0, self, 1, 8).recv(2, 0, self, 1, 8);
        e.send(3, 1, inter, 1, 8).leave(4, region);  // to rank 1 of the other group: location 2
    });
    archive.events(1, [&](Events& e) { e.enter(0, region).leave(1, region); });
    archive.events(2, [&](Events& e) {
        e.enter(0, region).send(1, 0, alone, 1, 8).recv(2, 0, alone, 1, 8).recv(5, 0, inter, 1, 8).leave(6, region);
        e.enter(7, region).collective(7, 8, OTF2_COLLECTIVE_OP_BARRIER, self).leave(9, region);
    });
    const auto trace = read();
    EXPECT_EQ(counted(trace, Quality::duplicate_group), 1U);
    EXPECT_EQ(counted(trace, Quality::empty_communicator), 1U);
    EXPECT_EQ(counted(trace, Quality::undefined_member), 1U);
    EXPECT_EQ(
        counted_besides(trace, {Quality::duplicate_group, Quality::empty_communicator, Quality::undefined_member}), 0U);
    EXPECT_TRUE(trace.communicators[1].is_self);
    EXPECT_EQ(trace.communicators[3].remote_locations, (std::vector<std::int32_t>{1, 2}));
    EXPECT_TRUE(trace.communicators[empty].locations.empty());
    EXPECT_EQ(trace.communicators[5].locations, (std::vector<std::int32_t>{2}));
    EXPECT_EQ(trace.communicators[6].locations, (std::vector<std::int32_t>{0, kUndefined}));
    EXPECT_EQ(trace.traces[0].sends[1].peer, 2);
    EXPECT_EQ(trace.traces[2].receives[1].peer, 0);
    EXPECT_NE(trace.traces[2].collectives[0].instance, kNone);
}

TEST_F(Reader, NonblockingCollectivesBeginAtTheirRequest) {
    const auto iallreduce = archive.region("MPI_Iallreduce");
    const auto wait = archive.region("MPI_Wait");
    archive.world(2);
    for (std::uint64_t l = 0; l < 2; ++l) {
        archive.events(l, [&](Events& e) {
            e.enter(0, iallreduce).collective_request(1, 5).leave(2, iallreduce);
            e.enter(10, wait).collective_complete(12, OTF2_COLLECTIVE_OP_ALLREDUCE, 0, 5).leave(13, wait);
            e.enter(20, iallreduce).leave(21, iallreduce);  // as SST/macro writes them: no record at all
        });
    }
    const auto trace = read();
    EXPECT_EQ(counted(trace, Quality::collective_call_without_record), 2U);
    const auto& collective = trace.traces[1].collectives[0];
    EXPECT_EQ(collective.begin_ps, 0);
    EXPECT_EQ(collective.end_ps, 12'000);
    EXPECT_EQ(collective.call, 0U);
    EXPECT_EQ(collective.complete_call, 1U);
    EXPECT_EQ(collective.instance, 0U);
    EXPECT_EQ(trace.collective_instances, 1U);
}

TEST_F(Reader, SumsOneSidedTrafficAndLeavesDevicesOut) {
    const auto put = archive.region("MPI_Put");
    archive.world(2);
    archive.numbering(OTF2_PARADIGM_CUDA, {0, 1});
    const auto cuda =
        archive.communicator_of_group(archive.group(OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_CUDA, {0, 1}), 9);
    const auto window = archive.window(0, 4);
    const auto device = archive.window(cuda, 5);
    archive.events(0, [&](Events& e) {
        e.enter(0, put).put(1, window, 1, 100).get(2, window, 1, 30).put(3, device, 1, 4096).leave(4, put);
    });
    archive.events(1, [&](Events& e) { e.put(1, device, 0, 4096); });
    const auto trace = read();
    EXPECT_EQ(trace.traces[0].one_sided.puts, 1U);
    EXPECT_EQ(trace.traces[0].one_sided.put_bytes, 100U);
    EXPECT_EQ(trace.traces[0].one_sided.get_bytes, 30U);
    EXPECT_EQ(counted(trace, Quality::device_transfer), 2U);
    EXPECT_EQ(trace.traces[1].calls.size(), 0U);
}

TEST_F(Reader, CallingContextsAreRegions) {
    const auto main = archive.region("main", OTF2_PARADIGM_COMPILER);
    const auto barrier = archive.region("MPI_Barrier");
    archive.world(1);
    const auto in_main = archive.calling_context(main);
    const auto in_barrier = archive.calling_context(barrier);
    archive.events(0, [&](Events& e) {
        e.context_enter(0, in_main).context_enter(5, in_barrier).collective(5, 7, OTF2_COLLECTIVE_OP_BARRIER, 0);
        e.context_leave(8, in_barrier).context_leave(9, in_main);
    });
    const auto trace = read();
    EXPECT_EQ(counted_besides(trace, {}), 0U);
    ASSERT_EQ(trace.traces[0].calls.size(), 1U);
    EXPECT_EQ(profile_of(trace, 0, "main/MPI_Barrier")->inclusive_ps, 3'000);
}

TEST_F(Reader, ReadsLayoutsNodesCoresAndBindings) {
    const auto send = archive.region("MPI_Send");
    const auto recv = archive.region("MPI_Recv");
    archive.location(0, "alpha");
    archive.location(1, "beta");
    archive.numbering(OTF2_PARADIGM_MPI, {0, 1});
    archive.communicator({0, 1}, 0, "MPI_COMM_WORLD");
    archive.cores("beta", 96);
    archive.cpu_binding(1, "0-3");
    const auto attribute = archive.attribute("logpost:layout", OTF2_TYPE_STRING);
    const auto layout = archive.text("blocks=16 block_bytes=16 stride_bytes=64 extent_bytes=976");
    const auto nonsense = archive.text("blocks=many");
    archive.events(0, [&](Events& e) {
        OTF2_AttributeList* list = OTF2_AttributeList_New();
        e.enter(0, send).send(1, 1, 0, 1, 8).leave(2, send);
        OTF2_AttributeList_AddStringRef(list, attribute, layout);
        e.enter(3, send).send(4, 1, 0, 1, 256, list).leave(5, send);
        OTF2_AttributeList_AddStringRef(list, attribute, nonsense);
        e.enter(6, send).send(7, 1, 0, 1, 8, list).leave(8, send);
        OTF2_AttributeList_Delete(list);
    });
    archive.events(1, [&](Events& e) { e.enter(0, recv).leave(1, recv); });
    const auto trace = read();
    EXPECT_EQ(trace.nodes[static_cast<std::size_t>(trace.locations[1].node)].name, "beta");
    EXPECT_EQ(trace.nodes[static_cast<std::size_t>(trace.locations[1].node)].cores, 96);
    EXPECT_EQ(trace.nodes[static_cast<std::size_t>(trace.locations[0].node)].cores, 0);
    EXPECT_NE(trace.locations[0].node, trace.locations[1].node);
    EXPECT_EQ(trace.locations[1].cpu_binding, "0-3");
    ASSERT_EQ(trace.layouts.size(), 1U);
    EXPECT_EQ(trace.layouts[0].blocks, 16U);
    EXPECT_EQ(trace.layouts[0].block_bytes, 16U);
    EXPECT_EQ(trace.layouts[0].stride_bytes, 64);
    EXPECT_EQ(trace.layouts[0].extent_bytes, 976U);
    ASSERT_EQ(trace.traces[0].layouts.size(), 1U);
    EXPECT_EQ(trace.traces[0].layouts[0].send, 1U);
    EXPECT_EQ(counted(trace, Quality::layout_unreadable), 2U);  // the text once, its use once
}

TEST_F(Reader, DeclaredCountsMissingAndUnknownFilesAreNamed) {
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

TEST_F(Reader, ATruncatedEventFileKeepsWhatStoodBeforeTheDamage) {
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

TEST_F(Reader, WithoutItsLocalDefinitionsALocationIsNotRead) {
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

TEST_F(Reader, TheAnchorNeedNotBeCalledTracesAndMayBeItsDirectory) {
    ArchiveBuilder other(scratch.path() / "b", "run7");
    const auto a = other.region("a", OTF2_PARADIGM_USER);
    other.world(1);
    other.events(0, [&](Events& e) { e.enter(0, a).leave(1, a); });
    other.finish();
    EXPECT_EQ(read_archive(scratch.path() / "b").traces[0].events, 2U);
    EXPECT_EQ(find_anchor(scratch.path() / "b").filename(), "run7.otf2");
}

TEST_F(Reader, RefusesInOneLineWhatCannotBeRead) {
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
    EXPECT_NE(message_of(anchor).find("the global definitions are cut short"), std::string::npos);
    std::filesystem::copy_file(scratch.path() / "whole.def", definitions,
                               std::filesystem::copy_options::overwrite_existing);

    std::filesystem::remove_all(anchor.parent_path() / "traces");
    EXPECT_NE(message_of(anchor).find("none of the 2 event files is there"), std::string::npos);
    std::filesystem::remove(anchor.parent_path() / "traces.def");
    EXPECT_NE(message_of(anchor).find("global definitions cannot be opened"), std::string::npos);
    for (const auto& path : {scratch.path() / "x.otf2", anchor}) {
        EXPECT_EQ(message_of(path).find('\n'), std::string::npos);
    }
}

TEST_F(Reader, GivesTheSameTraceForAnyNumberOfThreads) {
    const auto main = archive.region("main", OTF2_PARADIGM_USER);
    const auto left = archive.region("left", OTF2_PARADIGM_USER);
    const auto right = archive.region("right", OTF2_PARADIGM_USER);
    const auto sendrecv = archive.region("MPI_Sendrecv");
    const auto barrier = archive.region("MPI_Barrier");
    constexpr std::uint32_t kRanks = 7;
    archive.world(kRanks);
    for (std::uint32_t l = 0; l < kRanks; ++l) {
        archive.events(l, [&](Events& e) {
            std::uint64_t t = std::uint64_t{10} * l;
            e.enter(t, main);
            for (std::uint32_t i = 0; i < 50 + 10 * l % 3; ++i, t += 12) {
                const auto side = (i + l) % 2 == 0 ? left : right;
                e.enter(t + 3, side).enter(t + 4, sendrecv).send(t + 5, (l + 1) % kRanks, 0, i % 4, 8);
                e.recv(t + 10, (l + kRanks - 1) % kRanks, 0, i % 4, 8).leave(t + 11, sendrecv).leave(t + 12, side);
            }
            e.enter(t + 1, barrier).collective(t + 1, t + 5, OTF2_COLLECTIVE_OP_BARRIER, 0).leave(t + 6, barrier);
            e.leave(t + 7, main);
        });
    }
    const auto expected = read(1);
    for (unsigned threads = 2; threads <= 8; ++threads) {
        const auto trace = read(threads);
        ASSERT_EQ(trace.quality, expected.quality);
        ASSERT_EQ(trace.callpaths.size(), expected.callpaths.size());
        for (std::size_t i = 0; i < trace.callpaths.size(); ++i) {
            ASSERT_EQ(trace.callpaths[i].parent, expected.callpaths[i].parent);
            ASSERT_EQ(trace.callpaths[i].region, expected.callpaths[i].region);
        }
        for (std::size_t l = 0; l < kRanks; ++l) {
            const auto& a = trace.traces[l];
            const auto& b = expected.traces[l];
            ASSERT_EQ(a.calls.size(), b.calls.size());
            a.calls.for_each([&](std::size_t i, const Call& call) {
                ASSERT_EQ(call.enter_ps, b.calls[i].enter_ps);
                ASSERT_EQ(call.leave_ps, b.calls[i].leave_ps);
                ASSERT_EQ(call.callpath, b.calls[i].callpath);
            });
            a.receives.for_each([&](std::size_t i, const Endpoint& end) {
                ASSERT_EQ(end.match, b.receives[i].match);
                ASSERT_EQ(end.peer, b.receives[i].peer);
            });
            ASSERT_EQ(a.profile.size(), b.profile.size());
            for (std::size_t i = 0; i < a.profile.size(); ++i) {
                ASSERT_EQ(a.profile[i].callpath, b.profile[i].callpath);
                ASSERT_EQ(a.profile[i].inclusive_ps, b.profile[i].inclusive_ps);
            }
        }
    }
}

TEST_F(Reader, ReportsProgressAndStopsWhenTold) {
    const auto a = archive.region("a", OTF2_PARADIGM_USER);
    archive.world(2);
    archive.events(0, [&](Events& e) { e.enter(0, a).leave(1, a); });
    archive.events(1, [&](Events& e) { e.enter(0, a).leave(1, a); });
    const auto anchor = archive.finish();
    std::atomic<std::uint64_t> read_so_far{0};
    std::atomic<std::uint64_t> declared{0};
    ReadOptions options;
    options.events_read = &read_so_far;
    options.declared_events = &declared;
    read_archive(anchor, options);
    EXPECT_EQ(read_so_far, 4U);
    EXPECT_EQ(declared, 4U);
    const std::atomic<bool> cancel{true};
    options.cancel = &cancel;
    EXPECT_THROW(read_archive(anchor, options), ArchiveError);
}

TEST_F(Reader, ThreadsOfAProcessCommunicateInItsName) {
    const auto send = archive.region("MPI_Send");
    const auto recv = archive.region("MPI_Recv");
    archive.location(0);
    archive.thread(100);
    archive.location(1);
    archive.numbering(OTF2_PARADIGM_MPI, {0, 1});
    archive.communicator({0, 1}, 0);
    archive.events(0, [&](Events& e) { e.enter(0, send).leave(1, send); });
    archive.events(100, [&](Events& e) { e.enter(0, send).send(1, 1, 0, 5, 8).leave(2, send); });
    archive.events(1, [&](Events& e) { e.enter(0, recv).recv(3, 0, 0, 5, 8).leave(4, recv); });
    const auto trace = read();
    EXPECT_EQ(counted_besides(trace, {}), 0U);
    EXPECT_EQ(trace.locations[1].rank, kUndefined);
    EXPECT_EQ(trace.locations[1].group, trace.locations[0].group);
    EXPECT_EQ(trace.traces[2].receives[0].peer, 1);  // the thread that sent, not its process's first location
    EXPECT_EQ(trace.traces[1].sends[0].match, 0U);
}

TEST(ParseLayout, UnderstandsWhatTheCollectorWritesAndNothingElse) {
    Layout layout;
    EXPECT_TRUE(parse_layout("blocks=2 block_bytes=8 stride_bytes=-32 extent_bytes=40", layout));
    EXPECT_EQ(layout.stride_bytes, -32);
    EXPECT_FALSE(parse_layout("blocks=-2", layout));
    EXPECT_FALSE(parse_layout("blocks", layout));
    EXPECT_FALSE(parse_layout("block_bytes=4", layout));
    EXPECT_FALSE(parse_layout("blocks=4x", layout));
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
