"""Programs whose collectives are trees of known messages: their time is divided as the simulation says."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from logpost.analyzer.run.schema import COLLECTIVE_PARTS

from .compare import truth_of
from .programs import SIMULATE, analyzed, simulate

pytestmark = pytest.mark.skipif(not SIMULATE.exists(), reason="the simulator is not built: make setup")

ALGORITHMS = {
    "alternating_imbalance": ("Allreduce", "recursive_doubling"),
    "barrier_slow_rank": ("Barrier", "dissemination"),
    "early_root": ("Reduce", "binomial"),
    "late_root": ("Bcast", "binomial"),
    "transpose": ("Alltoall", "pairwise"),
}
WITHIN = 0.05
"""Of all time in collectives that is divided, for each part."""


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("truth") / "cases"
    simulate(place, cases=ALGORITHMS)
    return place


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_part_is_the_simulations_and_the_algorithm_is_found(cases: Path, tmp_path: Path, name: str) -> None:
    case = cases / name
    run = analyzed(case, tmp_path / "a.run", str(case / "machine.toml"))
    rows = run.table("collective_parts").group_by("part").agg(pl.col("exposed_ps").sum()).collect()
    ours = {str(part): int(time) for part, time in rows.iter_rows()}
    true: dict[str, int] = dict.fromkeys(COLLECTIVE_PARTS, 0)
    for rank in truth_of(case)["in_collectives"]:
        for cause, time in rank.items():
            true["late_members" if cause == "late_sender" else cause] += time
    whole = sum(true.values())
    assert whole > 0
    for part in COLLECTIVE_PARTS:
        assert abs(ours.get(part, 0) - true[part]) <= WITHIN * whole, part
    assert sum(ours.values()) == whole

    operation, algorithm = ALGORITHMS[name]
    kind = run.table("collective_kinds").filter(pl.col("operation").cast(pl.String) == operation).collect()
    assert kind["algorithm"].to_list() == [algorithm]
    assert kind["residual_ps"][0] + kind["deficit_ps"][0] <= 0.01 * kind["measured_ps"][0]


def test_the_rules_of_a_profile_select_the_algorithm_whatever_is_nearer(cases: Path, tmp_path: Path) -> None:
    name = next(name for name, (operation, _) in ALGORITHMS.items() if operation == "Allreduce")
    case = cases / name
    stated = (case / "machine.toml").read_text().replace('value = "textbook"', 'value = "simgrid"')
    machine = tmp_path / "machine.toml"
    machine.write_text(stated)
    run = analyzed(case, tmp_path / "a.run", str(machine))
    kind = run.table("collective_kinds").filter(pl.col("operation").cast(pl.String) == "Allreduce").collect()
    # SMPI: a reduction to the first rank, then a binomial tree. The messages were those of recursive doubling.
    assert kind["algorithm"].to_list() == ["linear_then_tree"]
    assert kind["second"].to_list() == ["not_known"]
    assert kind["residual_ps"][0] + kind["deficit_ps"][0] > 0.01 * kind["measured_ps"][0]
