"""Whatever the samples hold, the extraction ends in a valid file or in one sentence, and writes no negative value."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.machines.calibration.virtual import Virtual

from logpost.collectors.calibration.simulated import Truth
from logpost.errors import InputError
from logpost.machines.calibration.compose import calibration
from logpost.machines.calibration.samples import Samples
from logpost.machines.calibration.statistics import Statistics
from logpost.machines.schema.load import check_machine
from logpost.machines.schema.places import quantities
from logpost.machines.schema.write import to_toml
from logpost.machines.values.toml import tomllib

TRUTH = Truth(L=6.3e-6, o_s=1.4e-6, o_r=2.2e-6, g=7.6e-6, G=1e-9, o_s_per_byte=0.1e-9, o_r_per_byte=0.2e-9)


@cache
def clean() -> Samples:
    """Made when the first test needs it: every process of the suite imports this file."""
    return Virtual(TRUTH).samples()


def checked(samples: Samples) -> None:
    try:
        found = calibration(samples, name="any")
    except InputError as error:
        sentence = str(error)
    else:
        sentence = ""
    if sentence:
        assert "\n" not in sentence
        return
    for place, quantity in quantities(found.machine):
        assert quantity.value is not None, place
        assert quantity.interval is not None, place
        assert 0.0 <= quantity.interval[0] <= quantity.value <= quantity.interval[1], place
    machine, problems = check_machine(tomllib.loads(to_toml(found.machine)), "any")
    assert problems == []
    assert machine == found.machine
    assert all(refusal.reason and np.isfinite(refusal.value) for refusal in found.refused)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32 - 1), st.floats(0.0, 3.0), st.floats(0.0, 1.0))
def test_any_times_give_a_valid_file_or_a_sentence(seed: int, spread: float, kept: float) -> None:
    """Each time off by its own factor exp(N(0, spread)) in each round, and a share of the points missing."""
    random = np.random.default_rng(seed)
    points = []
    for p in clean().points:
        if random.random() > kept:
            continue
        rounds = p.time.median_s * np.exp(spread * random.standard_normal(7))
        middle = float(np.median(rounds))
        time = replace(
            p.time,
            median_s=middle,
            minimum_s=float(rounds.min()),
            half_width_s=float(rounds.max() - middle),
            rounds_s=tuple(rounds.tolist()),
        )
        points.append(replace(p, time=time))
    checked(Samples(clean().host, tuple(points)))


@pytest.mark.parametrize("factor", [0.0, 1e-9, 1e9])
def test_times_of_any_scale(factor: float) -> None:
    def scaled(time: Statistics) -> Statistics:
        return replace(
            time,
            median_s=time.median_s * factor,
            minimum_s=time.minimum_s * factor,
            half_width_s=time.half_width_s * factor,
            rounds_s=tuple(r * factor for r in time.rounds_s),
        )

    checked(Samples(clean().host, tuple(replace(p, time=scaled(p.time)) for p in clean().points)))


def test_a_machine_without_overheads_has_none() -> None:
    free = Truth(L=5e-6, o_s=0.0, o_r=0.0, g=1e-6, G=1e-9)
    samples = Virtual(free).samples()
    some = tuple(p for p in samples.points if p.family in ("message_overhead", "one_way"))
    table = calibration(Samples(samples.host, some), name="free").machine.loggp.of("other_node")
    assert table is not None
    assert table.range[0].o_s is not None
    assert table.range[0].o_s.number() == 0.0
    assert table.range[0].L is not None
    assert table.range[0].L.base() == pytest.approx(5e6, rel=1e-6)
