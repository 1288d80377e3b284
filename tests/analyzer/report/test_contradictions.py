"""No report contradicts itself or its tables; and each row of the table of contradictions can fail."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.analyzer.in_process import analyze
from tests.collectors.threads_that_talk import archive
from tests.contradictions import ROWS, Said, contradictions, with_finding

from logpost.analyzer.findings.finding import Number
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.report.build import build
from logpost.analyzer.report.data import HostFacts
from logpost.analyzer.run.directory import Run
from logpost.analyzer.words.location_names import Rank


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Said:
    """Two ranks of two threads; thread 0 of rank 0 computes three times as long as the others."""
    folder = tmp_path_factory.mktemp("said")
    made = archive(folder, {(0, 0): 3, (0, 1): 1, (1, 0): 1, (1, 1): 1})
    run = Run.open(analyze(Request(str(made), str(folder / "run"))))
    report = build(run)
    assert report.findings[0].kind == "load_imbalance"
    assert report.critical_path is not None
    assert report.delays is not None
    return Said(run, report)


def number(name: str, value: float, unit: str) -> dict[str, tuple[Number, ...]]:
    return {"evidence": (Number(name, value, unit),)}


def other_run(said: Said, folder: Path) -> Said:
    """Its imbalance gains 90 %, more than the slowest rank computes longer than the fastest."""
    shutil.copytree(said.run.path, folder)
    file = folder / "findings.parquet"
    pl.read_parquet(file).with_columns(gain=pl.lit(0.9)).write_parquet(file)
    run = Run.open(folder)
    return Said(run, build(run))


def reported(said: Said, **changed: object) -> Said:
    return Said(said.run, replace(said.report, **changed))  # type: ignore[arg-type]


def lost_in_silence(said: Said) -> Said:
    """Waiting is on no line, and no finding names a rank."""
    shares = [replace(one, exposed_ps=0, share=0.0) if one.share < 0.5 else one for one in said.report.breakdown]
    return reported(said, breakdown=tuple(shares), findings=())


def path_too_short(said: Said) -> Said:
    assert said.report.critical_path is not None
    return reported(said, critical_path=replace(said.report.critical_path, program_ps=1))


def more_delays_than_waits(said: Said) -> Said:
    assert said.report.delays is not None
    return reported(said, delays=replace(said.report.delays, waits_ps=1))


def rank_of_nothing(said: Said) -> Said:
    assert said.report.delays is not None
    first, *others = said.report.delays.places
    places = (replace(first, named="rank -1"), *others)
    return reported(said, delays=replace(said.report.delays, places=places))


def time_added(said: Said) -> Said:
    first, *others = said.report.rank_times
    return reported(said, rank_times=(replace(first, compute_ps=first.compute_ps + 1), *others))


CONTRADICTIONS: dict[str, list[Callable[[Said, Path], Said]]] = {
    "rank_that_does_not_exist": [
        lambda said, _: with_finding(said, ranks=(Rank(2),), threads=()),
        lambda said, _: with_finding(said, threads=({"rank": 0, "process": 0, "thread": 2},)),
        lambda said, _: with_finding(said, **number("slowest_rank", 3, "rank")),
        lambda said, _: with_finding(said, title="rank 4 is a hot receiver"),
    ],
    "compared_with_none": [
        lambda said, _: with_finding(said, ranks=(Rank(0), Rank(1)), threads=()),
        lambda said, _: with_finding(
            said, evidence=(Number("slowest_rank", 1, "rank"), Number("fastest_rank", 1, "rank"))
        ),
    ],
    "balanced_imbalance": [lambda said, folder: other_run(said, folder / "other.run")],
    "more_than_all": [
        lambda said, _: with_finding(said, share=1.2),
        lambda said, _: with_finding(said, gain=-0.1),
        lambda said, _: with_finding(said, **number("load_balance", 1.01, "1")),
    ],
    "nothing_each": [
        lambda said, _: with_finding(said, title="6 operations in MPI_Comm_split cost 0 s each"),
        lambda said, _: with_finding(said, gain=0.0),
    ],
    "other_sizes": [
        lambda said, _: reported(said, messages=replace(said.report.messages, count=79)),
        lambda said, _: reported(said, messages=replace(said.report.messages, bytes=79)),
    ],
    "critical_path_sum": [lambda said, _: path_too_short(said)],
    "other_headline": [
        # Nothing of this run is 73.4 % or 1.23 hours long.
        lambda said, _: reported(said, conclusion="The ranks spend 73.4 % of their time in communication."),
        lambda said, _: reported(said, conclusion="4428 s are exposed over all ranks."),
    ],
    "loss_without_line": [lambda said, _: lost_in_silence(said)],
    "minus_one": [lambda said, _: rank_of_nothing(said)],
    "without_unit": [
        lambda said, _: with_finding(said, **number("distance", 2, "parsec")),
        lambda said, _: with_finding(said, **number("ratio", float("nan"), "x")),
        lambda said, _: with_finding(said, **number("slowest_rank", 0.5, "rank")),
    ],
    "other_counts": [
        lambda said, _: reported(said, hosts=HostFacts(1, (3,), (4,), False)),
        lambda said, _: with_finding(said, title="0 ranks wait"),
    ],
    "accounts_that_do_not_add_up": [
        lambda said, _: time_added(said),
        lambda said, _: with_finding(said, exposed_ps=10**15),
    ],
    "delays_beyond_waits": [lambda said, _: more_delays_than_waits(said)],
    "bound_without_numbers": [
        lambda said, _: with_finding(
            said,
            title="1 operation in MPI_Bcast costs 1.00 ms, latency-bound at 1.44 GiB each",
            **number("mean_size", 1.5e9, "B"),
        )
    ],
    "outside_of_the_run": [lambda said, _: with_finding(said, end_ps=10**15)],
}
"""By row: reports that contradict themselves in it."""


def test_no_archive_contradicts_itself(runs: dict[str, Run]) -> None:
    found = {name: contradictions(Said(run, build(run))) for name, run in runs.items()}
    assert {name: lines for name, lines in found.items() if lines} == {}
    assert sum(len(build(run).findings) for run in runs.values()) > 20


def test_ranks_whose_threads_communicate_are_not_contradicted(said: Said) -> None:
    assert contradictions(said) == []


def test_every_row_has_a_contradiction() -> None:
    assert CONTRADICTIONS.keys() == {row.name for row in ROWS}


@pytest.mark.parametrize(
    ("name", "made"),
    [(name, one) for name, several in CONTRADICTIONS.items() for one in several],
    ids=[f"{name}-{i}" for name, several in CONTRADICTIONS.items() for i in range(len(several))],
)
def test_a_contradiction_is_found(said: Said, tmp_path: Path, name: str, made: Callable[[Said, Path], Said]) -> None:
    (row,) = [row for row in ROWS if row.name == name]
    assert contradictions(said, [row]) == []
    assert contradictions(made(said, tmp_path), [row])
