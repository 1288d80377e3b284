"""Losses of structure: programs with and without one run on the virtual testbed, and the finding says what that saves.

The testbed's network shares its links and has its own protocols: it is not the model that the cures are replayed on.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.analyzer.in_process import analyze

from logpost.analyzer.findings.cured import cured
from logpost.analyzer.findings.cures import uneven_computation
from logpost.analyzer.findings.cures.program import Program
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import TABLES
from logpost.testbed import run_on_testbed

HERE = Path(__file__).parent
RANKS = 8
NEAR = 0.25
"""A gain within a quarter of the true one is right, or one whose interval contains it."""


@pytest.fixture(scope="module", autouse=True)
def simgrid() -> None:
    """SimGrid; its absence fails in CI and skips elsewhere."""
    if shutil.which("smpicc") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("SimGrid (libsimgrid-dev) is missing, and CI must have it")
        pytest.skip("SimGrid (libsimgrid-dev) is not installed")


def simulated(name: str, cure: bool, folder: Path) -> Run:
    folder.mkdir()
    archive = run_on_testbed(
        HERE / "crossbar.toml",
        sources=[HERE / "structures.c"],
        arguments=[name, str(int(cure))],
        ranks=RANKS,
        output=folder,
    ).archive
    return Run.open(
        analyze(Request(str(archive / "traces.otf2"), f"{folder}.run", machine=str(archive / "machine.toml")))
    )


def evidence_of(run: Run) -> Evidence:
    return Evidence({name: run.table(name) for name in TABLES if name != "findings"}, run.manifest, run=run)


def program_ps(run: Run) -> int:
    spans = run.table("locations").filter("accounted").select("begin_ps", "end_ps").collect()
    return int((spans["end_ps"] - spans["begin_ps"]).max())


@dataclass(frozen=True)
class Expected:
    kind: str
    place: str
    """the call that loses time"""
    ranks: list[int]


EVERY = list(range(RANKS))
EXPECTED = {
    "destination_order": Expected("destination_order", "MPI_Send", EVERY),
    "synchronous_sends": Expected("synchronous_sends", "MPI_Ssend", [0, 2, 4, 6]),
    "receive_order": Expected("receive_order", "MPI_Wait", [0]),
    "serial_exchange": Expected("serial_exchange", "MPI_Recv", EVERY[1:]),
    "serial_distribution": Expected("serial_distribution", "MPI_Send", [0]),
    "funnel": Expected("round_trips", "MPI_Recv", EVERY[1:]),
    "missed_overlap": Expected("missed_overlap", "MPI_Waitall", EVERY),
    "questions": Expected("round_trips", "MPI_Waitall", EVERY),
    "every_root": Expected("collective_cost", "MPI_Bcast", EVERY),
    "lock_epochs": Expected("round_trips", "MPI_Win_lock", EVERY),
    "small_blocks": Expected("many_small_messages", "MPI_Send", EVERY[:-1]),
    "small_epochs": Expected("many_small_messages", "MPI_Win_start", EVERY[:-1]),
    "long_visits": Expected("load_imbalance", "MPI_Sendrecv", [5]),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_finding_names_the_cure_and_what_it_saves(name: str, tmp_path: Path) -> None:
    run = simulated(name, False, tmp_path / "lost")
    truth = 1 - program_ps(simulated(name, True, tmp_path / "cured")) / program_ps(run)
    found = [row for row in run.table("findings").collect().iter_rows(named=True) if row["kind"] == EXPECTED[name].kind]
    assert found, run.table("findings").collect()["title"].to_list()
    finding: dict[str, Any] = found[0]
    assert (finding["region"], finding["ranks"]) == (EXPECTED[name].place, EXPECTED[name].ranks)
    within = finding["gain_low"] is not None and finding["gain_low"] <= truth <= finding["gain_high"]
    assert within or finding["gain"] == pytest.approx(truth, rel=NEAR)


def test_a_rank_that_computes_longer_is_made_as_fast_as_the_others(tmp_path: Path) -> None:
    run = simulated("uneven", False, tmp_path / "lost")
    truth = 1 - program_ps(simulated("uneven", True, tmp_path / "cured")) / program_ps(run)
    program = Program(run).build()
    (proposal,) = uneven_computation.propose(program)
    assert proposal.at_fault == {5}
    shared, as_fast, _, as_the_fastest = proposal.other_ends
    assert program.gain(as_fast) == pytest.approx(truth, abs=0.01)
    assert program.gain(shared) < program.gain(proposal.change) < program.gain(as_fast)
    assert program.gain(as_fast) <= program.gain(as_the_fastest)
    assert not list(uneven_computation.propose(Program(simulated("halo", False, tmp_path / "halo")).build()))


def test_nothing_is_said_of_a_program_without_a_loss(tmp_path: Path) -> None:
    assert simulated("halo", False, tmp_path / "a").table("findings").collect().is_empty()


def test_the_program_without_its_loss_is_shown_with_the_recorded_one(tmp_path: Path) -> None:
    run = simulated("synchronous_sends", False, tmp_path / "a")
    found = cured(run, 0)
    assert not found.part
    assert found.saves == pytest.approx(found.gain)
    assert found.before.length_ps == program_ps(run)
    for one in (found.before, found.after):
        path = one.path
        assert path["begin_ps"][1:].to_list() == path["end_ps"][:-1].to_list()  # stretch after stretch, without a gap
        assert int(path["end_ps"][-1] - path["begin_ps"][0]) <= one.length_ps
    waits = [one.by_location["wait_ps"].sum() for one in (found.before, found.after)]
    assert waits[1] < waits[0]
