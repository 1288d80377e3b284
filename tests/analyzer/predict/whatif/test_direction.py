"""Which scenarios can only cost more, or only less, and what that excludes."""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from logpost.analyzer.predict.whatif import Ask
from logpost.analyzer.predict.whatif.ask import Replay
from logpost.analyzer.predict.whatif.direction import SLACK, bounded
from logpost.analyzer.run.directory import Run
from logpost.machines import load_machine, replay_parameters
from logpost.replay.graph import Scenario, changed, on_machine
from logpost.replay.graph.cost_direction import direction

US = 1_000_000


@pytest.fixture(scope="module")
def replay(runs: dict[str, Run]) -> Replay:
    return Replay(runs["pipit-ping-pong"])


@pytest.fixture(scope="module")
def recorded(replay: Replay) -> Scenario:
    """L is 10 us in every class, ± 2 us; G is 100 ps a byte, exactly."""
    scenario = replay.rebuilt.recorded
    old = scenario.machine
    errors = {**old.errors, "L_ps": np.full(old.L_ps.shape, 2.0 * US), "G_ps_per_byte": np.zeros(old.L_ps.shape)}
    machine = replace(
        old,
        L_ps=np.full(old.L_ps.shape, 10 * US),
        G_ps_per_byte=np.full(old.L_ps.shape, 100.0),
        errors=MappingProxyType(errors),
    )
    return replace(scenario, machine=machine)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ([], 0),
        (["L=x4"], 1),
        (["L=+1us"], 1),
        (["L=x0.5"], -1),
        (["L=-1us"], -1),
        (["network=ideal"], 0),  # what is beyond LogGP vanishes, too
        (["L=x4", "G=x2"], 1),
        (["L=x4", "G=x0.5"], 0),
        (["L=13us"], 1),  # above 12 us
        (["L=11us"], 0),  # the recorded one may be 12 us
        (["L=7us"], -1),
        (["eager_limit=none"], 0),
        (["progress=asynchronous"], 0),
    ],
)
def test_direction(recorded: Scenario, settings: list[str], expected: int) -> None:
    assert direction(recorded, changed(recorded, settings)) == expected


def test_the_direction_of_computation(recorded: Scenario) -> None:
    half = np.array([0.5, 1.0])
    assert direction(recorded, replace(recorded, compute=2.0)) == 1
    assert direction(recorded, replace(recorded, by_location=half)) == -1
    assert direction(recorded, replace(recorded, compute=2.0, by_callpath=half)) == 0
    assert direction(recorded, replace(changed(recorded, ["L=x4"]), compute=0.5)) == 0


def test_a_value_of_0_that_may_be_more_has_a_direction(recorded: Scenario) -> None:
    """16 times 0 ± 2 us is 0 to 32 us; 16 times exactly 0 is 0."""
    none = np.zeros_like(recorded.machine.L_ps)
    unknown = replace(recorded, machine=replace(recorded.machine, L_ps=none))
    assert direction(unknown, changed(unknown, ["L=x16"])) == 1
    assert direction(unknown, changed(unknown, ["L=x0.5"])) == -1
    exact = {**recorded.machine.errors, "L_ps": np.zeros(none.shape)}
    zero = replace(unknown, machine=replace(unknown.machine, errors=MappingProxyType(exact)))
    assert direction(zero, changed(zero, ["L=x16"])) == 0


@pytest.mark.parametrize("factor", [2.0, math.nextafter(2.0, 3.0), 4.000000000000001])
def test_rounding_is_no_direction(recorded: Scenario, factor: float) -> None:
    """L may be 0, so twice L may be, too: a sweep's step comes out as 2 or the next float, an L in whole ps."""
    L_ps = np.full(recorded.machine.L_ps.shape, 22_201_242)
    errors = {**recorded.machine.errors, "L_ps": L_ps.astype(np.float64)}
    known = replace(recorded, machine=replace(recorded.machine, L_ps=L_ps, errors=MappingProxyType(errors)))
    assert direction(known, changed(known, [f"L=x{factor!r}"])) == 1


def test_another_machine_has_no_direction(recorded: Scenario) -> None:
    assert direction(recorded, on_machine(recorded, replay_parameters(load_machine("alewife")))) == 0


def test_what_a_direction_excludes() -> None:
    """Of a program of 1000: dearer it takes 990 at least, cheaper 1010 at most; the prediction always stays inside."""
    assert bounded((200, 5000), 1000, 3000, 1) == (990, 5000)
    assert bounded((200, 5000), 1000, 600, -1) == (200, 1010)
    assert bounded((200, 5000), 1000, 600, 1) == (600, 5000)
    assert bounded((200, 5000), 1000, 3000, -1) == (200, 3000)
    assert bounded((200, 5000), 1000, 3000, 0) == (200, 5000)
    assert bounded((995, 5000), 1000, 3000, 1) == (995, 5000)


def test_a_longer_latency_is_not_said_to_save(replay: Replay) -> None:
    """Estimated from a ping-pong, much of L is uncertain; sixteen times it is dearer all the same."""
    found = replay.predict(Ask(settings=("L=x16",), contention=False))
    assert found.interval_ps[0] >= math.floor((1 - SLACK) * found.measured_ps)
    assert found.interval_ps[0] <= found.predicted_ps <= found.interval_ps[1]
