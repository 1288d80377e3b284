"""One-sided transfers in a row."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analyzer.story import MS, US, Story

from logpost.analyzer.findings.cures import transfers_in_a_row
from logpost.analyzer.findings.cures.program import Program
from logpost.analyzer.run.directory import Run


def reads(*, between: int, value: int = 8) -> Story:
    """Two ranks read 20 values of each other, 10 us each, and then work 1 ms; ten times."""
    step = 20 * (10 * US + between) + MS
    story = Story(2, 10 * step)
    get = story.path("main", "MPI_Get")
    for i in range(200):
        begin = i // 20 * step + i % 20 * (10 * US + between)
        for rank in (0, 1):
            story.transfer(rank, 1 - rank, get, begin, begin + 10 * US, latency=10 * US)
            story.rows["transfers"][-1]["bytes"] = value
    return story


def test_values_are_read_by_one_transfer() -> None:
    row = reads(between=0).alone(transfers_in_a_row.find).row(0, named=True)
    numbers = {one["name"]: one["value"] for one in row["evidence"]}
    assert (numbers["transfers"], numbers["in_a_row"]) == (400, 20)
    assert "400 transfers of 8 B" in row["title"]
    # 19 of 20 reads of 10 us, of a step of 1.2 ms.
    assert row["gain"] == pytest.approx(19 * 10 / 1200, rel=0.01)


def test_reads_with_work_in_between_are_no_row() -> None:
    assert reads(between=200 * US).alone(transfers_in_a_row.find).is_empty()


@pytest.mark.parametrize(("value", "known", "found"), [(8, False, True), (1024, False, False), (1024, True, True)])
def test_bytes_of_large_transfers_may_cost_all_of_them(value: int, known: bool, found: bool) -> None:
    """Where the machine does not divide the time of a transfer."""
    with reads(between=0, value=value).as_run() as run:
        proposals = list(transfers_in_a_row.propose(Program(run, bounded=not known).build()))
    assert len(proposals) == int(found)
    # Of single values one transfer may last as long as all of them.
    ends = [end for one in proposals for end in one.other_ends]
    assert any(end.lasts_ps is None for end in ends) is (found and not known)


@pytest.mark.parametrize(("recording", "saved"), [(0, 190), (US, 209), (5 * US, 228)])
def test_recording_is_gone_with_the_transfers(recording: int, saved: int, tmp_path: Path) -> None:
    """19 of 20 reads of 10 us, and of 2 us before each of them, of a step of 1.24 ms."""
    run = reads(between=2 * US).write(tmp_path / "run")
    manifest = run.manifest.model_copy(update={"call_recording_ps": recording})
    program = Program(Run(run.path, manifest)).build()
    (proposal,) = transfers_in_a_row.propose(program)
    assert program.gain(proposal.change) == pytest.approx(saved / 1240, rel=0.01)
