"""A rank that computes longer once, or a few times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from tests.analyzer.story import MS, US, Story
from tests.said import says

from logpost.analyzer.findings.cures import long_visits

STEPS = 20


def steps(works: Sequence[Sequence[float]]) -> Story:
    """In each step each rank computes its time, ms, and all meet at its end."""
    ranks = len(works[0])
    story = Story(ranks, int(sum(max(work) for work in works) * MS) + len(works) * US)
    path, end = story.path("main", "MPI_Allreduce"), 0
    for work in works:
        enters = {rank: end + round(time * MS) for rank, time in enumerate(work)}
        end = max(enters.values()) + US
        story.collective(path, "Allreduce", {rank: (enter, end) for rank, enter in enters.items()})
    return story


def test_one_visit_lasts_as_the_others_of_its_rank() -> None:
    works = [[2.0] * 4 for _ in range(STEPS)]
    works[7][1] = 12.0
    (row,) = steps(works).alone(long_visits.find).iter_rows(named=True)
    assert row["ranks"] == [1]
    assert says(row["title"], "1", "1", "20")
    assert says(row["title"], "12.0 ms", "2.00 ms")
    assert row["gain"] == pytest.approx(10 / 50, abs=0.001)


def test_a_rank_with_less_work_loses_all_of_a_delay() -> None:
    """Rank 1 computes 1 ms where the others compute 2, and once 12 ms: its total of 31 ms is below their 40."""
    works = [[2.0, 1.0, 2.0, 2.0] for _ in range(STEPS)]
    works[7][1] = 12.0
    (row,) = steps(works).alone(long_visits.find).iter_rows(named=True)
    assert row["gain"] == pytest.approx(10 / 50, abs=0.001)


def test_visits_of_different_lengths_are_compared_with_those_of_the_other_ranks() -> None:
    """All ranks compute 1, 2, … 10 ms, and one of them once 30 ms more in a visit of 2 ms."""
    works = [[1.0 + step % 10] * 4 for step in range(STEPS)]
    works[11][1] += 30.0
    story = steps(works)
    (row,) = story.alone(long_visits.find).iter_rows(named=True)
    assert row["gain"] == pytest.approx(30 / 140, abs=0.001)
    found = story.findings().row(0, named=True)
    # Its other visits last 5.7 ms on average: as long as that, the visit of 32 ms saves 26.3.
    assert found["gain_low"] <= 26.3 / 140 <= found["gain_high"]


def test_a_visit_that_is_long_on_all_ranks_is_none() -> None:
    works = [[2.0] * 4 for _ in range(STEPS)]
    works[7] = [12.0] * 4
    assert steps(works).alone(long_visits.find).is_empty()


def test_visits_that_differ_as_much_as_that_are_none() -> None:
    rng = np.random.default_rng(7)
    assert steps(rng.uniform(1, 10, (STEPS, 4)).tolist()).alone(long_visits.find).is_empty()


def test_each_rank_computes_long_once() -> None:
    works = [[2.0] * 4 for _ in range(STEPS)]
    for rank in range(4):
        works[4 * rank][rank] = 12.0
    assert steps(works).alone(long_visits.find).is_empty()


def test_several_visits_last_as_the_others() -> None:
    """Rank 3 computes 12 ms in two of ten steps, else all compute 2 ms."""
    (row,) = steps([[2, 2, 2, 12], *[[2, 2, 2, 2]] * 4] * 2).alone(long_visits.find).iter_rows(named=True)
    assert row["ranks"] == [3]
    assert says(row["title"], "3", "2", "10")
    assert row["gain"] == pytest.approx(20 / 40, abs=0.001)


def test_another_rank_works_before_another_call() -> None:
    # Each computes 2 ms a step behind a receive, rank 3 before it; rank 1 computes 10 ms more in one of ten steps.
    story = Story(4, 30 * MS)
    receive, meet = story.path("main", "MPI_Irecv"), story.path("main", "MPI_Allreduce")
    end = 0
    for step in range(10):
        enters = dict.fromkeys(range(4), end + 2 * MS)
        for rank in range(4):
            at = enters[3] if rank == 3 else end + US
            story.call(rank, at - US, at, receive, mpi_other=US)
        enters[1] += 10 * MS if step == 4 else 0
        end = max(enters.values()) + US
        story.collective(meet, "Allreduce", {rank: (enter, end) for rank, enter in enters.items()})
    (row,) = story.alone(long_visits.find).iter_rows(named=True)
    assert row["ranks"] == [1]
    assert row["gain"] == pytest.approx(10 / 30, abs=0.001)


@pytest.mark.parametrize("several", [False, True])
def test_visits_behind_different_calls_are_before_the_same_one(several: bool) -> None:
    """20 steps begin behind a barrier, or only every second one: half of the visits are between the two calls then."""
    works = [[2.0] * 4 for _ in range(STEPS)]
    works[7][1] = 12.0
    story, end = Story(4, 60 * MS), 0
    meet, before = story.path("main", "MPI_Allreduce"), story.path("main", "MPI_Barrier")
    for step, work in enumerate(works):
        if step % 2 or not several:
            story.collective(before, "Barrier", dict.fromkeys(range(4), (end, end + US)))
            end += US
        enters = {rank: end + round(time * MS) for rank, time in enumerate(work)}
        end = max(enters.values()) + US
        story.collective(meet, "Allreduce", {rank: (enter, end) for rank, enter in enters.items()})
    (row,) = story.alone(long_visits.find).iter_rows(named=True)
    assert says(row["title"], "1", "1", "20")
    assert ("between MPI_Barrier and MPI_Allreduce" in row["title"]) is not several
    assert ("before MPI_Allreduce" in row["title"]) is several
