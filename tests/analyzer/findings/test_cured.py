"""The program without the cause of a finding: its times follow by hand, and what cannot be replayed is said."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.analyzer.findings.cures.test_unattended import transfers
from tests.analyzer.findings.cures.test_uneven import steps
from tests.analyzer.in_process import analyze
from tests.analyzer.story import MS, Story
from tests.archives import ROOT, unpacked
from tests.dashboards.synthetic import make_run

from logpost.analyzer.findings import cured as module
from logpost.analyzer.findings import find
from logpost.analyzer.findings.cured import cured
from logpost.analyzer.findings.cures import unattended
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.find import findings_of
from logpost.analyzer.findings.finding import Finding
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
    assert (found.replayed, found.whole, found.calls) == (True, True, 30)
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
    for course in (found.before, found.after):
        assert course.path["end_ps"][-1] == course.length_ps - 3 * MS  # behind the last call
        assert int((course.path["end_ps"] - course.path["begin_ps"]).sum()) == course.path["end_ps"][-1]


def test_a_finding_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    run = transfers(computes=True).write(tmp_path / "a.run")
    with pytest.raises(InputError, match="the run has no finding 7"):
        cured(run, 7)


def test_a_finding_of_another_release_is_not_taken_for_one_of_this(tmp_path: Path) -> None:
    # Its findings are written by hand; the finders see something else.
    run = make_run(tmp_path / "a.run")
    with pytest.raises(InputError, match="not found again by this release of logpost; analyze the archive again"):
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
    # Rank 0 computes 2 ms, then 3 in each later step of 10 ms, rank 1 8, then 9: 29 and 89 ms become 59 each.
    found = cured(barrier(2 * MS).write(tmp_path / "a.run"), 0)
    assert found.saves == pytest.approx(0.3, abs=0.015)
    # Rank 0 waits 6 ms ten times, of which the first steps, which are shorter, keep some.
    assert found.before.by_location["wait_ps"].to_list() == [60 * MS, 0]
    assert found.after.by_location["wait_ps"][0] < 6 * MS


def test_between_two_cures_of_one_cause_their_middle_is_replayed(tmp_path: Path) -> None:
    # Of 8 ms a step 4 are left, as fast as the others, or 4.8, shared by five: 40 and 50 %.
    found = cured(steps([4] * 4 + [8]).write(tmp_path / "a.run"), 0)
    assert found.gain == pytest.approx(0.45, abs=0.001)
    assert found.saves == pytest.approx(found.gain, abs=1e-9)


@pytest.mark.usefixtures("unattended_alone")
def test_a_cost_without_a_wait_cannot_be_replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = transfers(computes=True).write(tmp_path / "a.run")
    known = findings_of
    monkeypatch.setattr(
        module,
        "findings_of",
        lambda evidence, **_: [replace(one, cure=None, replayed=None, charges={}) for one in known(evidence)],
    )
    with pytest.raises(InputError, match="its gain is a bound on sums of times; no wait of single calls is behind it"):
        cured(run, 0)


@pytest.mark.usefixtures("unattended_alone")
def test_waits_are_not_removed_where_that_exceeds_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = transfers(computes=True).write(tmp_path / "a.run")
    known = findings_of

    def bounded(evidence: Evidence, **_: object) -> list[Finding]:
        return [replace(one, replayed=None, charges=one.removes) for one in known(evidence)]

    monkeypatch.setattr(module, "findings_of", bounded)

    def stated(gain: float) -> None:
        table = run.facts("findings").collect().with_columns(gain=gain)
        monkeypatch.setattr(
            run, "table", lambda name, old=Run.table: table.lazy() if name == "findings" else old(run, name)
        )

    stated(10 / 97)  # of the graph, which ends with the last call
    found = cured(run, 0)
    assert not found.replayed
    assert found.saves == pytest.approx(10 / 97)
    stated(0.05)
    with pytest.raises(InputError, match="its cure keeps part of these waits"):
        cured(run, 0)


@pytest.mark.slow
def test_findings_say_whether_the_program_is_replayed_without_them(tmp_path: Path) -> None:
    archive = unpacked(ROOT / "docs" / "tutorial" / "improved.tar.xz", tmp_path)
    run = Run.open(analyze(Request(str(archive), str(tmp_path / "a.run"))))
    said = run.table("findings").collect()["replays"].to_list()
    assert set(said) == {True, False}
    for number, replays in enumerate(said):
        if replays:
            assert cured(run, number).replayed
            continue
        with suppress(InputError):
            assert not cured(run, number).replayed
