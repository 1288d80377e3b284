// Whole archives, written in code and read back: events. One tick is 1000 ps; times in the comments are ticks.
#include "reader_fixture.hpp"

namespace logpost::analyzer {
namespace {

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
    EXPECT_EQ(end.peer, replay::Location{1});
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
        // They complete in another order than they were posted.
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

TEST_F(Reader, WithoutRequestsTheEndOfASendAndThePostOfAReceiveStayOpen) {
    // As TAU records: a send in the call that began it, a receive in the one that completed it.
    const auto isend = archive.region("MPI_Isend()");
    const auto issend = archive.region("MPI_Issend()");
    const auto ssend = archive.region("MPI_Ssend()");
    const auto start = archive.region("MPI_Start()");
    const auto irecv = archive.region("MPI_Irecv()");
    const auto wait = archive.region("MPI_Wait()");
    const auto test = archive.region("MPI_Test()");
    const auto recv = archive.region("MPI_Recv()");
    archive.world(2);
    archive.events(0, [&](Events& e) {
        std::uint64_t t = 0;
        for (const auto region : {isend, issend, start, ssend}) {
            e.enter(t, region).send(t, 1, 0, region, 8).leave(t + 1, region);
            t += 2;
        }
        e.enter(t, wait).leave(t + 1, wait);
    });
    archive.events(1, [&](Events& e) {
        e.enter(0, irecv).leave(1, irecv);
        e.enter(15, wait).recv(16, 0, 0, isend, 8).leave(17, wait);
        e.enter(18, test).recv(18, 0, 0, issend, 8).leave(19, test);
        e.enter(19, recv).recv(19, 0, 0, start, 8).leave(20, recv);
        e.enter(20, recv).recv(21, 0, 0, ssend, 8).leave(21, recv);
    });
    const auto trace = read();
    EXPECT_EQ(counted(trace, Quality::send_end_not_recorded), 3U);
    EXPECT_EQ(counted(trace, Quality::receive_post_not_recorded), 2U);
    EXPECT_EQ(counted_besides(trace, {Quality::send_end_not_recorded, Quality::receive_post_not_recorded}), 0U);
    for (const auto i : {0U, 1U, 2U}) {
        EXPECT_EQ(trace.traces[0].sends[i].complete_call, kNone);
        EXPECT_EQ(trace.traces[0].sends[i].match, i);
    }
    EXPECT_EQ(trace.traces[0].sends[3].complete_call, 3U);
    EXPECT_EQ(trace.traces[1].receives[0].call, 1U);
    EXPECT_EQ(trace.traces[1].receives[0].complete_call, 1U);
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

TEST_F(Reader, ARequestMayEndOnAnotherThread) {
    const auto begin = archive.region("MPI_Irecv");
    const auto wait = archive.region("MPI_Wait");
    archive.location(0);
    archive.thread(100);
    archive.location(1);
    archive.thread(101);
    archive.numbering(OTF2_PARADIGM_MPI, {0, 1});
    archive.communicator({0, 1}, 0);
    // Process 0 sends under request 1, which its thread ends. Process 1 receives so, cancels another receive, and both
    // are in a barrier that the thread of process 1 ends.
    archive.events(0, [&](Events& e) {
        e.enter(0, begin).isend(1, 1, 0, 5, 8, 1).leave(2, begin);
        e.enter(3, begin).collective_request(4, 3).leave(5, begin);
        e.enter(6, wait).collective_complete(7, OTF2_COLLECTIVE_OP_BARRIER, 0, 3).leave(8, wait);
    });
    archive.events(100, [&](Events& e) { e.enter(3, wait).isend_complete(4, 1).leave(5, wait); });
    archive.events(1, [&](Events& e) {
        e.enter(0, begin).irecv_request(1, 7).leave(2, begin);
        e.enter(2, begin).irecv_request(3, 1).leave(4, begin);
        e.enter(4, begin).collective_request(5, 3).leave(6, begin);
    });
    archive.events(101, [&](Events& e) {
        e.enter(3, wait).cancelled(4, 7).leave(5, wait);
        e.enter(6, wait).irecv(8, 0, 0, 5, 8, 1).leave(9, wait);
        e.enter(10, wait).collective_complete(11, OTF2_COLLECTIVE_OP_BARRIER, 0, 3).leave(12, wait);
    });
    const auto trace = read();
    EXPECT_EQ(counted(trace, Quality::request_of_other_thread), 3U);
    EXPECT_EQ(counted(trace, Quality::request_cancelled), 1U);
    EXPECT_EQ(counted(trace, Quality::request_unknown), 0U);
    EXPECT_EQ(counted(trace, Quality::request_never_completed), 0U);
    EXPECT_EQ(counted(trace, Quality::receive_unmatched), 0U);
    EXPECT_EQ(trace.traces[0].sends[0].match, 0U);
    EXPECT_TRUE(trace.traces[2].receives.empty());
    EXPECT_EQ(trace.traces[3].receives[0].bytes, 8U);
    EXPECT_EQ(trace.traces[2].collectives[0].instance, trace.traces[0].collectives[0].instance);
    EXPECT_EQ(trace.traces[2].collectives[0].end_ps, 11'000);
    EXPECT_EQ(trace.traces[2].collectives[0].complete_call, kNone);
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

TEST_F(Reader, SamplesAreOfTheCodeBetweenCalls) {
    const auto main = archive.region("main", OTF2_PARADIGM_COMPILER);
    const auto relax = archive.region("relax", OTF2_PARADIGM_COMPILER);
    const auto barrier = archive.region("MPI_Barrier");
    archive.world(1);
    const auto in_main = archive.calling_context(main, archive.source_location("solve.c", 80));
    const auto in_relax = archive.calling_context(relax, archive.source_location("solve.c", 12), in_main);
    const auto periods = archive.attribute("logpost:periods", OTF2_TYPE_UINT32);
    archive.events(0, [&](Events& e) {
        OTF2_AttributeList* list = OTF2_AttributeList_New();
        OTF2_AttributeList_AddUint32(list, periods, 4);
        e.enter(0, main).context_sample(3, in_relax, list).enter(5, barrier).context_sample(6, in_relax);
        OTF2_AttributeList_Delete(list);
        e.collective(6, 7, OTF2_COLLECTIVE_OP_BARRIER, 0).leave(7, barrier).context_sample(8, in_main).leave(9, main);
    });
    const auto trace = read();
    const auto& samples = trace.traces[0].samples;
    ASSERT_EQ(samples.size(), 2U);  // the one at 6 is within a call
    const auto path = [&](std::size_t i) { return trace.callpaths[static_cast<std::size_t>(samples[i].callpath)]; };
    EXPECT_EQ(trace.regions[static_cast<std::size_t>(path(0).region)].name, "relax");
    EXPECT_EQ(trace.regions[static_cast<std::size_t>(path(1).region)].name, "main");
    EXPECT_EQ(samples[0].line, 12U);
    EXPECT_EQ(samples[1].line, 80U);
    EXPECT_EQ(samples[0].periods, 4U);
    EXPECT_EQ(samples[1].periods, 1U);
    EXPECT_EQ(samples[1].at_ps - samples[0].at_ps, 5'000);  // a tick is a nanosecond
    EXPECT_EQ(profile_of(trace, 0, "main/MPI_Barrier")->inclusive_ps, 2'000);
}

TEST_F(Reader, FileCallsAreThoseOutsideOfCommunication) {
    const auto main = archive.region("main", OTF2_PARADIGM_COMPILER);
    const auto reads = archive.region("read input", OTF2_PARADIGM_USER, -1, OTF2_REGION_ROLE_FILE_IO);
    const auto opens = archive.region("open input", OTF2_PARADIGM_USER, -1, OTF2_REGION_ROLE_FILE_IO_METADATA);
    const auto barrier = archive.region("MPI_Barrier");
    archive.world(1);
    archive.events(0, [&](Events& e) {
        e.enter(0, main).enter(1, opens).leave(2, opens).enter(3, reads).leave(7, reads);
        e.enter(8, barrier).enter(9, reads).leave(10, reads);
        e.collective(10, 11, OTF2_COLLECTIVE_OP_BARRIER, 0).leave(11, barrier).leave(12, main);
    });
    const auto trace = read();
    const auto& calls = trace.traces[0].file_calls;
    ASSERT_EQ(calls.size(), 2U);  // a tick is a nanosecond
    EXPECT_EQ(calls[0].leave_ps - calls[0].enter_ps, 1'000);
    EXPECT_EQ(calls[1].leave_ps - calls[1].enter_ps, 4'000);
    EXPECT_EQ(
        trace.regions[static_cast<std::size_t>(trace.callpaths[static_cast<std::size_t>(calls[1].callpath)].region)]
            .name,
        "read input");
    EXPECT_EQ(profile_of(trace, 0, "main/read input")->inclusive_ps, 4'000);
}

TEST_F(Reader, CallingContextsTellTheFunctionsAboveThemAndTheLineOfEachCall) {
    // As a measurement by unwinding writes them: the contexts of main and exchange are never entered, and each of two
    // sends has a separate line.
    const auto main = archive.region("main", OTF2_PARADIGM_COMPILER);
    const auto exchange = archive.region("exchange", OTF2_PARADIGM_COMPILER);
    const auto send = archive.region("MPI_Send");
    const auto receive = archive.region("MPI_Recv");
    archive.world(2);
    const auto in_main = archive.calling_context(main, archive.source_location("halo.c", 80));
    const auto first_place = archive.calling_context(exchange, archive.source_location("halo.c", 12), in_main);
    const auto second_place = archive.calling_context(exchange, archive.source_location("halo.c", 14), in_main);
    const auto first = archive.calling_context(send, OTF2_UNDEFINED_SOURCE_CODE_LOCATION, first_place);
    const auto second = archive.calling_context(send, OTF2_UNDEFINED_SOURCE_CODE_LOCATION, second_place);
    const auto other = archive.calling_context(receive, OTF2_UNDEFINED_SOURCE_CODE_LOCATION, first_place);
    archive.events(0, [&](Events& e) {
        e.context_enter(0, first).send(1, 1, 0, 0, 8).context_leave(2, first);
        e.context_enter(3, second).send(4, 1, 0, 0, 8).context_leave(6, second);
    });
    archive.events(1, [&](Events& e) {
        for (std::uint64_t t : {0, 5}) {
            e.context_enter(t, other).recv(t + 3, 0, 0, 0, 8).context_leave(t + 4, other);
        }
    });
    const auto trace = read();
    EXPECT_EQ(counted_besides(trace, {}), 0U);
    const auto& calls = trace.traces[0].calls;
    ASSERT_EQ(calls.size(), 2U);
    const auto place_of = [&](const replay::Call& call) {
        const auto& path = trace.callpaths[static_cast<std::size_t>(call.callpath)];
        const auto& site = trace.sites[static_cast<std::size_t>(path.site)];
        return site.file + ":" + std::to_string(site.line);
    };
    EXPECT_EQ(place_of(calls[0]), "halo.c:12");
    EXPECT_EQ(place_of(calls[1]), "halo.c:14");
    EXPECT_EQ(profile_of(trace, 0, "main/exchange/MPI_Send")->inclusive_ps, 2'000);
    EXPECT_EQ(profile_of(trace, 1, "main/exchange/MPI_Recv")->visits, 2U);
    EXPECT_EQ(trace.traces[1].calls[0].callpath, trace.traces[1].calls[1].callpath);
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
            a.receives.for_each([&](std::size_t i, const MessageEnd& end) {
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

}  // namespace
}  // namespace logpost::analyzer
