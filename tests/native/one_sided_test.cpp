// What the reader makes of records of one-sided communication.
#include "reader_fixture.hpp"

namespace logpost::analyzer {
namespace {

/// Two ranks, their window 4 (dense 0), and a region for each call.
struct OneSided : Reader {
    OneSided() {
        archive.world(2);
        window = archive.window(0, 4);
    }
    std::uint32_t window;
};

TEST_F(Reader, AFlushOfOneThreadCompletesTransfersOfAnother) {
    // The thread's flush completes both puts of its process, and one that was never started.
    const auto put = archive.region("MPI_Put");
    const auto flush = archive.region("MPI_Win_flush");
    archive.location(0);
    archive.thread(100);
    archive.location(1);
    archive.numbering(OTF2_PARADIGM_MPI, {0, 1});
    archive.communicator({0, 1}, 0);
    const auto window = archive.window(0, 4);
    archive.events(0, [&](Events& e) { e.enter(0, put).put(1, window, 1, 8, 1).leave(2, put); });
    archive.events(100, [&](Events& e) {
        e.enter(3, put).put(4, window, 1, 8, 2).leave(5, put);
        e.enter(6, flush).completed(7, window, 1).completed_remotely(7, window, 1);
        e.completed(8, window, 2).completed(8, window, 3).leave(9, flush);
    });
    archive.events(1, [](Events&) {});
    const auto trace = read();
    EXPECT_EQ(counted(trace, Quality::request_of_other_thread), 1U);
    EXPECT_EQ(counted(trace, Quality::request_unknown), 1U);
    ASSERT_EQ(trace.traces[0].transfers.size(), 1U);
    EXPECT_EQ(trace.traces[0].transfers[0].complete_call, kNone);
    EXPECT_EQ(trace.traces[1].transfers[0].complete_call, 1U);
    EXPECT_TRUE(trace.traces[0].open_transfers.empty());
}

TEST_F(OneSided, CallsThatMoveDataAreCountedWhereTheWriterRecordsNone) {
    const auto put = archive.region("MPI_Put()");
    const auto rget = archive.region("MPI_Rget()");
    const auto group = archive.region("MPI_Win_get_group()");
    const auto fence = archive.region("MPI_Win_fence()");
    archive.events(0, [&](Events& e) {
        for (const auto region : {put, rget, group, fence}) {
            e.enter(region, region).leave(region + 1, region);
        }
    });
    archive.events(1, [&](Events& e) { e.enter(0, put).leave(2, put).enter(3, fence).leave(4, fence); });
    const auto trace = read();
    EXPECT_EQ(counted(trace, Quality::one_sided_call_without_record), 3U);
}

TEST_F(OneSided, AWriterThatRecordsTransfersLeavesOutThoseToNobody) {
    const auto put = archive.region("MPI_Put");
    archive.events(0, [&](Events& e) {
        e.enter(0, put).leave(2, put);  // to MPI_PROC_NULL
        e.enter(3, put).put(4, window, 1, 8, 1).leave(5, put);
    });
    archive.events(1, [](Events&) {});
    EXPECT_EQ(counted(read(), Quality::one_sided_call_without_record), 0U);
}

TEST_F(OneSided, AFenceCompletesWhatIsPendingAndIsACollectiveOfItsWindow) {
    const auto put = archive.region("MPI_Put");
    const auto fence = archive.region("MPI_Win_fence");
    const auto barrier = archive.region("MPI_Barrier");
    archive.events(0, [&](Events& e) {
        e.enter(0, put).put(1, window, 1, 100, 7).leave(2, put);
        e.enter(3, put).put(4, window, 1, 200, 8).leave(5, put);
        e.enter(6, fence).completed(7, window, 7);  // of the second the writer says nothing
        e.rma_collective(8, 9, OTF2_COLLECTIVE_OP_BARRIER, window).leave(10, fence);
    });
    archive.events(1, [&](Events& e) {
        // Its barrier of the communicator is first: windows count for themselves.
        e.enter(0, barrier).collective(0, 1, OTF2_COLLECTIVE_OP_BARRIER, 0).leave(1, barrier);
        e.enter(2, fence).rma_collective(2, 9, OTF2_COLLECTIVE_OP_BARRIER, window).leave(9, fence);
    });
    const auto trace = read();
    const auto& transfers = trace.traces[0].transfers;
    ASSERT_EQ(transfers.size(), 2U);
    EXPECT_EQ(transfers[0].bytes, 100U);
    EXPECT_EQ(transfers[0].target, replay::Location{1});
    EXPECT_EQ(transfers[0].call, 0U);
    EXPECT_EQ(transfers[0].complete_call, 2U);
    EXPECT_EQ(transfers[0].remote_call, 2U);
    EXPECT_EQ(transfers[1].call, 1U);
    EXPECT_EQ(transfers[1].complete_call, 2U);
    ASSERT_EQ(trace.traces[0].collectives.size(), 1U);
    const auto& first = trace.traces[0].collectives[0];
    const auto& other = trace.traces[1].collectives[1];
    EXPECT_EQ(first.operation, Operation::fence);
    EXPECT_EQ(first.rma_window, 0);
    EXPECT_NE(first.instance, kNone);
    EXPECT_EQ(first.instance, other.instance);
    EXPECT_EQ(trace.traces[1].collectives[0].instance, kNone);  // rank 0 has no such barrier
}

TEST_F(OneSided, AFenceWithoutSynchronizationWaitsForNobody) {
    const auto fence = archive.region("MPI_Win_fence");
    archive.events(0, [&](Events& e) {
        e.enter(0, fence);
        e.rma_collective(0, 9, OTF2_COLLECTIVE_OP_BARRIER, window, OTF2_RMA_SYNC_LEVEL_MEMORY).leave(9, fence);
    });
    EXPECT_EQ(read().traces[0].collectives[0].operation, Operation::unknown);
}

TEST_F(OneSided, OneIdMayStandForSeveralTransfersOfShmem) {
    const auto put = archive.region("shmem_putmem", OTF2_PARADIGM_SHMEM);
    const auto barrier = archive.region("shmem_barrier_all", OTF2_PARADIGM_SHMEM);
    archive.events(0, [&](Events& e) {
        e.enter(0, put).put(1, window, 1, 8, 0).completed(2, window, 0).leave(3, put);
        e.enter(4, put).put(5, window, 1, 8, 0).completed(6, window, 0).leave(7, put);
        e.enter(8, barrier).completed_remotely(9, window, 0).leave(10, barrier);
    });
    const auto trace = read();
    const auto& transfers = trace.traces[0].transfers;
    ASSERT_EQ(transfers.size(), 2U);
    EXPECT_EQ(transfers[0].complete_call, 0U);  // the completion of the second is not its own
    EXPECT_EQ(transfers[1].complete_call, 1U);
    EXPECT_EQ(transfers[0].remote_call, 2U);
    EXPECT_EQ(transfers[1].remote_call, 2U);
}

TEST_F(OneSided, AnAccessAndTheExposureThatPermitsItAreEachOthersMatch) {
    const auto put = archive.region("MPI_Put");
    const auto start = archive.region("MPI_Win_start");
    const auto complete = archive.region("MPI_Win_complete");
    const auto post = archive.region("MPI_Win_post");
    const auto wait = archive.region("MPI_Win_wait");
    const auto origin = archive.group(OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, {0});
    const auto target = archive.group(OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, {1});
    archive.events(0, [&](Events& e) {
        for (std::uint64_t t : {0, 100}) {
            e.enter(t, start).group_sync(t + 1, window, target).leave(t + 2, start);
            e.enter(t + 2, put).put(t + 2, window, 1, 8, t).leave(t + 3, put);
            e.enter(t + 3, complete).group_sync(t + 4, window, target).leave(t + 5, complete);
        }
    });
    archive.events(1, [&](Events& e) {
        for (std::uint64_t t : {0, 100}) {
            e.enter(t, post).group_sync(t + 1, window, origin).leave(t + 2, post);
            e.enter(t + 3, wait).group_sync(t + 4, window, origin).leave(t + 5, wait);
        }
    });
    const auto trace = read();
    const auto& accesses = trace.traces[0].epochs;
    const auto& exposures = trace.traces[1].epochs;
    ASSERT_EQ(accesses.size(), 2U);
    ASSERT_EQ(exposures.size(), 2U);
    for (std::uint32_t i = 0; i < 2; ++i) {
        EXPECT_EQ(accesses[i].kind, Epoch::Kind::access);
        EXPECT_EQ(accesses[i].peer, replay::Location{1});
        EXPECT_EQ(accesses[i].begin_call, 3 * i);
        EXPECT_EQ(accesses[i].end_call, 3 * i + 2);
        EXPECT_EQ(trace.traces[0].transfers[i].complete_call, 3 * i + 2);
        EXPECT_EQ(trace.traces[0].transfers[i].remote_call, kNone);  // Complete says nothing of the target
        EXPECT_EQ(accesses[i].match, i);
        EXPECT_EQ(exposures[i].kind, Epoch::Kind::exposure);
        EXPECT_EQ(exposures[i].match, i);
    }
}

TEST_F(OneSided, ALockLastsFromItsRequestToItsRelease) {
    const auto put = archive.region("MPI_Put");
    const auto lock = archive.region("MPI_Win_lock");
    const auto unlock = archive.region("MPI_Win_unlock");
    archive.events(0, [&](Events& e) {
        e.enter(5, lock)
            .request_lock(5, window, 1, OTF2_LOCK_EXCLUSIVE)
            .acquire_lock(7, window, 1, OTF2_LOCK_EXCLUSIVE);
        e.leave(8, lock);
        e.enter(8, put).put(8, window, 1, 100, 1).leave(8, put);
        e.enter(9, unlock).release_lock(10, window, 1).leave(11, unlock);
        e.enter(12, unlock).release_lock(13, window, 1).leave(14, unlock);  // of nothing
    });
    archive.events(1, [&](Events& e) { e.enter(5, lock).leave(6, lock); });
    const auto trace = read();
    const auto& epochs = trace.traces[0].epochs;
    ASSERT_EQ(epochs.size(), 1U);
    EXPECT_EQ(epochs[0].kind, Epoch::Kind::lock_exclusive);
    EXPECT_EQ(epochs[0].peer, replay::Location{1});
    EXPECT_EQ(epochs[0].acquired_ps, 2'000);  // 2 ticks after the first event
    EXPECT_EQ(epochs[0].begin_call, 0U);
    EXPECT_EQ(epochs[0].end_call, 2U);
    EXPECT_EQ(trace.traces[0].transfers[0].remote_call, 2U);
}

TEST_F(OneSided, ATransferThroughAWindowThatNobodyDefinedIsCounted) {
    const auto put = archive.region("MPI_Put");
    archive.events(0, [&](Events& e) { e.enter(0, put).put(1, 99, 1, 100).leave(2, put); });
    const auto trace = read();
    EXPECT_TRUE(trace.traces[0].transfers.empty());
    EXPECT_EQ(counted(trace, Quality::undefined_communicator), 1U);
}

}  // namespace
}  // namespace logpost::analyzer
