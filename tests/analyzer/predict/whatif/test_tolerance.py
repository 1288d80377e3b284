"""Tolerances are exact: a search by whole replays, which knows nothing of breakpoints, ends at the same factors, also
where messages arrive at NICs in another order."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.predict.whatif import TOLERATED, Ask
from logpost.analyzer.predict.whatif.plan import Plan, Rebuilt
from logpost.analyzer.predict.whatif.sweep import Sweep, sweep
from logpost.analyzer.predict.whatif.tolerance import PRECISION
from logpost.analyzer.run.directory import Run

pytestmark = pytest.mark.slow

ARCHIVES = ("pipit-ping-pong", "scorep-npb-lu-S-comp-4", "scorep-lulesh-nocomp-8", "tracer-stencil4d-32")
LARGEST = 1e6


@pytest.fixture(scope="module", params=ARCHIVES)
def plan(request: pytest.FixtureRequest, traces: Path, tmp_path_factory: pytest.TempPathFactory) -> Plan:
    place = tmp_path_factory.mktemp("tolerance") / "a.run"
    run = Run.open(analyze(Request(str(traces / request.param), str(place))))
    # What is estimated as 0 has no factors.
    machine = ("L=20us", "o=5us", "g=5us", "G=10ns/B")
    return Plan(Rebuilt(run), Ask(settings=machine, contention=False))


def swept(plan: Plan, span: str) -> Sweep:
    return sweep(plan, span, lambda _used, some, _found: [(0, 0)] * len(some))


def makespan(plan: Plan, found: Sweep, settings: list[str]) -> int:
    """Of a whole replay; NICs take messages in the recorded order where the sweep's lines say that it stays."""
    scenario = plan.scenario(settings)
    (used,) = plan.engine().in_arrival_order([scenario]) if found.sampled else [plan.engine()]
    return used.makespans([scenario])[0]


@pytest.mark.parametrize("name", ["L", "o", "g", "G"])
def test_a_search_by_replays_ends_at_the_same_factors(plan: Plan, name: str) -> None:
    from scipy.optimize import brentq

    found = swept(plan, f"{name}=x1:x2:2")

    @cache
    def at(factor: float) -> int:
        return makespan(plan, found, [f"{name}=x{factor:.17g}"])

    assert [one.percent for one in found.tolerances] == list(TOLERATED)
    unchanged = at(1.0)
    for one in found.tolerances:
        target = unchanged * (1 + one.percent / 100)
        if at(LARGEST) < target:
            assert one.factor is None
            continue
        low, high = 1.0, 2.0
        while at(high) < target:
            low, high = high, min(2 * high, LARGEST)
        there = brentq(lambda factor, target=target: at(factor) - target, low, high, xtol=1e-9)
        # Values of a replay are whole picoseconds, those of the lines are not: 1 ps of 5 us. Where the order changes,
        # the length jumps: between two factors that were replayed.
        assert one.factor == pytest.approx(there, rel=PRECISION if found.sampled else 1e-6, abs=1e-6)


def test_without_a_search_the_points_are_the_same_and_only_a_line_has_tolerances(plan: Plan) -> None:
    searched = swept(plan, "L=x1:x2:2")
    found = sweep(plan, "L=x1:x2:2", lambda _used, some, _found: [(0, 0)] * len(some), searching=False)
    assert (found.points, found.bands, found.sampled) == (searched.points, searched.bands, searched.sampled)
    assert found.tolerances == ([] if searched.sampled else searched.tolerances)


@pytest.mark.parametrize("name", ["L", "G"])
def test_over_values_a_tolerance_is_a_value(plan: Plan, name: str) -> None:
    found = swept(plan, {"L": "L=1us:1ms:3", "G": "G=1ns/B:1us/B:3"}[name])
    unchanged = makespan(plan, found, [])
    for one in found.tolerances:
        if one.value is not None:
            grown = makespan(plan, found, [found.axis.setting(one.value)])
            assert grown / unchanged - 1 == pytest.approx(one.percent / 100, rel=1e-5)
