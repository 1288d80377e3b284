"""The own time of user regions without start-up and shut-down: what is computed there is no matter of the program."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.analyzer.story import MS, Story

from logpost.analyzer.compare.regions import changes_by_region
from logpost.analyzer.findings.cures import uneven_computation
from logpost.analyzer.run.program_profile import program_profile

LENGTH = 2000 * MS


def computed(story: Story, path: int) -> list[int]:
    """Own time of a user region in the program by rank; ms."""
    rows = program_profile(story.tables().__getitem__).filter(pl.col("callpath") == path).sort("location")
    return [time // MS for time in rows["exclusive_ps"].to_list()]


def read_then_step(starts: str, ends: str, *, before: tuple[int, int], work: tuple[int, int]) -> Story:
    """Two ranks: `main` computes `before` ms, starts up for 100 ms, up to 1000 ms; computes `work` ms, waits for the
    other until 1100 ms, shuts down for 10 ms, and computes from 1110 to 2000 ms in `main` for rank 0, in no region for
    rank 1."""
    story = Story(2, LENGTH)
    init, finalize = story.path("main", starts), story.path("main", ends)
    main, barrier = story.path("main"), story.path("main", "MPI_Barrier")
    for rank in range(2):
        began = 1000 * MS
        story.call(rank, began - 100 * MS, began, init, mpi_other=100 * MS)
        story.call(rank, 1100 * MS, 1110 * MS, finalize, mpi_other=10 * MS)
        story.program[rank] = (began, 1100 * MS)
        begin = 900 * MS - before[rank] * MS
        last = LENGTH if rank == 0 else 1110 * MS
        story.span(rank, main, begin, last)
        behind = last - 1110 * MS
        story.user(rank, main, (before[rank] + work[rank]) * MS + behind)
    story.collective(barrier, "Barrier", {rank: ((1000 + work[rank]) * MS, 1100 * MS) for rank in range(2)})
    return story


STARTS = [("MPI_Init", "MPI_Finalize"), ("shmem_init", "shmem_finalize")]


@pytest.mark.parametrize(("starts", "ends"), STARTS)
def test_computation_before_the_start_and_after_the_end_is_left_out(starts: str, ends: str) -> None:
    story = read_then_step(starts, ends, before=(800, 20), work=(40, 60))
    assert computed(story, story.path("main")) == [40, 60]


@pytest.mark.parametrize(("starts", "ends"), STARTS)
def test_ranks_that_differ_only_outside_of_the_program_are_no_load_imbalance(starts: str, ends: str) -> None:
    assert read_then_step(starts, ends, before=(800, 20), work=(60, 60)).alone(uneven_computation.find).is_empty()


@pytest.mark.parametrize(("starts", "ends"), STARTS)
def test_a_load_imbalance_counts_the_program_alone(starts: str, ends: str) -> None:
    # Rank 0 has most outside of the program, rank 1 in it.
    story = read_then_step(starts, ends, before=(800, 20), work=(40, 90))
    (found,) = story.alone(uneven_computation.find).iter_rows(named=True)
    assert found["title"].startswith("rank 1 computes longer ")
    assert found["cause_region"].startswith("main, ")
    assert found["title"].endswith(": 90.0 ms at most, 65.0 ms on average")
    # Rank 0 waits for 50 of the 100 ms of its program.
    assert found["exposed_ps"] == 50 * MS


def test_a_region_left_before_the_program_has_no_time_in_it_and_one_inside_has_all() -> None:
    story = Story(1, 100 * MS)
    story.program[0] = (40 * MS, 100 * MS)
    read, step, main = (story.path("main", *rest) for rest in (["read"], ["step"], []))
    story.call(0, 30 * MS, 40 * MS, story.path("main", "MPI_Init"), mpi_other=10 * MS)
    for path, first, last, own in ((main, 0, 100, 30), (read, 5, 25, 20), (step, 50, 90, 40)):
        story.span(0, path, first * MS, last * MS)
        story.user(0, path, own * MS)
    # main has 10 of its 30 ms before MPI_Init.
    assert [computed(story, path) for path in (read, step, main)] == [[0], [40], [20]]


def test_of_regions_across_a_bound_those_around_the_program_pay_first_then_each_in_proportion() -> None:
    story = Story(1, 100 * MS)
    story.call(0, 50 * MS, 60 * MS, story.path("main", "MPI_Init"), mpi_other=10 * MS)
    story.program[0] = (60 * MS, 100 * MS)
    main, dot, axpy = (story.path("main", *rest) for rest in ([], ["dot"], ["axpy"]))
    for path, first, last, own in ((main, 0, 100, 10), (dot, 5, 95, 60), (axpy, 5, 95, 20)):
        story.span(0, path, first * MS, last * MS)
        story.user(0, path, own * MS)
    # 90 ms of computation, of which the program has 40: main pays 10, the two others 40 of 80.
    assert [computed(story, path) for path in (main, dot, axpy)] == [[0], [30], [10]]


def test_a_comparison_of_regions_is_of_the_program(tmp_path: Path) -> None:
    before, after = (
        read_then_step("MPI_Init", "MPI_Finalize", before=times, work=(40, 60)).write(tmp_path / name)
        for name, times in (("a", (100, 100)), ("b", (800, 800)))
    )
    (main,) = [change for change in changes_by_region(before, after, {}) if change.region == "main"]
    assert (main.time.before, main.time.after) == (100 * MS, 100 * MS)


def test_a_region_used_in_start_up_alone_has_no_visits_in_the_program() -> None:
    story = read_then_step("MPI_Init", "MPI_Finalize", before=(10, 10), work=(50, 50))
    setup = story.path("main", "setup")
    for rank in range(2):
        # Rank 0 sets up before it starts up, rank 1 in the program.
        begin = (0 if rank == 0 else 1010) * MS
        story.span(rank, setup, begin, begin + 20 * MS)
        story.user(rank, setup, 20 * MS, visits=4)
    rows = program_profile(story.tables().__getitem__).filter(pl.col("callpath") == setup).sort("location")
    assert rows.select("location", "visits").rows() == [(0, 0), (1, 4)]
