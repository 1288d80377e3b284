"""Barriers that could be left out."""

from __future__ import annotations

import pytest
from tests.analyzer.story import MS, Story

from logpost.analyzer.findings.cures import needless_barrier
from logpost.analyzer.findings.evidence.tables import Evidence

STEPS, STEP = 10, 30 * MS


def story_of(works: list[int], *, passed_on: bool, operation: str = "Barrier", root: int = -1) -> Story:
    """Three ranks compute, and meet in an operation at the end of each step; passed on: each of them waits for a
    message of the one before."""
    story = Story(3, STEPS * STEP)
    story.communicator(0, 1, 2)
    send, recv, meet = (story.path("main", name) for name in ("MPI_Send", "MPI_Recv", f"MPI_{operation}"))
    for step in range(STEPS):
        t = step * STEP
        at, done = t, {}
        for rank, work in enumerate(works):
            done[rank] = (at if passed_on else t) + work
            if passed_on and rank < 2:
                ends = (done[rank], done[rank]), (t, done[rank])
                story.call(rank, *ends[0], send)
                story.call(rank + 1, *ends[1], recv, late_sender=done[rank] - t)
                story.message(rank, rank + 1, 8, *ends, (send, recv), late_sender=done[rank] - t)
                at = done[rank]
        story.collective(meet, operation, {rank: (one, max(done.values())) for rank, one in done.items()}, root)
    return story


def test_a_barrier_that_empties_a_pipeline_in_each_step_is_left_out() -> None:
    # Three ranks of 9 ms one after the other: 27 of each of 10 steps of 30 ms. Without the barrier the last one ends
    # behind 2 + 10 times 9 ms, and what is after each step, 3 ms, remains: 300 - (12 * 9 + 10 * 3) of 300 ms at most,
    # of which the last step's 3 ms are outside of the ranks' last calls.
    (finding,) = story_of([9 * MS] * 3, passed_on=True).alone(needless_barrier.find).iter_rows(named=True)
    assert (finding["region"], finding["ranks"]) == ("MPI_Barrier", [0, 1, 2])
    assert "empties a pipeline" in finding["title"]
    assert finding["gain"] == pytest.approx(0.54, abs=0.04)


def test_a_barrier_before_which_one_rank_computes_longest_is_that_rank_s_matter() -> None:
    assert story_of([9 * MS, 9 * MS, 27 * MS], passed_on=False).alone(needless_barrier.find).is_empty()


def test_a_broadcast_from_the_end_of_a_pipeline_empties_it_and_one_from_its_begin_does_not() -> None:
    works = [9 * MS] * 3
    emptied = story_of(works, passed_on=True, operation="Bcast", root=2)
    (row,) = emptied.alone(needless_barrier.find).iter_rows(named=True)
    assert (row["kind"], row["region"]) == ("collective_wait", "MPI_Bcast")
    assert [one["value"] for one in row["evidence"] if one["name"] == "last_rank"] == [2]
    # As without a barrier there.
    assert row["gain"] == pytest.approx(0.54, abs=0.04)
    assert story_of(works, passed_on=True, operation="Bcast", root=0).alone(needless_barrier.find).is_empty()


def test_a_barrier_whose_rounds_cost_more_than_the_wait_for_one_rank_is_left_out() -> None:
    # In each step of 10 ms rank 1 enters 0.1 ms behind rank 0, and both leave 2 ms later.
    story = Story(2, STEPS * 10 * MS)
    barrier = story.path("main", "MPI_Barrier")
    for step in range(STEPS):
        begin = 10 * step * MS
        enters = (begin + 7 * MS, begin + 7 * MS + MS // 10)
        story.collective(barrier, "Barrier", {rank: (at, enters[1] + 2 * MS) for rank, at in enumerate(enters)})
    (row,) = story.alone(needless_barrier.find).iter_rows(named=True)
    assert row["gain"] == pytest.approx(0.2, abs=0.005)


@pytest.mark.parametrize("in_flight", [True, False])
def test_a_barrier_orders_messages_that_are_received_before_it(in_flight: bool) -> None:
    """The same with a reduction and a message in each step, which is received behind the barrier, or before it."""
    story = Story(2, STEPS * 10 * MS)
    names = ("MPI_Isend", "MPI_Recv", "MPI_Barrier", "MPI_Allreduce")
    isend, recv, barrier, reduce = (story.path("main", name) for name in names)
    for step in range(STEPS):
        begin = 10 * step * MS
        received = begin + (9 * MS + MS // 2 if in_flight else 7 * MS)
        enters = (begin + 7 * MS, begin + 7 * MS + MS // 10)
        ends = (begin + 6 * MS, begin + 6 * MS), (received, received)
        story.call(0, *ends[0], isend)
        if not in_flight:
            story.call(1, *ends[1], recv)
        story.collective(barrier, "Barrier", {rank: (at, enters[1] + 2 * MS) for rank, at in enumerate(enters)})
        if in_flight:
            story.call(1, *ends[1], recv)
        story.message(0, 1, 8, *ends, (isend, recv), latency=ends[1][1] - ends[0][0])
        story.collective(reduce, "Allreduce", dict.fromkeys((0, 1), (begin + 9 * MS + MS // 2, begin + 10 * MS)))
    with story.as_run() as run:
        evidence = Evidence(story.tables(), story.manifest(), run=run)
        list(needless_barrier.find(evidence))
    assert len(evidence.tried) == int(in_flight)
