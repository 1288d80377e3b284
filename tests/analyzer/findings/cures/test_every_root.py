"""Operations in a row of which each rank is the root once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.analyzer.story import MS, US, Story
from tests.said import says

from logpost.analyzer.findings.cures import collective_cost, every_root
from logpost.analyzer.findings.cures.program import Program

RANKS, STEPS = 4, 10


def broadcasts(
    *, roots: Sequence[int] = range(RANKS), between: int = 0, size: int = 8, operation: str = "Bcast"
) -> Story:
    """Four ranks compute 1 ms, and each of them broadcasts then; an operation lasts 50 us. Ten steps."""
    step = MS + len(roots) * (50 * US + between)
    story = Story(RANKS, STEPS * step)
    story.communicator(*range(RANKS))
    path = story.path("main", f"MPI_{operation}")
    for i in range(STEPS):
        at = i * step + MS
        for root in roots:
            story.collective(path, operation, dict.fromkeys(range(RANKS), (at, at + 50 * US)), root)
            for row in story.rows["collectives"][-RANKS:]:
                is_root = row["location"] == root
                sent, received = (RANKS * size if is_root else 0, size)
                if operation in ("Reduce", "Gather"):
                    sent, received = (size, RANKS * size if is_root else 0)
                row |= {"bytes_sent": sent, "bytes_received": received}
            at += 50 * US + between
    return story


@pytest.mark.parametrize(
    ("operation", "one"),
    [("Bcast", "MPI_Allgather"), ("Gather", "MPI_Alltoall"), ("Reduce", "MPI_Reduce_scatter")],
)
def test_one_operation_does_what_each_root_does(operation: str, one: str) -> None:
    row = broadcasts(operation=operation).alone(every_root.find).row(0, named=True)
    numbers = {number["name"]: number["value"] for number in row["evidence"]}
    assert (numbers["operations"], numbers[f"every_root[{one}]"], numbers["mean_size"]) == (40, 4, 8)
    assert says(row["title"], "4", one)
    assert row["advice"].startswith(f"Call {one} once instead")
    # Three of four operations of 50 us, of a step of 1.2 ms.
    assert row["gain"] == pytest.approx(150 / 1200, rel=0.01)


def test_the_one_operation_waits_for_all_members() -> None:
    """Rank 3 enters the first operation 40 us later: it ends 50 us behind that."""
    story = Story(RANKS, STEPS * 2 * MS)
    story.communicator(*range(RANKS))
    path = story.path("main", "MPI_Bcast")
    for i in range(STEPS):
        at = i * 2 * MS + MS
        for root in range(RANKS):
            late = 40 * US if root == 0 else 0
            members = {rank: (at + (late if rank == 3 else 0), at + 50 * US) for rank in range(RANKS)}
            story.collective(path, "Bcast", members, root)
            at += 50 * US
    with story.as_run() as run:
        program = Program(run).build()
        (proposal,) = every_root.propose(program)
        times = program.replay(proposal.change)
    assert times is not None
    # 200 us of four operations become 40 + 50.
    saved = (program.leave_ps - times.leave_ps).reshape(RANKS, STEPS, RANKS)[:, 0, -1]
    assert saved.tolist() == pytest.approx([110 * US] * RANKS, rel=0.01)


@pytest.mark.parametrize(
    "make",
    [
        lambda: broadcasts(between=200 * US),  # work in between
        lambda: broadcasts(roots=[0, 1, 2]),  # not every rank has its turn
        lambda: broadcasts(roots=[0, 1, 0, 1]),
        lambda: broadcasts(roots=[0, 0, 0, 0]),
    ],
)
def test_what_is_no_row_of_all_roots(make: Callable[[], Story]) -> None:
    assert make().alone(every_root.find).is_empty()


def test_they_are_not_called_less_often_as_well(tmp_path: Path) -> None:
    assert broadcasts().alone(collective_cost.find).is_empty()
    assert not broadcasts(roots=[0, 1, 2]).alone(collective_cost.find).is_empty()


@pytest.mark.parametrize(("size", "known", "found"), [(8, False, True), (1024, False, False), (1024, True, True)])
def test_bytes_of_large_operations_may_cost_all_of_them(size: int, known: bool, found: bool) -> None:
    """Where the machine does not divide the time of a message."""
    with broadcasts(size=size).as_run() as run:
        proposals = list(every_root.propose(Program(run, bounded=not known).build()))
    assert len(proposals) == int(found)
    ends = [end for one in proposals for end in one.other_ends]
    assert any(end.lasts_ps is None for end in ends) is (found and not known)


def test_the_one_operation_has_the_bytes_of_all() -> None:
    """1000 B of 10 ns for each member: 10 us are in each broadcast, and 30 in the one operation."""
    story = broadcasts(size=1000)
    story.loggp |= {"G": 0.01}
    with story.as_run() as run:
        program = Program(run).build()
        (proposal,) = every_root.propose(program)
        assert program.gain(proposal.change) == pytest.approx((150 - 20) / 1200, rel=0.01)
