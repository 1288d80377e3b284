"""All cures that were replayed, also those that are no finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest
from tests.analyzer.story import MS, Story

from logpost.analyzer.findings import find
from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import LOW, Finding
from logpost.analyzer.findings.tried import LOSES, OTHER, STATED, tried

STEPS, STEP = 10, 30 * MS


def test_a_cure_of_the_same_time_is_listed_next_to_the_stated_one() -> None:
    """Rank 0 computes 20 ms before each barrier, and the three others 12 ms: balanced work, or no barrier."""
    story = Story(4, STEPS * STEP)
    barrier = story.path("main", "MPI_Barrier")
    for step in range(STEPS):
        t = step * STEP
        enters = {rank: t + (12 if rank else 20) * MS for rank in range(4)}
        story.collective(barrier, "Barrier", {rank: (enter, t + 20 * MS) for rank, enter in enters.items()})
    with story.as_run() as run:
        found = tried(run)
    assert [one.gain for one in found] == sorted((one.gain for one in found), reverse=True)
    (stated,) = [one for one in found if one.outcome == STATED]
    assert (stated.kind, stated.place, stated.ranks) == ("load_imbalance", "main / MPI_Barrier", "rank 0")
    # With one of four slow by 8 of 30 ms, shared work saves 6 of them, and a rank as fast as the others 8.
    assert stated.gain == pytest.approx(7 / 30, rel=0.05)
    assert {one.outcome for one in found if one.gain >= 0.01} <= {STATED, OTHER}


def test_a_cure_whose_gain_is_not_sure_is_not_listed_as_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    def propose(program: Program) -> Iterator[Proposal]:
        """Each call of rank 0 is 3 ms sooner; at the other end of what is not known, none is."""
        longer = column(program.count, 0)
        longer[program.location == 0] = -3 * MS
        change, nothing = Transformation(longer_ps=longer), Transformation()
        yield Proposal("needless_barrier", 1, frozenset({0}), change, (), LOW, "", other_ends=(nothing,), beyond=0.0)

    monkeypatch.setattr(find, "FINDERS", (lambda evidence: offered(evidence, propose, of_messages=False),))
    story = Story(2, STEPS * STEP)
    barrier = story.path("main", "MPI_Barrier")
    for step in range(STEPS):
        enters = {0: step * STEP + 20 * MS, 1: step * STEP + 10 * MS}
        story.collective(barrier, "Barrier", {rank: (enter, step * STEP + 21 * MS) for rank, enter in enters.items()})
    with story.as_run() as run:
        (found,) = tried(run)
    # 3 of each 30 ms, or nothing: `find_all` does not state it.
    assert found.outcome == OTHER
    assert found.gain == pytest.approx(0.1, abs=0.01)


def longer_code(program: Program) -> Iterator[Proposal]:
    """Each call of rank 0 is 3 ms later."""
    longer = column(program.count, 0)
    longer[program.location == 0] = 3 * MS
    yield Proposal("needless_barrier", 1, frozenset({0}), Transformation(longer_ps=longer), (), LOW, "")


def test_a_cure_that_loses_time_is_listed_with_the_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    def losing(evidence: Evidence) -> Iterable[Finding]:
        return offered(evidence, longer_code, of_messages=False)

    monkeypatch.setattr(find, "FINDERS", (losing,))
    story = Story(2, STEPS * STEP)
    barrier = story.path("main", "MPI_Barrier")
    for step in range(STEPS):
        enter = step * STEP + 20 * MS
        story.collective(barrier, "Barrier", dict.fromkeys((0, 1), (enter, enter + MS)))
    with story.as_run() as run:
        (found,) = tried(run)
    # Rank 1 waits 3 ms longer in each step of 30.
    assert found.outcome == LOSES
    assert found.gain == pytest.approx(-0.1)
