"""What the rounds show of the machine during its measurement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.machines.calibration.virtual import Virtual

from logpost.collectors.calibration.simulated import Truth
from logpost.machines.calibration.compose import calibration
from logpost.machines.calibration.disturbance import warning
from logpost.machines.calibration.samples import Samples

TRUTH = Truth(L=6.3e-6, o_s=1.4e-6, o_r=2.2e-6, g=7.6e-6, G=1e-9)


@cache
def quiet() -> Samples:
    """Made when the first test needs it: every process of the suite imports this file."""
    return Virtual(TRUTH).samples()


def slowed(factors: Sequence[float]) -> Samples:
    """Messages between ranks took so many times as long in each round, with 5 % of scatter; the rest as ever."""
    random = np.random.default_rng(1)
    points = []
    for p in quiet().points:
        moved = factors if p.family in ("one_way", "round_trip", "signature") else [1.0] * len(factors)
        rounds = p.time.median_s * np.array(moved) * np.exp(0.05 * random.standard_normal(len(factors)))
        points.append(replace(p, time=replace(p.time, rounds_s=tuple(rounds.tolist()))))
    return Samples(quiet().host, tuple(points))


def test_a_quiet_machine() -> None:
    assert warning(quiet()) == ""
    assert warning(slowed([1.0] * 20)) == ""


def test_a_busy_machine_is_said_to_be_one() -> None:
    points = list(quiet().points)
    # Every tenth point had one round that the scheduler held up.
    for i in range(0, len(points), 10):
        time = points[i].time
        points[i] = replace(points[i], time=replace(time, rounds_s=(*time.rounds_s[:-1], 50 * time.rounds_s[0])))
    found = calibration(Samples(quiet().host, tuple(points)), name="busy")
    assert "took more than 10 times as long " in found.warning
    assert found.machine.notes[0] == found.warning


@pytest.mark.parametrize(("slow", "rounds"), [(3, 20), (10, 20), (17, 20), (2, 6)])
def test_two_speeds(slow: int, rounds: int) -> None:
    said = warning(slowed([1.0] * (rounds - slow) + [3.0] * slow))
    assert f"took 3.0 times as long in {slow} of {rounds} rounds as in the others" in said
    assert "other load" not in said


def test_bound_ranks_get_no_advice_to_bind() -> None:
    samples = slowed([1.0] * 10 + [3.0] * 10)
    assert "--bind-to" not in warning(samples)
    assert "--bind-to core" in warning(replace(samples, host=replace(samples.host, cpus=("0-3,8", "1"))))


@pytest.mark.parametrize(
    ("hosts", "cpus", "said"),
    [
        (("a", "a", "a"), ("0-1", "0-1", "0-1"), "3 ranks share 2 processors of a"),
        (("a", "b", "b"), ("0", "3", "3"), "2 ranks share 1 processors of b"),
        (("a", "a", "b"), ("0", "1", "0"), ""),
        # What cannot be known is not said.
        (("a", "a"), ("unknown", "unknown"), ""),
    ],
)
def test_more_ranks_than_processors(hosts: tuple[str, ...], cpus: tuple[str, ...], said: str) -> None:
    warned = warning(replace(quiet(), host=replace(quiet().host, hosts=hosts, cpus=cpus)))
    assert said in warned
    assert bool(warned) == bool(said)


@pytest.mark.parametrize(
    "factors",
    [
        # Fewer than an interval of 20 rounds reaches over: the third from either end.
        [1.0] * 18 + [3.0] * 2,
        # One wild round of six.
        [1.0] * 5 + [3.0],
        # Too few rounds to judge.
        [1.0, 1.0, 1.0, 3.0, 3.0],
        # A slow drift, no step.
        [1.1**j for j in range(20)],
    ],
)
def test_what_are_no_two_speeds(factors: list[float]) -> None:
    assert "two speeds" not in warning(slowed(factors))
