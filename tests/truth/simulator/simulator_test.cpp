// The simulator against closed forms, and its ledger against itself.

#include <gtest/gtest.h>

#include <numeric>

#include <algorithm>
#include <vector>

#include "case.hpp"
#include "ledger.hpp"
#include "world.hpp"

namespace logpost::truth {
namespace {

constexpr Time us = kMicrosecond;

/// L 5, o_s 1, o_r 2, g 3 us, G 1 ns/B; eager up to 8 KiB; one rank a node.
Machine machine() {
    Machine result;
    result.other_node = {.L = 5 * us, .o_s = 1 * us, .o_r = 2 * us, .g = 3 * us, .G = 1000.0};
    return result;
}

Record run(const Machine& on, int ranks, const World::Program& program) {
    World world(on, ranks);
    world.run(program);
    return world.record();
}

Time leave_of(const Record& record, std::size_t rank, std::size_t call) {
    return record.ranks[rank].calls[call].leave;
}

TEST(Simulator, AnEagerMessageTakesSendOverheadLatencySerializationAndReceiveOverhead) {
    const auto record = run(machine(), 2, [](Rank& rank) -> Task<> {
        if (rank.number() == 0) {
            co_await rank.send(1, 1001);
        } else {
            co_await rank.recv(0);
        }
    });
    EXPECT_EQ(leave_of(record, 0, 0), 1 * us);                // o_s
    EXPECT_EQ(leave_of(record, 1, 0), (1 + 5 + 1 + 2) * us);  // o_s + L + 1000 G + o_r
}

/// Rank 0 puts or gets 1001 bytes and flushes; rank 1 computes 100 us and enters a barrier.
Record transferred(bool put, bool offloading) {
    Machine on = machine();
    on.asynchronous_progress = offloading;
    return run(on, 2, [put](Rank& rank) -> Task<> {
        if (rank.number() == 0) {
            if (put) {
                co_await rank.put(1, 1001);
            } else {
                co_await rank.get(1, 1001);
            }
            co_await rank.flush(1);
        } else {
            co_await rank.compute(100 * us);
        }
        co_await rank.barrier();
    });
}

TEST(Simulator, ThreadsWaitAtEachBarrierForTheLastOfThem) {
    const auto record = run(machine(), 1, [](Rank& rank) -> Task<> {
        std::vector<std::vector<Time>> phases{{10 * us, 30 * us}, {20 * us, 5 * us}};
        co_await rank.compute(7 * us);
        co_await rank.parallel("a.c:1", phases);
        co_await rank.query("MPI_Wtime");
    });
    const auto& rank = record.ranks[0];
    EXPECT_EQ(rank.calls[0].enter, (7 + 30 + 20) * us);
    const auto threads = thread_accounts(record)[0];
    EXPECT_EQ(threads[0].parallel, 30 * us);
    EXPECT_EQ(threads[0].imbalance, 20 * us);
    EXPECT_EQ(threads[1].parallel, 35 * us);
    EXPECT_EQ(threads[1].imbalance, 15 * us);
    EXPECT_EQ(threads[0].serial, threads[1].idle_serial);
    EXPECT_EQ(threads[0].serial + threads[0].communication, rank.end - 50 * us);
}

TEST(Simulator, ANicServesTransfersWhileItsRankComputes) {
    EXPECT_EQ(leave_of(transferred(true, true), 0, 1), (1 + 5 + 1 + 5) * us);       // o_s, L, 1000 G, L
    EXPECT_EQ(leave_of(transferred(false, true), 0, 1), (1 + 5 + 5 + 1 + 2) * us);  // o_s, L, L, 1000 G, o_r
}

TEST(Simulator, WithoutOneATransferWaitsUntilItsTargetIsInsideACall) {
    // The barrier of rank 1 first starts its own message (o_s = 1), then serves the transfer (o_ctl = 1).
    EXPECT_EQ(leave_of(transferred(true, false), 0, 1), (100 + 1 + 1 + 5) * us);
    // The data of a get leave g = 3 after the barrier's message.
    EXPECT_EQ(leave_of(transferred(false, false), 0, 1), (101 + 3 + 5 + 1 + 2) * us);
    const auto record = transferred(true, false);
    const auto sums = sum(transfer_segments(record, 0));
    EXPECT_EQ(sums[static_cast<std::size_t>(Cause::processor_queueing)], (101 - 7) * us);  // since it arrived, at 7
}

TEST(Simulator, AnOriginWaitsForAPostAndATargetForTheEndOfTheAccess) {
    const auto record = run(machine(), 2, [](Rank& rank) -> Task<> {
        const std::vector<int> other(1, 1 - rank.number());
        if (rank.number() == 0) {
            co_await rank.start(other);
            co_await rank.put(1, 1001);
            co_await rank.compute(20 * us);
            co_await rank.complete();
        } else {
            co_await rank.compute(50 * us);
            co_await rank.post(other);
            co_await rank.wait_exposed();
        }
    });
    EXPECT_EQ(leave_of(record, 0, 0), (50 + 5) * us);               // the post's notice takes L
    EXPECT_EQ(leave_of(record, 1, 1), (50 + 5 + 1 + 20 + 5) * us);  // o_s, 20 of work, the completion's notice
    const auto of_target = accounts(record)[1];
    EXPECT_EQ(of_target[static_cast<std::size_t>(Cause::late_sender)], 76 * us - leave_of(record, 1, 0));
}

TEST(Simulator, ALockIsHeldByOneAfterTheOther) {
    const auto record = run(machine(), 3, [](Rank& rank) -> Task<> {
        if (rank.number() > 0) {
            co_await rank.compute(rank.number() * us);
            co_await rank.lock(0);
            co_await rank.compute(100 * us);
            co_await rank.unlock(0);
        }
    });
    EXPECT_EQ(leave_of(record, 1, 0), (1 + 5 + 5) * us);    // request and grant
    EXPECT_EQ(leave_of(record, 2, 0), (111 + 5 + 5) * us);  // release and grant
    const auto waiting = accounts(record)[2];
    EXPECT_EQ(waiting[static_cast<std::size_t>(Cause::lock_wait)], (111 - 2) * us);
    EXPECT_EQ(waiting[static_cast<std::size_t>(Cause::latency)], 10 * us);
}

TEST(Simulator, ASynchronousSendTakesThreeLatenciesOnTheWayToTheReceiver) {
    const auto record = run(machine(), 2, [](Rank& rank) -> Task<> {
        if (rank.number() == 0) {
            co_await rank.send(1, 1, {.mode = Mode::synchronous});
        } else {
            co_await rank.recv(0);
        }
    });
    // o_s, L (request), o_ctl = 1, L (clear to send), o_ctl, L (payload of one byte), o_r
    EXPECT_EQ(leave_of(record, 1, 0), (1 + 5 + 1 + 5 + 1 + 5 + 2) * us);
    EXPECT_EQ(leave_of(record, 0, 0), (1 + 5 + 1 + 5 + 1) * us);  // its last byte has left
}

TEST(Simulator, ASendingNicTakesOneMessageEveryGap) {
    const auto record = run(machine(), 2, [](Rank& rank) -> Task<> {
        if (rank.number() == 0) {
            for (int i = 0; i < 4; ++i) {
                co_await rank.send(1, 1);
            }
        } else {
            for (int i = 0; i < 4; ++i) {
                co_await rank.recv(0);
            }
        }
    });
    // Ready at 1, 2, 3, 4; the NIC starts at 1, 4, 7, 10 (g = 3); arrival L later; o_r = 2 fits between.
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(record.messages[i].sent_begin, (1 + 3 * static_cast<Time>(i)) * us);
        EXPECT_EQ(leave_of(record, 1, i), (1 + 3 * static_cast<Time>(i) + 5 + 2) * us);
    }
}

TEST(Simulator, KToOneIsServedOneByOneByTheReceiversNicAndProcessor) {
    auto on = machine();
    on.other_node.o_r = 4 * us;  // longer than the gap: the processor is the bottleneck
    const auto record = run(on, 4, [](Rank& rank) -> Task<> {
        if (rank.number() != 0) {
            co_await rank.send(0, 1);
            co_return;
        }
        std::vector<Request> requests;
        for (int from = 1; from < rank.size(); ++from) {
            requests.push_back(co_await rank.irecv(from));
        }
        co_await rank.waitall(requests);
    });
    // All arrive at the NIC at 6 us and leave it at 6, 9, 12; the processor serves 6-10, 10-14, 14-18.
    EXPECT_EQ(record.ranks[0].calls.back().leave, 18 * us);
    const auto second = sum(segments(record, 1));
    EXPECT_EQ(second[static_cast<std::size_t>(Cause::endpoint_contention)], 3 * us);
    EXPECT_EQ(second[static_cast<std::size_t>(Cause::processor_queueing)], (1 + 4) * us);  // 9-10, held 14-18
}

TEST(Simulator, ARequestWaitsForACallThatMakesProgress) {
    const auto record = run(machine(), 2, [](Rank& rank) -> Task<> {
        if (rank.number() == 0) {
            const auto request = co_await rank.isend(1, 100000);
            co_await rank.compute(200 * us);
            co_await rank.wait(request);
        } else {
            co_await rank.recv(0);
        }
    });
    // The clear-to-send is there at 1 + 5 + 1 + 5 = 12 us, the sender looks at 201.
    const auto& m = record.messages[0];
    EXPECT_EQ(m.clear_arrival, 12 * us);
    EXPECT_EQ(m.clear_begin, 201 * us);
    EXPECT_EQ(sum(segments(record, 0))[static_cast<std::size_t>(Cause::processor_queueing)], 189 * us);
}

TEST(Simulator, WithAsynchronousProgressNobodyNeedsToLook) {
    auto on = machine();
    on.asynchronous_progress = true;
    const auto record = run(on, 2, [](Rank& rank) -> Task<> {
        if (rank.number() == 0) {
            const auto request = co_await rank.isend(1, 100001);
            co_await rank.compute(200 * us);
            co_await rank.wait(request);
        } else {
            co_await rank.recv(0);
        }
    });
    EXPECT_EQ(leave_of(record, 1, 0), (1 + 5 + 5 + 5 + 100 + 2) * us);
}

TEST(Simulator, ADisseminationBarrierTakesTheLogarithmOfItsRanksInRounds) {
    const auto record = run(machine(), 8, [](Rank& rank) -> Task<> { co_await rank.barrier(); });
    for (const auto& rank : record.ranks) {
        EXPECT_EQ(rank.calls[0].leave, 3 * (1 + 5 + 2) * us);  // three rounds of o_s + L + o_r
    }
}

TEST(Simulator, MessagesOfOnePairDoNotOvertakeEachOther) {
    const auto record = run(machine(), 2, [](Rank& rank) -> Task<> {
        if (rank.number() == 0) {
            const auto large = co_await rank.isend(1, 100000);
            co_await rank.send(1, 1);
            co_await rank.wait(large);
        } else {
            co_await rank.recv(kAnySource, kAnyTag);
            co_await rank.recv(kAnySource, kAnyTag);
        }
    });
    EXPECT_EQ(record.messages[0].receive_call, 0U);
    EXPECT_EQ(record.messages[1].receive_call, 1U);
}

TEST(Simulator, ADeadlockIsAnError) {
    World world(machine(), 2);
    EXPECT_THROW(world.run([](Rank& rank) -> Task<> { co_await rank.recv(1 - rank.number()); }), std::runtime_error);
}

TEST(Ledger, SegmentsFollowEachOtherFromTheEnvelopesBeginToItsEndInEveryCase) {
    const auto cases = all_cases();
    for (const auto& entry : cases.all()) {
        const auto record = run(entry.machine, entry.ranks, entry.program);
        std::size_t seen = 0;
        for (std::size_t id = 0; id < record.messages.size(); ++id) {
            const auto& m = record.messages[id];
            if (m.internal || m.receive_call == kNone) {
                continue;
            }
            ++seen;
            const auto parts = segments(record, id);
            const auto& received = record.ranks[static_cast<std::size_t>(m.receiver)].calls[m.receive_call];
            const Time sent = record.ranks[static_cast<std::size_t>(m.sender)].calls[m.send_call].enter;
            ASSERT_FALSE(parts.empty()) << entry.name;
            EXPECT_EQ(parts.front().begin, std::min(sent, received.enter)) << entry.name;
            EXPECT_EQ(parts.back().end, received.leave) << entry.name;
            for (std::size_t i = 1; i < parts.size(); ++i) {
                EXPECT_EQ(parts[i].begin, parts[i - 1].end) << entry.name;
            }
        }
        const auto sums = accounts(record);
        const auto inside = in_collectives(record);
        for (std::size_t rank = 0; rank < sums.size(); ++rank) {
            const auto divided = std::accumulate(inside[rank].begin(), inside[rank].end(), Time{0});
            const auto in_part = std::ranges::any_of(record.ranks[rank].calls, [](const Call& call) {
                // A fence's messages are its transfers'; of others they are not stated.
                return call.collective == Collective::fence || call.part != Part::whole || of_neighbours(call);
            });
            const auto whole = sums[rank][static_cast<std::size_t>(Cause::collective)];
            EXPECT_TRUE(in_part ? divided <= whole : divided == whole) << entry.name;
            EXPECT_EQ(inside[rank][static_cast<std::size_t>(Cause::residual)], 0) << entry.name;
            Time total = 0;
            for (const auto time : sums[rank]) {
                EXPECT_GE(time, 0) << entry.name;
                total += time;
            }
            EXPECT_EQ(total, record.ranks[rank].end) << entry.name;
        }
    }
}

/// Two ranks of a node with one core, which they have for 4 ms alternately.
Machine one_core(bool yields) {
    auto result = machine();
    result.ranks_per_node = 2;
    result.scheduling.cores_per_node = 1;
    result.scheduling.yields = yields;
    return result;
}

TEST(Simulator, RanksThatShareACoreTakeTurns) {
    const auto record = run(one_core(false), 2, [](Rank& rank) -> Task<> {
        co_await rank.compute(6 * kMillisecond);
        co_await rank.query("MPI_Wtime");
    });
    // Rank 0 has it from 0 to 4 and from 8 to 10 ms, and for the query's 50 ns; rank 1 from 4 to 8, and then for 2 ms.
    EXPECT_EQ(record.ranks[0].calls[0].enter, 10 * kMillisecond);
    EXPECT_EQ(record.ranks[1].calls[0].enter, 12 * kMillisecond + 50 * kNanosecond);
}

TEST(Simulator, ARankThatSpinsKeepsItsCoreForASlice) {
    const auto program = [](Rank& rank) -> Task<> {
        if (rank.number() == 0) {
            co_await rank.recv(1);
        } else {
            co_await rank.compute(1 * kMillisecond);
            co_await rank.send(0, 1);
        }
    };
    EXPECT_EQ(run(one_core(false), 2, program).ranks[1].calls[0].enter, 5 * kMillisecond);
    EXPECT_EQ(run(one_core(true), 2, program).ranks[1].calls[0].enter, 1 * kMillisecond);
}

TEST(Simulator, ACommunicatorHasItsOwnOperations) {
    const auto record = run(machine(), 4, [](Rank& rank) -> Task<> {
        co_await rank.compute(rank.number() == 3 ? 100 * us : 0);
        const Members pair{rank.number() / 2 * 2, rank.number() / 2 * 2 + 1};
        co_await rank.allreduce(1, pair);
    });
    // One round: o_s 1, L 5, o_r 2. Ranks 0 and 1 wait for no rank, rank 2 for rank 3.
    EXPECT_EQ(leave_of(record, 0, 0), 8 * us);
    EXPECT_EQ(leave_of(record, 1, 0), 8 * us);
    EXPECT_EQ(leave_of(record, 2, 0), 108 * us);
    EXPECT_EQ(accounts(record)[2][static_cast<std::size_t>(Cause::collective_wait)], 100 * us);
    EXPECT_EQ(accounts(record)[0][static_cast<std::size_t>(Cause::collective_wait)], 0);
}

}  // namespace
}  // namespace logpost::truth
