"""Some programs of known cause, from simulator to first finding; `python -m tests.benchmarks truth` takes all."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analyzer.scaled_machine import FACTORS, scaled_machine

from .programs import SIMULATE, analyzed, judge, simulate

pytestmark = pytest.mark.skipif(not SIMULATE.exists(), reason="the simulator is not built: make setup")

CAUSES = (
    "communicators_slow_row",
    "dealt_tasks",
    "grid_sweep",
    "hybrid_alternating",
    "ring_waits_first",
    "sparse_hub",
    "stream_slow_stage",
    "iallreduce_slow_rank",
    "iallreduce_waits_first",
    "imbalance_shared_nic",
    "master_worker",
    "neighbourhood_hub",
    "neighbours_slow_rank",
    "particles_crowded",
    "reduce_then_bcast",
    "rma_late_post_bystander",
    "serial_output",
    "sweep_converges",
    "transposes_slow_row",
    "rma_fence_alternating",
    "rma_late_complete",
    "rma_late_post",
    "rma_locks",
    "rma_put_unattended",
    "k_to_1_large",
    "missed_overlap",
    "probe",
    "unattended_sender",
)
COARSE = ("iprobe_loop", "omp_unequal_alone", "rma_get_unattended", "rma_late_post", "test_loop")
"""On a clock whose ticks are longer than a query, and whose threads disagree about when a region began."""
CLEAN = (
    "asynchronous_progress",
    "clean_halo_noise",
    "clean_overlap",
    "communicators_clean",
    "gets_offloaded",
    "iallreduce_overlapped",
    "neighbours_even",
    "random_traffic",
    "rma_remote_access",
)


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("truth") / "cases"
    assert {*CAUSES, *CLEAN} == set(simulate(place, cases=(*CAUSES, *CLEAN)))
    return place


@pytest.mark.parametrize("name", CAUSES)
def test_the_first_finding_names_the_cause_and_what_its_cure_saves(cases: Path, tmp_path: Path, name: str) -> None:
    judged = judge(cases, name, tmp_path)
    assert judged.verdict.right, judged.verdict
    assert judged.gain_is_right, judged.verdict
    assert judged.verdict.true_gain > 0.1
    assert judged.labels.category_error < 0.01, judged.labels
    assert judged.labels.all_ranks > 0.99, judged.labels


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("name", [*CAUSES, *CLEAN])
def test_no_finder_fails_under_a_wrong_machine(cases: Path, tmp_path: Path, name: str, factor: float) -> None:
    machine = scaled_machine(cases / name / "machine.toml", factor, tmp_path / "machine.toml")
    analyzed(cases / name, tmp_path / "run", str(machine))  # which lets no part of logpost fail


def test_a_waitany_takes_something_else_without_the_cause(tmp_path: Path) -> None:
    """Waitanys complete other requests where ranks arrive otherwise: with the recorded order 20.3 % of 28.4 were
    stated."""
    simulate(tmp_path / "cases", cases=["waitany_uneven"])
    judged = judge(tmp_path / "cases", "waitany_uneven", tmp_path)
    assert judged.verdict.right, judged.verdict
    assert judged.gain_is_right, judged.verdict


@pytest.mark.parametrize("name", COARSE)
def test_a_coarse_clock_hides_no_cause(tmp_path: Path, name: str) -> None:
    simulate(tmp_path / "cases", "--tick", "100000", "--noise", "50000", cases=[name])
    judged = judge(tmp_path / "cases", name, tmp_path)
    assert judged.verdict.right, judged.verdict
    assert judged.gain_is_right, judged.verdict


def test_noise_on_a_coarse_clock_is_no_cause(tmp_path: Path) -> None:
    simulate(tmp_path / "cases", "--noise", "50000", cases=["omp_clean_noise"])
    assert judge(tmp_path / "cases", "omp_clean_noise", tmp_path).verdict.kind == ""


@pytest.mark.parametrize("name", CLEAN)
def test_nothing_is_found_in_a_clean_program(cases: Path, tmp_path: Path, name: str) -> None:
    judged = judge(cases, name, tmp_path)
    assert judged.clean
    assert judged.verdict.kind == ""
