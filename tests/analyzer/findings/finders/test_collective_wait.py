"""Waiting at collectives is charged to the member that comes last."""

from __future__ import annotations

import pytest
from tests.analyzer.story import MS, Story, evidence_of

from logpost.analyzer.findings.finders import collective_wait
from logpost.analyzer.findings.finding import HIGH


def barriers(late_rank: list[int], ranks: int = 3) -> Story:
    """Operation i of 10 ms: all enter 2 ms after its begin but `late_rank[i]`, which enters after 5 ms; all leave at 6
    ms."""
    story = Story(ranks, 10 * MS * len(late_rank), windows=len(late_rank))
    path = story.path("main", "step", "MPI_Allreduce")
    for i, late in enumerate(late_rank):
        t = 10 * MS * i
        story.collective(
            path, "Allreduce", {rank: (t + (5 if rank == late else 2) * MS, t + 6 * MS) for rank in range(ranks)}
        )
    for rank in range(ranks):
        late_ones = late_rank.count(rank)
        story.user(rank, story.path("main", "step"), 6 * MS * len(late_rank) + 3 * MS * late_ones)
        story.user(rank, story.path("main"), MS)
    return story


def test_the_rank_that_always_comes_last_is_named_with_its_region() -> None:
    finding = barriers([1] * 10).alone(collective_wait.find).row(0, named=True)
    assert finding["title"] == "ranks 0, 2 wait in MPI_Allreduce for rank 1, delayed in step"
    assert finding["cause_region"] == "step"
    # Two ranks wait 3 ms each in ten operations; each waits 30 of 100 ms.
    assert finding["exposed_ps"] == 60 * MS
    assert finding["share"] == pytest.approx(0.3)
    assert evidence_of(finding).startswith("exposed: 60.0 ms;")
    assert "operations: 10;" in evidence_of(finding)
    assert "last rank: 1; foremost last rank share: 100.0 %" in evidence_of(finding)
    assert finding["confidence"] == HIGH
    # Were all to enter at the mean of their enters, the last one would come 2 ms earlier in each of ten operations.
    assert finding["gain"] == pytest.approx(0.2)


def test_one_rank_of_many_that_comes_last_may_become_as_fast_as_the_others() -> None:
    finding = barriers([1] * 10, ranks=5).alone(collective_wait.find).row(0, named=True)
    # 3 ms of 10 in each operation; with the excess shared among five ranks, 3 - 3 / 5. Stated is the middle.
    assert finding["gain"] == pytest.approx(0.27, abs=0.001)
    assert finding["advice"].startswith("Make this rank as fast as the others before it: check what is slower there")
    assert (
        "That saves up to 30.0 % of the time. To share its excess among all ranks saves up to 24.0 % of the time."
        in finding["advice"]
    )


def test_ranks_that_take_turns_are_not_blamed_one_by_one() -> None:
    finding = barriers([0, 1, 2] * 4).alone(collective_wait.find).row(0, named=True)
    assert finding["title"] == "ranks 0-2 wait in MPI_Allreduce for whichever rank comes last, delayed in step"
    assert finding["cause_region"] == "step"
    assert "noise" in finding["advice"]


def test_the_root_of_a_broadcast_is_the_one_waited_for() -> None:
    """Rank 2 enters after the root, but nobody needs it: the others' waits end when the root enters."""
    story = Story(3, 100 * MS)
    path = story.path("main", "MPI_Bcast")
    for i in range(10):
        t = 10 * MS * i
        enters = {0: t + 4 * MS, 1: t + MS, 2: t + 5 * MS}
        for rank, enter in enters.items():
            wait = max(0, enters[0] - enter)
            story.call(rank, enter, t + 6 * MS, path, collective_wait=wait, collective=t + 6 * MS - enter - wait)
            story.rows["collectives"].append(
                {
                    "instance": i,
                    "location": rank,
                    "comm": 0,
                    "root": 0,
                    "callpath": path,
                    "operation": "Bcast",
                    "enter_ps": enter,
                    "leave_ps": t + 6 * MS,
                    "wait_ps": wait,
                    "bytes_sent": 8,
                    "bytes_received": 8,
                }
            )
    finding = story.alone(collective_wait.find).row(0, named=True)
    assert "last rank: 0; foremost last rank share: 100.0 %" in evidence_of(finding)
    # No user region was recorded: the code is named by the calls around it.
    assert finding["cause_region"] == "code between MPI_Bcast and MPI_Bcast"


