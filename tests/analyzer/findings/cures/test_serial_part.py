"""Code outside of parallel regions, while the other threads of the process are idle."""

from __future__ import annotations

import pytest
from tests.analyzer.story import MS, Story, evidence_of
from tests.said import facts

from logpost.analyzer.findings.cures import serial_part

STEP = 10 * MS
STEPS = 10


def steps(serial: int, region: str | None = "assemble", ranks: int = 1, parallel: bool = True) -> Story:
    """Steps of so much serial code in a user region, 5 ms in a parallel region of four threads, and a barrier of the
    ranks for the rest of 10 ms."""
    story = Story(ranks, STEPS * STEP)
    loop = story.path("main", "!$omp parallel @a.c:7")
    barrier = story.path("main", "!$omp parallel @a.c:7", "!$omp implicit barrier @a.c:9")
    meet = story.path("main", "MPI_Barrier")
    for step in range(STEPS):
        begin = step * STEP
        for rank in range(ranks):
            if parallel:
                story.parallel(rank, begin + serial, [5 * MS] * 4, loop, barrier)
        ends = dict.fromkeys(range(ranks), (begin + serial + 5 * MS, begin + STEP))
        story.collective(meet, "Barrier", ends)
    for rank in range(ranks):
        story.user(rank, loop, STEPS * 5 * MS)
        if region is not None and serial:
            path = story.path("main", region)
            story.user(rank, path, STEPS * serial)
            story.span(rank, path, 0, STEPS * STEP)
    return story


def test_the_region_is_named_and_gains_what_amdahl_says() -> None:
    finding = steps(2 * MS, ranks=2).alone(serial_part.find).row(0, named=True)
    assert (finding["ranks"], finding["region"]) == ([0, 1], "assemble")
    assert facts(finding["title"]) == ["0-1", "compute", "20.0 ms", "3"]
    assert finding["gain"] == pytest.approx(0.2 * (1 - 1 / 4))
    assert "threads idle: 120 ms" in evidence_of(finding)  # 2 ranks, 3 threads, 20 ms
    assert finding["confidence"] == 0.6
    assert finding["advice"].startswith("Share this work among the 4 threads")


def test_without_user_regions_it_is_code_outside_of_parallel_regions() -> None:
    story = steps(2 * MS, region=None)
    story.rows["profile"].clear()
    finding = story.alone(serial_part.find).row(0, named=True)
    assert "serially in code outside of parallel regions" in finding["title"]
    assert finding["gain"] == pytest.approx(0.15)


def test_no_or_little_serial_code_is_no_finding() -> None:
    assert steps(0).alone(serial_part.find).is_empty()
    assert steps(MS // 10).alone(serial_part.find).is_empty()  # 1 % of the time, of which three quarters are saved


def test_calls_that_drive_an_accelerator_are_no_work_to_share() -> None:
    for name in ("cudaSynchronize", "cuMemcpyDtoH_v2", "hipLaunchKernel", "clFinish"):
        assert steps(2 * MS, region=name).alone(serial_part.find).is_empty()
    assert steps(2 * MS, region="cluster").alone(serial_part.find).height == 1


def test_a_program_without_threads_has_no_serial_part() -> None:
    assert steps(2 * MS, parallel=False).alone(serial_part.find).is_empty()
