"""A rank is a process, a location is one of its threads: no text, figure, JSON or selection takes one for the other."""

from __future__ import annotations

import io
import json
import re

import polars as pl
import pytest
from rich.console import Console
from tests.analyzer.in_process import analyze
from tests.collectors.threads_that_talk import archive

from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.find import FINDERS
from logpost.analyzer.findings.wording.numbers import evidence_text
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.render.report.json import as_json
from logpost.analyzer.render.report.sections import print_sections
from logpost.analyzer.report.build import build
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import TABLES
from logpost.analyzer.words.location_names import (
    Location,
    LocationNames,
    Named,
    Rank,
    named_of_number,
    named_text,
    owners,
)
from logpost.dashboards.app.panels import rank_spans
from logpost.dashboards.selection.selected_run import SelectedRun
from logpost.dashboards.selection.selection import Selection

THREADS = [(0, 0), (0, 1), (1, 0), (1, 1)]


@pytest.fixture(scope="module", params=THREADS, ids=[f"thread-{t}-of-rank-{r}" for r, t in THREADS])
def slow(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[int, int], Run]:
    """The thread that computes 3 ms in each round, the others 1 ms; and the run."""
    folder = tmp_path_factory.mktemp("threads")
    made = archive(folder, {thread: 3 if thread == request.param else 1 for thread in THREADS})
    return request.param, Run.open(analyze(Request(str(made), str(folder / "run"))))


def table(*rows: tuple[int, int, bool]) -> pl.DataFrame:
    """Locations by rank, process, accounted."""
    columns = dict(zip(("rank", "process", "accounted"), zip(*rows, strict=True), strict=True))
    schema = {"location": pl.Int32, "rank": pl.Int32, "process": pl.Int32, "accounted": pl.Boolean}
    return pl.DataFrame({"location": range(len(rows)), **columns}, schema=schema)


def test_a_thread_has_the_rank_of_its_process() -> None:
    # Rank 1 is location 0, rank 0 location 2; each has a thread behind it; the last process has no rank.
    threads = table((1, 7, True), (-1, 7, True), (0, 3, True), (-1, 3, False), (-1, 5, True))
    assert owners(threads).to_list() == [1, 1, 0, 0, None]
    names = LocationNames(threads)
    assert names.ranks == (0, 1)
    assert [names[Location(i)] for i in range(5)] == [
        "thread 0 of rank 1",
        "thread 1 of rank 1",
        "rank 0",  # its thread does not communicate: its time is rank 0's
        "thread 1 of rank 0",
        "process 5",
    ]


def test_a_rank_of_which_every_thread_is_meant_is_named_as_a_whole() -> None:
    names = LocationNames(table((0, 0, True), (-1, 0, True), (1, 1, True), (-1, 1, True)))
    assert named_text(names.several(map(Location, range(4)))) == "ranks 0-1"
    assert named_text(names.several(map(Location, [0, 1, 3]))) == "rank 0 and thread 1 of rank 1"
    assert named_text(names.several(map(Location, [1, 3]))) == "thread 1 of ranks 0-1"


def test_an_earlier_runs_evidence_has_no_threads() -> None:
    number = {"name": "slowest_rank", "value": 3.0, "unit": "rank"}
    assert named_of_number(number) == Named(Rank(3), -1)
    assert evidence_text([number, number | {"value": 5.0}]) == "slowest rank: 3, 5"
    assert evidence_text([number | {"thread": 1}]) == "slowest rank: thread 1 of rank 3"


def test_no_text_takes_a_location_for_a_rank(slow: tuple[tuple[int, int], Run]) -> None:
    _, run = slow
    out = io.StringIO()
    print_sections(build(run), Console(file=out, width=200))
    spans = re.findall(r"ranks? (-?\d+(?:-\d+)?(?:, \d+(?:-\d+)?)*)", out.getvalue())
    assert not [span for span in spans if span.startswith("-")]
    # Two ranks, whose threads are locations 0 to 3.
    assert {int(number) for span in spans for number in re.findall(r"\d+", span)} <= {0, 1}
    assert spans


def test_each_number_of_each_finder_is_of_a_rank(slow: tuple[tuple[int, int], Run]) -> None:
    (_, thread), run = slow
    evidence = Evidence({name: run.table(name) for name in TABLES if name != "findings"}, run.manifest, run=run)
    found = [one for find in FINDERS for one in find(evidence)]
    assert found or thread == 1  # as below
    for one in found:
        assert set(one.ranks) <= {0, 1}, one.kind
        for number in one.evidence:
            if number.unit.startswith("rank"):
                assert number.value in (0, 1), (one.kind, number)
                assert number.thread in (None, 0, 1), (one.kind, number)


def test_the_thread_that_computes_longer_is_named_and_no_other(slow: tuple[tuple[int, int], Run]) -> None:
    (rank, thread), run = slow
    evidence = Evidence({name: run.table(name) for name in TABLES if name != "findings"}, run.manifest, run=run)
    found = [one for find in FINDERS for one in find(evidence) if one.kind == "load_imbalance"]
    assert found or thread == 1  # threads 1 alone make no region that all ranks run
    for imbalance in found:
        assert [(one.rank, one.thread) for one in imbalance.named] == [(rank, thread)]
    # That of all visits; the first visit, which is long, is another one.
    slowest = [one for imbalance in found[:1] for one in imbalance.evidence if one.name == "slowest_rank"]
    assert [(one.value, one.thread) for one in slowest] == [(rank, thread)] * len(found[:1])
    report = build(run)
    assert report.critical_path is not None
    path = [(one.rank, one.thread) for one in report.critical_path.ranks]
    assert path[0] == (rank, thread) or thread == 1  # no record shows that threads 0 wait for threads 1
    assert set(path) <= set(THREADS)
    assert report.delays is not None
    assert report.delays.places[0].ranks == (rank,)
    assert report.delays.places[0].named == f"thread {thread} of rank {rank}"


def test_json_has_a_value_per_rank_and_every_thread_by_name(slow: tuple[tuple[int, int], Run]) -> None:
    (rank, thread), run = slow
    found = json.loads(json.dumps(as_json(build(run))))
    assert found["rank_numbers"] == [0, 1]
    assert [(one["rank"], one["thread"]) for one in found["locations"]] == THREADS
    by_thread = {(one["rank"], one["thread"]): one for one in found["locations"]}
    # 20 rounds of 3 ms
    assert by_thread[rank, thread]["compute_s"] == pytest.approx(0.060, rel=0.05)
    for number in (0, 1):
        mine = [by_thread[number, one] for one in (0, 1)]
        assert found["rank_program_s"][number] == max(one["program_s"] for one in mine)
        assert found["rank_compute_s"][number] == pytest.approx(sum(one["compute_s"] for one in mine) / 2)


def test_a_selected_rank_has_its_threads_and_a_threads_row_selects_its_rank(
    slow: tuple[tuple[int, int], Run],
) -> None:
    _, run = slow
    scoped = SelectedRun(run, Selection(ranks=((1, 1),)))
    assert [one.text for one in scoped.named] == ["thread 0 of rank 1", "thread 1 of rank 1"]
    every = SelectedRun(run, Selection())
    assert every.rows(4).labels == ("0.0", "0.1", "1.0", "1.1")
    assert rank_spans(every.rows(4), every) == [[0, 0], [0, 0], [1, 1], [1, 1]]