def test_members_that_enter_together_are_no_finding() -> None:
    story = Story(2, 100 * MS)
    path = story.path("MPI_Barrier")
    for i in range(10):
        t = 10 * MS * i
        story.collective(path, "Barrier", {0: (t + MS // 20, t + 2 * MS), 1: (t, t + 2 * MS)})
    # 0.05 ms in 10 ms is 0.5 % of the run.
    assert story.alone(collective_wait.find).is_empty()


def test_a_rank_that_is_late_because_it_waits_itself_only_passes_the_waiting_on() -> None:
    """Rank 1 waits 7 ms for a message of rank 2 before each barrier; the barrier's cause is that wait, and it comes
    second."""
    story = Story(3, 100 * MS)
    barrier, recv, send = story.path("MPI_Barrier"), story.path("MPI_Recv"), story.path("MPI_Send")
    for i in range(10):
        t = 10 * MS * i
        story.call(1, t, t + 8 * MS, recv, late_sender=7 * MS, serialization=MS)
        story.call(2, t + 7 * MS, t + 8 * MS, send, serialization=MS)
        story.message(
            2, 1, 8, (t + 7 * MS, t + 8 * MS), (t, t + 8 * MS), (send, recv), late_sender=7 * MS, serialization=MS
        )
        story.collective(
            barrier, "Barrier", {0: (t, t + 9 * MS), 1: (t + 8 * MS, t + 9 * MS), 2: (t + 8 * MS, t + 9 * MS)}
        )
    found = story.alone(collective_wait.find).row(0, named=True)
    assert found["title"] == "rank 0 waits in MPI_Barrier for rank 1, itself delayed by waiting in MPI_Recv"
    assert found["cause_region"] == "MPI_Recv"
    # 7 of the 8 ms that rank 0 waits.
    assert "last rank waits itself (MPI_Recv): 87.5 %" in evidence_of(found)
    assert "Remove the waiting in MPI_Recv before it first" in found["advice"]
    # An eighth of the mean wait, 80/3 ms, is not passed on.
    assert found["gain"] == pytest.approx(0.8 / 3 / 8)
    assert found["share"] == pytest.approx(0.8)


def passed_on(steps: int, late_rank_waits: int, late_rank_computes: int) -> Story:
    """Steps of 10 ms: rank 1 waits so many ms for a message of rank 2, is handed it in 1 ms, computes so many ms and
    enters the barrier; rank 0 computes 3 ms and waits there. The barrier ends at 9 ms."""
    story = Story(3, 10 * MS * steps)
    barrier, recv, send = story.path("MPI_Barrier"), story.path("MPI_Recv"), story.path("MPI_Send")
    for i in range(steps):
        t = 10 * MS * i
        sent, got = t + late_rank_waits * MS, t + (late_rank_waits + 1) * MS
        story.call(1, t, got, recv, late_sender=sent - t, serialization=MS)
        story.call(2, sent, got, send, serialization=MS)
        story.message(2, 1, 8, (sent, got), (t, got), (send, recv), late_sender=sent - t, serialization=MS)
        enters = {0: t + 3 * MS, 1: got + late_rank_computes * MS, 2: got}
        story.collective(barrier, "Barrier", {rank: (enter, t + 9 * MS) for rank, enter in enters.items()})
    return story


def test_time_lost_before_the_others_came_counts_too() -> None:
    """While rank 0 waits (3 to 8 ms), rank 1 computes 3 of 5 ms: but everybody computes 3 ms. What makes it late are
    the 4 ms in which it waited."""
    story = passed_on(10, late_rank_waits=4, late_rank_computes=3)
    found = story.alone(collective_wait.find).row(0, named=True)
    assert found["title"] == "ranks 0, 2 wait in MPI_Barrier for rank 1, itself delayed by waiting in MPI_Recv"
    assert "last rank is in (code between MPI_Recv and MPI_Barrier): 60.0 %" in evidence_of(found)
    # Beyond rank 0's time it has 4 ms of waiting and 1 ms in MPI_Recv, in each of the nine steps that follow another.
    assert "more than first rank since last operation: 45.0 ms; of it waiting itself (MPI_Recv): 80.0 %" in evidence_of(
        found
    )
    assert "Remove the waiting in MPI_Recv before it first" in found["advice"]
    # Together they are one finding, that of the root.
    every = {row["kind"]: row for row in story.findings().iter_rows(named=True)}
    assert "collective_wait" not in every
    assert "also collective wait (MPI_Barrier): 80.0 ms" in evidence_of(every["late_sender_chain"])


def test_a_rank_that_computes_longer_is_late_by_that_however_it_waits() -> None:
    """Rank 1 waits 1 ms and computes 6 ms, more than the others: its lateness is the computing."""
    found = passed_on(10, 1, 6).alone(collective_wait.find).row(0, named=True)
    assert (
        found["title"] == "ranks 0, 2 wait in MPI_Barrier for rank 1, delayed in code between MPI_Recv and MPI_Barrier"
    )
    # Rank 2 comes first, with 1 + 1 ms of computing and 1 ms in MPI_Send since the barrier; rank 1 has 1 + 6 ms of
    # computing, 1 ms in MPI_Recv and 1 ms of waiting: 5 + 1 ms more in each of nine steps.
    assert "more than first rank since last operation: 54.0 ms; of it waiting itself (MPI_Recv): 16.7 %" in evidence_of(
        found
    )
