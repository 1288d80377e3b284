"""T_ideal of programs that the simulator also runs without a network: the replay's is that run's length."""

from __future__ import annotations

import polars as pl
import pytest

from logpost.analyzer.report.efficiency_windows import ideal_runtime
from logpost.analyzer.run.phases import program_ps

from .programs import SIMULATE, RunsOf

pytestmark = pytest.mark.skipif(not SIMULATE.exists(), reason="the simulator is not built: make setup")

CASES = (
    "clean_halo_noise",
    "imbalance_slope",
    "k_to_1_small",
    "many_reductions",
    "round_trips",
    "shift_rendezvous",
    "transpose",
    "wavefront",
)
NO_NETWORK = [word for value in ("L", "o_s", "o_r", "g", "G") for word in ("--set", f"{value}=0")]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunsOf, RunsOf]:
    """Runs of the cases, and of the same on a machine without a network."""
    place = tmp_path_factory.mktemp("ideal")
    return RunsOf(place / "real"), RunsOf(place / "ideal", *NO_NETWORK)


@pytest.mark.parametrize("case", CASES)
def test_the_replay_lasts_as_long_as_the_program_without_a_network(runs: tuple[RunsOf, RunsOf], case: str) -> None:
    run, without = (of[case] for of in runs)
    true = without.table("locations").select(program_ps().max()).collect().item()
    assert ideal_runtime(run.table("ideal_network")) == pytest.approx(true, rel=0.002)


def test_no_rank_takes_less_for_a_window_than_it_computes_there(runs: tuple[RunsOf, RunsOf]) -> None:
    for run in (runs[0][case] for case in CASES):
        compute = (
            run.table("accounting")
            .filter(pl.col("phase") == "program", pl.col("category") == "compute")
            .join(run.table("ideal_network"), on=["location", "window"], how="left")
            .collect()
        )
        assert compute["ideal_ps"].null_count() == 0
        assert compute.filter(pl.col("exposed_ps") > pl.col("ideal_ps") + 1).is_empty()  # 1 ps: rounded to windows
