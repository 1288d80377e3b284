"""Unequal compute time is found with the region that holds the difference; equal time is not a finding."""

from __future__ import annotations

import pytest
from tests.analyzer.story import MS, Story


def ranks_that_compute(times: list[int], *, instrumented: bool = True) -> Story:
    """Each rank computes its time in `forces` (but 2 ms in `main`), then waits at a barrier until 100 ms."""
    story = Story(len(times), 100 * MS)
    barrier = story.path("main", "MPI_Barrier")
    members = {rank: (time, 100 * MS) for rank, time in enumerate(times)}
    story.collective(barrier, "barrier", members)
    for rank, time in enumerate(times):
        if instrumented:
            story.user(rank, story.path("main", "forces"), time - 2 * MS)
            story.user(rank, story.path("main"), 2 * MS)
    return story


def test_the_slowest_ranks_and_their_region_are_named() -> None:
    finding = (
        ranks_that_compute([60 * MS, 60 * MS, 90 * MS, 50 * MS])
        .findings()
        .filter(kind="load_imbalance")
        .row(0, named=True)
    )
    # Maximum 90, mean 65 ms; the upper half of the way begins at 77.5 ms: rank 2 alone.
    assert finding["title"] == "rank 2 computes longer than the others in forces: 90.0 ms at most, 65.0 ms on average"
    assert (finding["cause_region"], finding["region"]) == ("forces", "MPI_Barrier")
    # The others wait 30 + 30 + 40 ms; rank 3 most, 40 of 100 ms.
    assert finding["exposed_ps"] == 100 * MS
    assert finding["share"] == pytest.approx(0.4)
    assert "load balance 72.2 %" in finding["evidence"]  # 65 / 90


def test_without_user_regions_the_confidence_says_so() -> None:
    story = ranks_that_compute([60 * MS, 90 * MS], instrumented=False)
    finding = story.findings().filter(kind="load_imbalance").row(0, named=True)
    assert finding["cause_region"] == ""
    assert finding["confidence"].startswith("medium: ")


def test_equal_work_is_no_finding() -> None:
    # Half a per cent of difference is below what anyone could measure.
    story = ranks_that_compute([90 * MS, 90 * MS, 90 * MS + MS // 2, 90 * MS])
    assert story.findings().filter(kind="load_imbalance").is_empty()


def test_unequal_compute_for_which_nobody_waits_is_no_finding() -> None:
    """A rank that is in MPI_Finalize early computes less, but waits for nobody."""
    story = Story(2, 100 * MS)
    finalize = story.path("MPI_Finalize")
    story.call(0, 50 * MS, 100 * MS, finalize, mpi_other=50 * MS)
    story.call(1, 90 * MS, 100 * MS, finalize, mpi_other=10 * MS)
    assert story.findings().is_empty()
