"""Programs with threads, from simulator to first finding: times are exact, and near misses find nothing."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from logpost.analyzer.run.directory import Run

from .compare import truth_of
from .programs import SIMULATE, judge, simulate

pytestmark = pytest.mark.skipif(not SIMULATE.exists(), reason="the simulator is not built: make setup")

CAUSES = (
    "omp_explicit_barrier",
    "omp_one_rank",
    "omp_one_rank_has_more",
    "omp_serial_part",
    "omp_unequal_alone",
    "omp_unequal_alternating",
    "omp_unequal_loop",
    "omp_unequal_once",
)
CLEAN = ("omp_clean", "omp_clean_noise", "omp_funneled", "omp_little_serial")


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("truth") / "cases"
    assert {*CAUSES, *CLEAN} == set(simulate(place, cases=(*CAUSES, *CLEAN)))
    return place


def _compare_threads(run: Run, case: Path) -> None:
    """Every category of every thread is that of the simulation, to the picosecond."""
    rows = run.table("threads").group_by("location", "category").agg(pl.col("spent_ps").sum()).collect()
    mine = {(location, str(category)): int(time) for location, category, time in rows.iter_rows()}
    locations = run.table("locations").sort("location").collect()
    threads: dict[int, list[int]] = {}
    for location, process in locations.select("location", "process").iter_rows():
        threads.setdefault(process, []).append(location)
    for rank, accounts in enumerate(truth_of(case)["threads"]):
        team = threads[locations["process"][rank]]
        assert len(accounts) == len(team)
        for location, account in zip(team, accounts, strict=True):
            found = {category: mine.pop((location, category), 0) for category in account}
            assert found == account, (rank, location)
    assert not mine  # no fork, no join, no critical section


@pytest.mark.parametrize("name", CAUSES)
def test_the_first_finding_names_the_cause_and_what_its_cure_saves(cases: Path, tmp_path: Path, name: str) -> None:
    judged = judge(cases, name, tmp_path)
    assert judged.verdict.right, judged.verdict
    assert judged.gain_is_right, judged.verdict
    assert judged.verdict.true_gain > 0.1
    run = Run.open(tmp_path / name)
    assert run.table("findings").collect().height == 1  # one bug, one finding
    _compare_threads(run, cases / name)


@pytest.mark.parametrize("name", CLEAN)
def test_nothing_is_found_in_a_clean_program(cases: Path, tmp_path: Path, name: str) -> None:
    judged = judge(cases, name, tmp_path)
    assert judged.verdict.kind == "", judged.verdict
    _compare_threads(Run.open(tmp_path / name), cases / name)
