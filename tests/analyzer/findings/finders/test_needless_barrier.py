"""Needless barriers: the slowest rank of each step is another one, and a barrier adds up the longest steps."""

from __future__ import annotations

import pytest
from tests.analyzer.story import MS, Story

from logpost.analyzer.findings.finders import collective_wait
from logpost.analyzer.findings.prose import advice


def steps(operation: str, *, slow: int | None = None, longer: float = 4.0) -> Story:
    """Eight ranks work 4 ms before each of 16 operations, one of them `longer` more: each in turn, or always `slow`."""
    each = 4 * MS + round(longer * MS)
    story = Story(8, 16 * each)
    path = story.path("main", "MPI_Barrier" if operation == "Barrier" else "MPI_Allreduce")
    for i in range(16):
        begin, last = i * each, slow if slow is not None else i % 8
        members = {rank: (begin + (each if rank == last else 4 * MS), begin + each) for rank in range(8)}
        story.collective(path, operation, members)
    return story


def test_a_barrier_whose_last_rank_changes_is_needless() -> None:
    finding = steps("Barrier").alone(collective_wait.find).row(0, named=True)
    assert finding["kind"] == "needless_barrier"
    # Without it each rank works 16 * 4 ms and twice 4 ms more, of 128 ms.
    assert finding["gain"] == pytest.approx(1 - 72 / 128)
    assert "another one" in finding["title"]


def test_a_reduction_needs_its_data() -> None:
    found = steps("Allreduce").alone(collective_wait.find)
    assert found["kind"].to_list() == ["collective_wait"]


def test_a_rank_that_is_always_last_is_to_blame_not_the_barrier() -> None:
    finding = steps("Barrier", slow=3).alone(collective_wait.find).row(0, named=True)
    assert finding["kind"] == "collective_wait"
    assert "rank 3" in finding["title"]


@pytest.mark.parametrize("operation", ["Barrier", "Allreduce"])
def test_noise_of_five_percent_is_no_finding(operation: str) -> None:
    assert steps(operation, longer=0.2).alone(collective_wait.find).is_empty()


@pytest.mark.parametrize(("takes", "kind"), [(1.0, "needless_barrier"), (0.2, "collective_wait")])
def test_a_barrier_before_an_operation_that_orders_as_much_is_needless_for_what_it_takes(
    takes: float, kind: str
) -> None:
    """Seven of eight ranks work 4 ms, one in turn 6 ms; then all meet in a barrier, and at once in a reduction."""
    barrier_ps, each = round(takes * MS), 6 * MS + round(takes * MS) + MS
    story = Story(8, 16 * each)
    barrier, reduction = story.path("main", "MPI_Barrier"), story.path("main", "MPI_Allreduce")
    for i in range(16):
        begin = i * each
        met = begin + 6 * MS + barrier_ps
        members = {rank: (begin + (6 if rank == i % 8 else 4) * MS, met) for rank in range(8)}
        story.collective(barrier, "Barrier", members)
        story.collective(reduction, "Allreduce", dict.fromkeys(range(8), (met, begin + each)))
    finding = story.alone(collective_wait.find).row(0, named=True)
    assert finding["kind"] == kind
    if kind == "needless_barrier":
        # Without it the waits are the reduction's: a step takes 6 ms and the reduction's 1 ms, of 8 ms.
        assert finding["gain"] == pytest.approx(1 / 8)
        assert "behind it anyway" in advice(finding)
