"""Ranks that share cores, from simulator to finding: the same programs where each has a core, and where it has one that
something else takes now and then. What a rank does without a core has no label in the truth."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import SIMULATE, analyzed, judged, simulate

pytestmark = pytest.mark.skipif(not SIMULATE.exists(), reason="the simulator is not built: make setup")

SHARED = (
    "four_a_core_spin",
    "four_a_core_yield",
    "some_more_ranks_spin",
    "sums_spin",
    "sums_yield",
    "two_a_core_spin",
    "two_a_core_yield",
    "two_nodes_spin",
)
ENOUGH = ("enough_cores", "enough_cores_noise")
UNKNOWN = ("long_steps_spin",)
"""Steps of several slices: no computation is shown to have had a core all along."""


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("shared") / "cases"
    assert {*SHARED, *ENOUGH, *UNKNOWN} == set(simulate(place, "--shared-cores"))
    return place


@pytest.mark.parametrize("machine", ["exact", "estimate"])
@pytest.mark.parametrize("name", SHARED)
def test_a_lack_of_cores_is_one_finding_with_its_gain(cases: Path, tmp_path: Path, name: str, machine: str) -> None:
    case = cases / name
    run = analyzed(case, tmp_path / "run", str(case / "machine.toml") if machine == "exact" else machine)
    found = judged(case, run)
    assert found.verdict.right, found.verdict
    assert found.gain_is_right, found.verdict
    # The cost of operations, and the ranks that are slowed by it, are no further findings.
    kinds = set(run.table("findings").collect()["kind"])
    assert kinds == {"shared_cores"}


@pytest.mark.parametrize("name", ENOUGH)
def test_ranks_with_a_core_each_lack_none(cases: Path, tmp_path: Path, name: str) -> None:
    case = cases / name
    assert judged(case, analyzed(case, tmp_path / "run", str(case / "machine.toml"))).verdict.kind == ""
