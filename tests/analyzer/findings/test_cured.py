"""The program without the cause of a finding: its times follow by hand, and what cannot be replayed is said."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.analyzer.findings.cures.test_unattended import transfers
from tests.analyzer.in_process import analyze
from tests.analyzer.story import MS, Story
from tests.archives import ROOT, unpacked
from tests.dashboards.synthetic import make_run

from logpost.analyzer.findings import find
from logpost.analyzer.findings.cured import cured
from logpost.analyzer.findings.cures import unattended
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run
from logpost.errors import InputError


@pytest.fixture
def unattended_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rank 0's work could also be shared with rank 1, which saves more."""
    monkeypatch.setattr(find, "FINDERS", (unattended.find,))


@pytest.mark.usefixtures("unattended_alone")
def test_without_its_cause_the_transfer_runs_while_its_sender_computes(tmp_path: Path) -> None:
    run = transfers(computes=True).write(tmp_path / "a.run")
    found = cured(run, 0)
    assert found.title.startswith("rank 0 leaves transfers unattended")
    assert (found.part, found.calls) == ("", 30)
    # Rank 0: a send of 1 ms, 5 of code, a Wait of 1, which the transfer makes 0; then 3 until the next, ten times.
    # Without the cause the program of 100 ms ends 10 earlier: the transfers are over by the Waits.
    assert found.before.length_ps == 100 * MS
    assert found.after.length_ps == 90 * MS
    assert found.saves == pytest.approx(10 / 100)
    assert found.saves == pytest.approx(found.gain)
    before, after = (one.by_location.filter(pl.col("location") == 0).row(0, named=True) for one in
                     (found.before, found.after))  # fmt: skip
    # What the transfer costs in the Wait is no wait for another rank.
    assert (before["code_ps"], before["work_ps"], before["wait_ps"]) == (77 * MS, 20 * MS, 0)
    assert (after["code_ps"], after["work_ps"], after["wait_ps"]) == (77 * MS, 10 * MS, 0)
    for execution in (found.before, found.after):
        assert execution.path["end_ps"][-1] == execution.length_ps - 3 * MS  # behind the last call
        assert int((execution.path["end_ps"] - execution.path["begin_ps"]).sum()) == execution.path["end_ps"][-1]


def test_a_finding_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    run = transfers(computes=True).write(tmp_path / "a.run")
    with pytest.raises(InputError, match="finding 8: the run"):
        cured(run, 7)


def test_a_finding_of_another_release_is_not_taken_for_one_of_this(tmp_path: Path) -> None:
    # Its findings are written by hand; the finders see something else.
    run = make_run(tmp_path / "a.run")
    with pytest.raises(InputError, match=r"not found again .* analyze the archive again"):
        cured(run, 0)


def barrier(early: int) -> Story:
    """Rank 1 computes 8 ms and rank 0 `early` of them, then both meet in a barrier; ten times."""
    story = Story(2, 100 * MS)
    path = story.path("main", "MPI_Barrier")
    for i in range(10):
        t = 10 * i * MS
        story.collective(path, "Barrier", {0: (t + early, t + 9 * MS), 1: (t + 8 * MS, t + 9 * MS)})
    return story


def test_work_that_is_shared_ends_the_barriers_waits(tmp_path: Path) -> None:
    # Rank 0 computes 2 ms, then 3 in each later step of 10 ms, rank 1 8, then 9: 29 and 89 ms become 59 each, or rank 1
    # as fast as rank 0; the middle is replayed.
    found = cured(barrier(2 * MS).write(tmp_path / "a.run"), 0)
    assert found.saves == pytest.approx((0.3 + 0.6) / 2, abs=0.015)
    # Rank 0 waits 6 ms ten times, of which the first steps, which are shorter, keep some.
    assert found.before.by_location["wait_ps"].to_list() == [60 * MS, 0]
    assert found.after.by_location["wait_ps"][0] < 6 * MS


@pytest.mark.slow
def test_each_finding_states_what_its_replay_saves(tmp_path: Path) -> None:
    archive = unpacked(ROOT / "docs" / "tutorial" / "improved.tar.xz", tmp_path)
    run = Run.open(analyze(Request(str(archive), str(tmp_path / "a.run"))))
    stated = run.table("findings").collect()["gain"].to_list()
    assert stated
    assert [cured(run, number).saves for number in range(len(stated))] == pytest.approx(stated)
