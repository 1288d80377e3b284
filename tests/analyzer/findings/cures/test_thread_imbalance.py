"""Threads that arrive at a barrier at different times; equal ones, and noise, are no finding."""

from __future__ import annotations

import pytest
from tests.analyzer.story import MS, Story, evidence_of
from tests.said import facts

from logpost.analyzer.findings.cures import thread_imbalance
from logpost.analyzer.findings.evidence.tables import Evidence

STEP = 10 * MS
STEPS = 10


def regions(works: list[list[int]], ranks: int = 1, *, calls: bool = True, code: int = 0) -> Story:
    """Parallel regions in which the threads of rank 0 work so long, one each 10 ms; every other rank has threads that
    work 4 ms each. All meet in a barrier behind so much `code` of the first thread until the end of each step; else the
    program makes no call."""
    story = Story(ranks, len(works) * STEP)
    region = story.path("main", "!$omp parallel @a.c:7")
    barrier = story.path("main", "!$omp parallel @a.c:7", "!$omp implicit barrier @a.c:9")
    meet = story.path("main", "MPI_Barrier")
    for step, mine in enumerate(works):
        begin, end = step * STEP, (step + 1) * STEP
        ends = [
            story.parallel(rank, begin, mine if rank == 0 else [4 * MS] * 4, region, barrier) for rank in range(ranks)
        ]
        if calls:
            story.collective(meet, "Barrier", {rank: (left + code, end) for rank, left in enumerate(ends)})
    return story


def test_the_thread_that_is_last_each_time_is_named() -> None:
    finding = regions([[4 * MS, 4 * MS, 4 * MS, 8 * MS]] * STEPS).alone(thread_imbalance.find).row(0, named=True)
    # Three threads wait 4 ms each time: 3 ms on average, of ten regions 30 of 100 ms.
    assert facts(finding["title"]) == ["0", "30.0 ms", "a.c:7", "3", "4", "a.c:9"]
    assert finding["gain"] == pytest.approx(0.3)
    assert finding["exposed_ps"] == 30 * MS
    assert "thread balance: 62.5 %" in evidence_of(finding)  # 5 / 8
    assert "threads wait: 120 ms" in evidence_of(finding)
    assert finding["advice"].startswith("Share the work of this region")


def test_another_thread_each_time_is_no_thread_s_fault() -> None:
    works = [[8 * MS if thread == step % 4 else 4 * MS for thread in range(4)] for step in range(8)]
    finding = regions(works).alone(thread_imbalance.find).row(0, named=True)
    assert "another one of 4 threads arrives last" in finding["title"]
    assert finding["gain"] == pytest.approx(0.3)
    assert finding["advice"].startswith("Let threads take the work")


def test_a_program_that_does_not_communicate_has_its_findings() -> None:
    story = regions([[4 * MS, 4 * MS, 4 * MS, 8 * MS]] * STEPS, calls=False)
    found = story.findings()
    assert found["kind"].to_list() == ["thread_imbalance", "serial_part"]
    # The mean wait of the threads is 3 of 10 ms each time, and of the 2 ms behind each region three quarters are saved.
    assert found["gain"].to_list() == [pytest.approx(0.3), pytest.approx(0.15)]


def test_serial_code_before_the_same_call_is_another_loss() -> None:
    found = regions([[4 * MS, 4 * MS, 4 * MS, 7 * MS]] * STEPS, code=2 * MS).findings()
    gains = {row["kind"]: row["gain"] for row in found.iter_rows(named=True)}
    assert gains["thread_imbalance"] == pytest.approx(0.225)  # 3 threads wait 3 ms: 2.25 ms on average
    assert gains["serial_part"] == pytest.approx(0.15)


def test_ranks_that_wait_for_the_region_are_charged_here() -> None:
    story = regions([[4 * MS, 4 * MS, 4 * MS, 8 * MS]] * STEPS, ranks=3)
    with story.as_run() as run:
        (finding,) = thread_imbalance.find(Evidence(story.tables(), story.manifest(), run=run))
    assert finding.ranks == (0,)
    # Ranks 1 and 2 wait from 4 to 8 ms in each step; with 5 ms of equal work each thread, from 4 to 5.
    assert sum(finding.removes.values()) == pytest.approx(2 * STEPS * 3 * MS)
    assert finding.gain == pytest.approx(0.3)


def test_equal_threads_and_noise_are_no_finding() -> None:
    assert regions([[4 * MS] * 4] * STEPS).alone(thread_imbalance.find).is_empty()
    # 5 % more on a thread that is another one each time: the last one arrives 3.7 % after the mean.
    noise = [[4 * MS + (MS // 5 if thread == step % 4 else 0) for thread in range(4)] for step in range(8)]
    assert regions(noise).alone(thread_imbalance.find).is_empty()


def test_little_more_is_found_where_it_is_the_same_thread_each_time() -> None:
    # 5 % more: less than noise does, but always on thread 2; 0.15 of 10 ms each time.
    finding = regions([[4 * MS, 4 * MS, 4 * MS + MS // 5, 4 * MS]] * STEPS).alone(thread_imbalance.find)
    assert finding["gain"].to_list() == [pytest.approx(0.015)]
    # Of seven times it may be chance.
    assert regions([[4 * MS, 4 * MS, 4 * MS + MS // 5, 4 * MS]] * 7).alone(thread_imbalance.find).is_empty()


def test_regions_whose_team_is_not_known_are_left_alone() -> None:
    story = regions([[4 * MS, 4 * MS, 4 * MS, 8 * MS]] * STEPS)
    for row in story.rows["thread_spans"]:
        row["instance"] = -1
    assert story.alone(thread_imbalance.find).is_empty()
