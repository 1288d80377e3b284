"""Epochs of locks in a row."""

from __future__ import annotations

import pytest
from tests.analyzer.story import MS, US, Story
from tests.said import facts

from logpost.analyzer.findings.cures import lock_epochs
from logpost.analyzer.findings.cures.program import Program

EACH = 20
STEPS = 10
STEP = EACH * 10 * US + MS


def epochs(
    *,
    between: int = 0,
    value: int = 8,
    in_epoch: int = 1,
    computes: int = 0,
    lock_of: str = "shared",
    at_zero: bool = False,
) -> Story:
    """Two ranks write 20 values to each other in an epoch each, and then work 1 ms; ten times.

    A lock lasts 3 us, the puts 1 us together, and a release 6 us; `between`: code from a release to the next lock;
    `computes`: code between a lock and the put; `at_zero`: both write to rank 0.
    """
    step = STEP + EACH * (between + computes)
    story = Story(2, STEPS * step)
    lock, put, unlock = (story.path("main", name) for name in ("MPI_Win_lock", "MPI_Get", "MPI_Win_unlock"))
    for i in range(STEPS * EACH):
        begin = i // EACH * step + i % EACH * (10 * US + between + computes)
        for rank in (0, 1):
            peer = 0 if at_zero else 1 - rank
            story.call(rank, begin, begin + 3 * US, lock, mpi_other=3 * US)
            at = begin + 3 * US + computes
            for _ in range(in_epoch):
                story.transfer(rank, peer, put, at, at + US // in_epoch, latency=US // in_epoch)
                story.rows["transfers"][-1]["bytes"] = value
                at += US // in_epoch
            story.call(rank, at, at + 6 * US, unlock, mpi_other=6 * US)
            story.epoch(rank, f"lock_{lock_of}", lock, -1, 0, calls=(begin, at), peer=peer)
    return story


def test_one_epoch_has_all_transfers() -> None:
    row = epochs().alone(lock_epochs.find).row(0, named=True)
    numbers = {one["name"]: one["value"] for one in row["evidence"]}
    assert (numbers["epochs"], numbers["in_a_row"], numbers["transfers"], numbers["mean_size"]) == (400, 20, 400, 8)
    assert facts(row["title"]) == ["400", "MPI_Win_lock", "20", "8 B"]
    assert "one epoch for all" in row["advice"]
    # 19 locks and 19 releases of 9 us in each step of 1.2 ms.
    assert row["gain"] == pytest.approx(19 * 9 / 1200, rel=0.01)


def test_an_epoch_of_several_transfers_is_one_of_the_row() -> None:
    row = epochs(in_epoch=2).alone(lock_epochs.find).row(0, named=True)
    numbers = {one["name"]: one["value"] for one in row["evidence"]}
    assert (numbers["epochs"], numbers["transfers"]) == (400, 800)


def test_epochs_with_work_in_between_are_no_row() -> None:
    assert epochs(between=200 * US).alone(lock_epochs.find).is_empty()


@pytest.mark.parametrize(
    ("lock_of", "at_zero", "found"),
    [("shared", True, True), ("exclusive", False, True), ("exclusive", True, False)],
)
def test_epochs_that_exclude_other_ranks_stay_apart(lock_of: str, at_zero: bool, found: bool) -> None:
    assert epochs(lock_of=lock_of, at_zero=at_zero).alone(lock_epochs.find).is_empty() is not found


def test_work_within_an_epoch_remains() -> None:
    row = epochs(computes=5 * US).alone(lock_epochs.find).row(0, named=True)
    assert row["gain"] == pytest.approx(19 * 9 / 1300, rel=0.01)


@pytest.mark.parametrize(("value", "known", "found"), [(8, False, True), (1024, False, False), (1024, True, True)])
def test_bytes_of_large_transfers_may_cost_all_of_them(value: int, known: bool, found: bool) -> None:
    """Where the machine does not divide the time of a transfer."""
    with epochs(value=value).as_run() as run:
        proposals = list(lock_epochs.propose(Program(run, bounded=not known).build()))
    assert len(proposals) == int(found)
    # Of single values the transfers of one epoch may last as long as the epochs do.
    ends = [end for one in proposals for end in one.other_ends]
    assert any(end.lasts_ps is None for end in ends) is (found and not known)


def test_transfers_of_one_epoch_are_as_far_apart_as_their_bytes() -> None:
    """1000 B are 4 us, and puts of 1 us wait 3 us for their turn; or each release still lasts those 4 us."""
    story = epochs(value=1000)
    story.loggp |= {"G": 0.004}
    with story.as_run() as run:
        program = Program(run).build()
        (proposal,) = lock_epochs.propose(program)
        gains = [program.gain(one) for one in (proposal.change, *proposal.other_ends)]
    assert gains == pytest.approx([19 * 6 / 1200, 19 * 5 / 1200, 19 * 6 / 1200], rel=0.02)
