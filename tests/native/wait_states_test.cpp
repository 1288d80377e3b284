#include "replay/native/waits/wait_states.hpp"

#include <gtest/gtest.h>

#include "program_story.hpp"
#include "replay/native/program/message_facts.hpp"
#include "replay/native/waits/waits.hpp"

namespace logpost::replay {
namespace {

using tests::ProgramStory;

const WaitTotal& of(const WaitTotals& totals, WaitState state) {
    return totals[static_cast<std::size_t>(state)];
}

WaitTotals states(ProgramStory& story, std::size_t rank, Span interest = {}) {
    const auto& program = story.program();
    const std::vector<Span> everywhere(program.timelines.size(), interest);
    return Waits(program, CollectiveWaits(program), everywhere, 1).states()[rank];
}

TEST(WaitStates, AReceiveWaitsForTheSendThatIsEnteredLater) {
    ProgramStory story;
    story.rank(0, 1000);
    story.rank(1, 1000);
    const auto send = story.call(0, CallKind::send, 300, 310);
    const auto receive = story.call(1, CallKind::receive, 50, 500);
    story.message(0, send, 1, receive, 8);
    EXPECT_EQ(of(states(story, 1), WaitState::late_sender).wait_ticks, 250);  // 50..300
    EXPECT_EQ(of(states(story, 1), WaitState::late_sender).count, 1U);
    EXPECT_EQ(of(states(story, 0), WaitState::late_receiver).count, 0U);
    // A receive entered before the region of interest is none of its.
    EXPECT_EQ(of(states(story, 1, Span{60, 1000}), WaitState::late_sender).count, 0U);
}

TEST(WaitStates, ASendThatEndsAfterItsReceiveWasPostedWaitedForIt) {
    ProgramStory story;
    story.rank(0, 1000);
    story.rank(1, 1000);
    const auto send = story.call(0, CallKind::send, 100, 450);
    const auto receive = story.call(1, CallKind::receive, 400, 500);
    story.message(0, send, 1, receive, 8);
    EXPECT_EQ(of(states(story, 0), WaitState::late_receiver).wait_ticks, 300);  // 100..400
    EXPECT_EQ(of(states(story, 1), WaitState::late_sender).count, 0U);
}

TEST(WaitStates, NobodyWaitsForAReceiveOfWhichThePostIsNotKnown) {
    // A writer without requests has of an Irecv only the Wait: the send may have ended long after it was posted.
    for (const auto kind : {CallKind::wait, CallKind::wait_multi, CallKind::test, CallKind::receive}) {
        ProgramStory story;
        story.rank(0, 1000);
        story.rank(1, 1000);
        const auto send = story.call(0, CallKind::send, 100, 450);
        const auto completes = story.call(1, kind, 400, 500);
        story.message(0, send, 1, completes, 8);
        const bool known = kind == CallKind::receive;
        EXPECT_EQ(of(states(story, 0), WaitState::late_receiver).wait_ticks, known ? 300 : 0);
        EXPECT_EQ(measured_times(story.program(), {Location{1}, 0}).r0, known ? 400 : 100);
    }
}

TEST(WaitStates, ABarrierWaitsForItsLastMember) {
    ProgramStory story;
    for (const auto enter : {100, 700, 250}) {
        const auto rank = story.rank(0, 1000);
        story.collective(rank, story.call(rank, CallKind::barrier, enter, 720), Operation::barrier);
    }
    EXPECT_EQ(of(states(story, 0), WaitState::wait_at_barrier).wait_ticks, 600);
    EXPECT_EQ(of(states(story, 1), WaitState::wait_at_barrier).count, 0U);
    EXPECT_EQ(of(states(story, 2), WaitState::wait_at_barrier).wait_ticks, 450);
}

TEST(WaitStates, AGroupOfAnInterCommunicatorWaitsForTheOtherOne) {
    ProgramStory story;
    // Ranks 0 and 1 give only, ranks 2 and 3 get only: these wait for 1, and no rank for 3.
    for (const auto& [enter, leave] : {std::pair{100, 120}, {400, 420}, {50, 430}, {600, 610}}) {
        const auto rank = story.rank(0, 1000);
        story.collective(rank, story.call(rank, CallKind::collective, enter, leave), Operation::allgather);
        story.gives_and_gets(rank, rank < 2 ? 8 : 0, rank < 2 ? 0 : 16);
    }
    story.first_group(2);
    const CollectiveWaits waits(story.program());
    const auto wait = [&](std::size_t rank) {
        return waits.wait(story.program().timelines[rank].collectives[0], rank);
    };
    EXPECT_EQ(wait(0), 0);
    EXPECT_EQ(wait(1), 0);
    EXPECT_EQ(wait(2), 350);  // 50..400
    EXPECT_EQ(wait(3), 0);
    EXPECT_EQ(waits.early_ends(), 0U);  // rank 0 left before all others but 2 entered
}

TEST(WaitStates, ABarrierOfAnInterCommunicatorWaitsForTheOtherGroup) {
    ProgramStory story;
    for (const auto& [enter, leave] : {std::pair{100, 420}, {700, 710}, {400, 710}}) {
        const auto rank = story.rank(0, 1000);
        story.collective(rank, story.call(rank, CallKind::barrier, enter, leave), Operation::barrier);
    }
    story.first_group(2);
    const CollectiveWaits waits(story.program());
    const auto wait = [&](std::size_t rank) {
        return waits.wait(story.program().timelines[rank].collectives[0], rank);
    };
    EXPECT_EQ(wait(0), 300);  // for rank 2, not for rank 1
    EXPECT_EQ(wait(1), 0);
    EXPECT_EQ(wait(2), 300);  // for rank 1
    EXPECT_EQ(waits.early_ends(), 0U);
}

TEST(WaitStates, ABarrierOfAnInterCommunicatorMayLetMembersGoBeforeTheOtherGroupIsThere) {
    // As Open MPI's nonblocking one does: rank 1 has left when rank 3 enters, and no clock is wrong.
    ProgramStory story;
    for (const auto& [enter, leave] : {std::pair{100, 620}, {300, 420}, {200, 420}, {600, 620}}) {
        const auto rank = story.rank(0, 1000);
        story.collective(rank, story.call(rank, CallKind::barrier, enter, leave), Operation::barrier);
    }
    story.first_group(2);
    const CollectiveWaits waits(story.program());
    const auto wait = [&](std::size_t rank) {
        return waits.wait(story.program().timelines[rank].collectives[0], rank);
    };
    EXPECT_EQ(wait(0), 500);  // for rank 3
    EXPECT_EQ(wait(1), 0);
    EXPECT_EQ(wait(2), 100);  // for rank 1
    EXPECT_EQ(waits.early_ends(), 0U);
}

TEST(WaitStates, WhoGetsNothingMayLeaveBeforeTheLastOneComes) {
    // An operation of no bytes: rank 0 has left when rank 1 enters; rank 2 is still there, and waits.
    for (const std::uint64_t got : {0, 8}) {
        ProgramStory story;
        for (const auto& [enter, leave] : {std::pair{100, 110}, {500, 510}, {50, 510}}) {
            const auto rank = story.rank(0, 1000);
            story.collective(rank, story.call(rank, CallKind::collective, enter, leave), Operation::reduce_scatter);
            story.gives_and_gets(rank, 0, got);
        }
        const CollectiveWaits waits(story.program());
        EXPECT_EQ(waits.wait(story.program().timelines[0].collectives[0], 0), got == 0 ? 0 : 10);
        EXPECT_EQ(waits.wait(story.program().timelines[2].collectives[0], 2), 450);
        EXPECT_EQ(waits.early_ends(), got == 0 ? 0U : 1U);
    }
}

TEST(WaitStates, WhoGivesNothingIsNotWaitedForByWhoLeavesBefore) {
    // Only rank 0 gives: it has left when rank 1 enters, and so is rank 2, which waits for rank 0; rank 3 is still
    // there.
    for (const std::uint64_t given : {0, 8}) {
        ProgramStory story;
        for (const auto& [enter, leave] : {std::pair{100, 110}, {500, 510}, {50, 120}, {60, 510}}) {
            const auto rank = story.rank(0, 1000);
            story.collective(rank, story.call(rank, CallKind::collective, enter, leave), Operation::allgatherv);
            story.gives_and_gets(rank, rank == 0 ? 8 : given, 8);
        }
        const CollectiveWaits waits(story.program());
        const auto wait = [&](std::size_t rank) {
            return waits.wait(story.program().timelines[rank].collectives[0], rank);
        };
        EXPECT_EQ(wait(0), given == 0 ? 0 : 10);
        EXPECT_EQ(wait(1), 0);
        EXPECT_EQ(wait(2), given == 0 ? 50 : 70);
        EXPECT_EQ(wait(3), 440);
        EXPECT_EQ(waits.early_ends(), given == 0 ? 0U : 2U);
    }
}

TEST(WaitStates, OfAnAlltoallvNobodyNeedsWhoComesAfterItsEnd) {
    // Each gives 8. Rank 0 leaves before rank 2 enters: it got its bytes from rank 1, unless these are more than the 16
    // that ranks 0 and 1 give. Rank 1 stays until rank 2 is there.
    for (const std::uint64_t got : {16, 24}) {
        ProgramStory story;
        for (const auto& [enter, leave] : {std::pair{100, 300}, {250, 510}, {500, 510}}) {
            const auto rank = story.rank(0, 1000);
            story.collective(rank, story.call(rank, CallKind::collective, enter, leave), Operation::alltoallv);
            story.gives_and_gets(rank, 8, rank == 0 ? got : 8);
        }
        const CollectiveWaits waits(story.program());
        const auto wait = [&](std::size_t rank) {
            return waits.wait(story.program().timelines[rank].collectives[0], rank);
        };
        EXPECT_EQ(wait(0), got == 16 ? 150 : 200);
        EXPECT_EQ(waits.needed(story.program().timelines[0].collectives[0], 0).location, Location{got == 16 ? 1 : 2});
        EXPECT_EQ(wait(1), 250);
        EXPECT_EQ(wait(2), 0);
        EXPECT_EQ(waits.early_ends(), got == 16 ? 0U : 1U);
    }
}

TEST(WaitStates, ARootDoesNotWaitForWhoGivesNothing) {
    ProgramStory story;
    for (const auto& [enter, leave] : {std::pair{100, 310}, {300, 305}, {500, 510}}) {
        const auto rank = story.rank(0, 1000);
        story.collective(rank, story.call(rank, CallKind::collective, enter, leave), Operation::gatherv, 0);
        story.gives_and_gets(rank, rank == 1 ? 8 : 0, rank == 0 ? 8 : 0);
    }
    const CollectiveWaits waits(story.program());
    EXPECT_EQ(waits.wait(story.program().timelines[0].collectives[0], 0), 200);  // for rank 1
    EXPECT_EQ(waits.early_ends(), 0U);
}

TEST(WaitStates, OfTheRootsOwnGroupNobodyTakesPart) {
    // Ranks 0 and 1 are a group. Rank 0 is the root: rank 1 waits for no rank, nor does rank 0 for it.
    for (const auto operation : {Operation::bcast, Operation::gather}) {
        ProgramStory story;
        for (const auto& [enter, leave] : {std::pair{500, 990}, {950, 960}, {100, 990}, {700, 990}}) {
            const auto rank = story.rank(0, 1000);
            story.collective(rank, story.call(rank, CallKind::collective, enter, leave), operation, 0);
        }
        story.first_group(2);
        const CollectiveWaits waits(story.program());
        const auto wait = [&](std::size_t rank) {
            return waits.wait(story.program().timelines[rank].collectives[0], rank);
        };
        EXPECT_EQ(wait(0), operation == Operation::gather ? 200 : 0);  // for rank 3
        EXPECT_EQ(wait(1), 0);
        EXPECT_EQ(wait(2), operation == Operation::bcast ? 400 : 0);
        EXPECT_EQ(waits.early_ends(), 0U);
    }
}

TEST(WaitStates, OnlookersOfAnInterCommunicatorAreNoWaitStates) {
    // As above, but rank 1, of the root's own group, is there first.
    for (const auto operation : {Operation::bcast, Operation::gather}) {
        ProgramStory story;
        for (const auto& [enter, leave] : {std::pair{500, 990}, {50, 60}, {600, 990}, {700, 990}}) {
            const auto rank = story.rank(0, 1000);
            story.collective(rank, story.call(rank, CallKind::collective, enter, leave), operation, 0);
        }
        story.first_group(2);
        const auto of = [&](std::size_t rank, WaitState state) {
            return states(story, rank)[static_cast<std::size_t>(state)].wait_ticks;
        };
        // The root waits until 600 for the first rank that gives it something; a rank that gets something waits for no
        // rank.
        EXPECT_EQ(of(0, WaitState::early_reduce), operation == Operation::gather ? 100 : 0);
        EXPECT_EQ(of(1, WaitState::late_broadcast), 0);
        EXPECT_EQ(of(2, WaitState::late_broadcast), 0);
    }
}

TEST(WaitStates, MembersOfABroadcastWaitForItsRoot) {
    ProgramStory story;
    for (const auto enter : {500, 100}) {
        const auto rank = story.rank(0, 1000);
        story.collective(rank, story.call(rank, CallKind::collective, enter, 600), Operation::bcast, 0);
    }
    EXPECT_EQ(of(states(story, 1), WaitState::late_broadcast).wait_ticks, 400);
    EXPECT_EQ(of(states(story, 0), WaitState::late_broadcast).count, 0U);
}

TEST(WaitStates, ACreationWaitsForItsLastMemberWhereAllWereInItAtOneTime) {
    // MPI permits a creation to synchronize and does not require it. If rank 2 leaves before rank 1 enters, it waited
    // for no other, and no wait of the others is known.
    for (const bool all : {true, false}) {
        ProgramStory story;
        for (const auto& [enter, leave] : {std::pair{100, 720}, {700, 720}, {250, all ? 720 : 260}}) {
            const auto rank = story.rank(0, 1000);
            story.collective(rank, story.call(rank, CallKind::other, enter, leave), Operation::create_handle);
        }
        EXPECT_EQ(of(states(story, 0), WaitState::wait_at_creation).wait_ticks, all ? 600 : 0);  // 100..700
        EXPECT_EQ(of(states(story, 1), WaitState::wait_at_creation).count, 0U);
        EXPECT_EQ(of(states(story, 2), WaitState::wait_at_creation).wait_ticks, all ? 450 : 0);  // 250..700
        EXPECT_EQ(of(states(story, 0), WaitState::wait_at_nxn).count, 0U);
        EXPECT_EQ(CollectiveWaits(story.program()).early_ends(), 0U);
    }
}

TEST(WaitStates, ACreationOverAnInterCommunicatorIsOfBothGroups) {
    // MPI_Intercomm_merge: ranks 0 and 1 are one group, rank 2 the other; rank 1 enters last.
    ProgramStory story;
    for (const auto enter : {100, 700, 250}) {
        const auto rank = story.rank(0, 1000);
        story.collective(rank, story.call(rank, CallKind::other, enter, 720), Operation::create_handle);
    }
    story.first_group(2);
    EXPECT_EQ(of(states(story, 0), WaitState::wait_at_creation).wait_ticks, 600);
    EXPECT_EQ(of(states(story, 2), WaitState::wait_at_creation).wait_ticks, 450);
}

TEST(WaitStates, ARootAloneWaitsForTheMembersOfAGather) {
    // Rank 1 enters last, at 700. Rank 2 gives its data and needs no other: whether it waits for the root, which waits
    // for rank 1, its times do not show.
    ProgramStory story;
    for (const auto& [enter, leave] : {std::pair{100, 720}, {700, 710}, {250, 730}}) {
        const auto rank = story.rank(0, 1000);
        story.collective(rank, story.call(rank, CallKind::collective, enter, leave), Operation::gather, 0);
    }
    const CollectiveWaits waits(story.program());
    const auto wait = [&](std::size_t rank) {
        return waits.wait(story.program().timelines[rank].collectives[0], rank);
    };
    EXPECT_EQ(wait(0), 600);
    EXPECT_EQ(wait(1), 0);
    EXPECT_EQ(wait(2), 0);
}

TEST(WaitStates, OfAScatterNoMemberWaitsForTheLastOne) {
    // The root, rank 0, enters at 300: rank 2 waits for it from 100 on, and neither for rank 1, which enters last.
    ProgramStory story;
    for (const auto& [enter, leave] : {std::pair{300, 720}, {700, 710}, {100, 320}}) {
        const auto rank = story.rank(0, 1000);
        story.collective(rank, story.call(rank, CallKind::collective, enter, leave), Operation::scatter, 0);
    }
    const CollectiveWaits waits(story.program());
    const auto wait = [&](std::size_t rank) {
        return waits.wait(story.program().timelines[rank].collectives[0], rank);
    };
    EXPECT_EQ(wait(0), 0);
    EXPECT_EQ(wait(1), 0);
    EXPECT_EQ(wait(2), 200);
}

TEST(WaitStates, AMemberOfAScatterThatGetsNothingMayLeaveBeforeItsRootEnters) {
    ProgramStory story;
    for (const auto& [enter, leave] : {std::pair{500, 520}, {100, 110}, {100, 530}}) {
        const auto rank = story.rank(0, 1000);
        story.collective(rank, story.call(rank, CallKind::collective, enter, leave), Operation::scatterv, 0);
        story.gives_and_gets(rank, rank == 0 ? 8 : 0, rank == 2 ? 8 : 0);
    }
    const CollectiveWaits waits(story.program());
    const auto wait = [&](std::size_t rank) {
        return waits.wait(story.program().timelines[rank].collectives[0], rank);
    };
    EXPECT_EQ(wait(1), 0);
    EXPECT_EQ(wait(2), 400);
    EXPECT_EQ(waits.early_ends(), 0U);
}

TEST(WaitStates, ForARootWithoutRecordsNoWaitIsKnown) {
    // The event file of rank 2, the root of a broadcast, is missing: when it entered is not known. Of a gather, the
    // root, rank 0, waits for rank 1 at least.
    for (const auto& [operation, root] : {std::pair{Operation::bcast, 2}, {Operation::gather, 0}}) {
        ProgramStory story;
        for (const auto enter : {100, 300}) {
            const auto rank = story.rank(0, 1000);
            story.collective(rank, story.call(rank, CallKind::collective, enter, 600), operation, root);
        }
        const CollectiveWaits waits(story.program());
        EXPECT_EQ(waits.wait(story.program().timelines[0].collectives[0], 0), root == 0 ? 200 : 0);
        EXPECT_EQ(waits.wait(story.program().timelines[1].collectives[0], 1), 0);
        EXPECT_EQ(waits.early_ends(), 0U);
    }
}

}  // namespace
}  // namespace logpost::replay
