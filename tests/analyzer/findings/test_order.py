"""The order of the findings is that of the number shown: what a cure gains at most."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from tests.said import facts

from logpost.analyzer.findings.evidence.places import Place
from logpost.analyzer.findings.find import find_all
from logpost.analyzer.findings.finding import Finding, Number, frame
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import TABLES
from logpost.analyzer.words.location_names import Named, Rank

if TYPE_CHECKING:
    from logpost.analyzer.findings.cures.offered import ReplayedCure

BARRIER = Place("main / MPI_Barrier", "MPI_Barrier", "/src/a.c", 10, is_site=True)
PLACES = {0: BARRIER, 1: Place("main / MPI_Barrier", "MPI_Barrier", "/src/a.c", 20, is_site=True)}


def finding(
    gain: float, *, share: float = 0.5, confidence: float = 0.9, callpath: int = -1, windows: tuple[int, int] = (0, 9)
) -> Finding:
    """Only what the order and the title depend on."""
    return Finding(
        kind="collective_wait",
        replayed=cast("ReplayedCure", None),
        named=(Named(Rank(0), 0),),
        region="MPI_Barrier",
        cause_region="",
        evidence=(Number("exposed", 1, "ps"),),
        confidence=confidence,
        certainty="measured",
        callpath=callpath,
        first_window=windows[0],
        last_window=windows[1],
        exposed_ps=1,
        share=share,
        gain=gain,
    )


def test_what_gains_most_is_first_however_sure_or_large() -> None:
    found = frame([finding(0.19), finding(0.2, share=0.2, confidence=0.3), finding(0.05, share=0.9)], {})
    assert found["gain"].to_list() == [0.2, 0.19, 0.05]


def test_the_call_site_stands_in_the_title() -> None:
    found = frame([finding(0.2, callpath=0), finding(0.1, callpath=1)], PLACES)
    assert list(map(facts, found["title"])) == [["0", "MPI_Barrier", "a.c:10"], ["0", "MPI_Barrier", "a.c:20"]]


def test_titles_never_coincide() -> None:
    apart = [finding(0.2, windows=(0, 4)), finding(0.1, windows=(5, 9)), finding(0.05, windows=(5, 9))]
    titles = frame(apart, {})["title"].to_list()
    assert len(set(titles)) == 3
    assert [facts(title)[2:] for title in titles] == [["0", "4"], ["5", "9"], ["5", "9", "2"]]


@pytest.mark.slow
def test_the_same_run_has_the_same_findings(runs: dict[str, Run]) -> None:
    run = max(runs.values(), key=lambda one: one.table("findings").collect().height)
    tables = {name: run.table(name) for name in TABLES if name != "findings"}
    first = find_all(tables, run.manifest, run)
    assert first.height > 1
    for _ in range(2):
        assert find_all(tables, run.manifest, run).equals(first)
