"""Exact breakpoints: against the envelope of lines, and against a replay at every picosecond."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.replay.graph.programs import Story

from logpost.machines import load_machine, replay_parameters
from logpost.replay._native import call_kinds
from logpost.replay.graph import Engine, Scenario, changed, curve, direction, reached
from logpost.replay.graph.breakpoints import LARGEST_FACTOR, Tangent

pytestmark = pytest.mark.slow

LINES = st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 300)), min_size=1, max_size=30)


class Lines:
    """The largest of lines intercept + slope x; counts its evaluations."""

    def __init__(self, lines: Sequence[tuple[int, int]]) -> None:
        self.lines = lines
        self.replays = 0

    def at(self, x: float) -> tuple[float, int]:
        """The value, and the slope to the right."""
        return max((a + b * x, b) for a, b in self.lines)

    def __call__(self, x: Sequence[float]) -> list[Tangent]:
        self.replays += len(x)
        return [Tangent(one, *self.at(one), self.at(one)[1]) for one in x]


@given(lines=LINES)
def test_a_curve_is_the_envelope_of_its_lines(lines: list[tuple[int, int]]) -> None:
    envelope = Lines(lines)
    found = curve(envelope, 0.0, 100.0)
    assert found.above_ps == 0
    for x in np.linspace(0, 100, 401):
        (here,) = (one for one in found.segments if one.start <= x < one.end or x == one.end == 100.0)
        assert here.start_ps + here.slope * (x - here.start) == pytest.approx(envelope.at(x)[0], abs=0.01)
    slopes = [one.slope for one in found.segments]
    assert slopes == sorted(set(slopes))
    assert set(slopes) <= {b for _, b in lines}
    assert envelope.replays <= 2 * len(slopes) + 3


@given(lines=LINES, grown=st.integers(1, 500))
def test_a_target_is_reached_where_the_envelope_is(lines: list[tuple[int, int]], grown: int) -> None:
    envelope = Lines(lines)
    target = envelope.at(1.0)[0] + grown
    (factor,) = reached(envelope, [target])
    if max(b for _, b in lines) == 0:
        assert factor is None
    else:
        assert factor is not None
        # On one of the lines exactly, and no other is above it.
        assert factor == pytest.approx(min((target - a) / b for a, b in lines if b > 0), rel=1e-12)


def test_what_is_reached_nowhere_is_none() -> None:
    assert reached(Lines([(1, 0)]), [1.01]) == [None]
    assert reached(Lines([(0, 1)]), [LARGEST_FACTOR, 2 * LARGEST_FACTOR]) == [LARGEST_FACTOR, None]


def test_where_replays_run_out_the_curve_says_how_far_the_makespan_may_be_above_it() -> None:
    parabola = Lines([(-k * k, 2 * k) for k in range(100)])  # tangents of x^2
    found = curve(parabola, 0.0, 99.0, most=8)
    off = max(
        parabola.at(x)[0] - one.start_ps - one.slope * (x - one.start)
        for one in found.segments
        for x in np.linspace(one.start, one.end, 50)
    )
    assert 0 < off <= found.above_ps
    assert curve(parabola, 0.0, 99.0).above_ps == 0


GAPS = st.integers(0, 300)
STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.integers(0, 3),
            st.integers(1, 3),
            st.sampled_from([1, 20, 90]),
            st.tuples(GAPS, GAPS),
            st.tuples(st.integers(1, 200), st.integers(1, 400)),
        ),
        st.tuples(st.lists(GAPS, min_size=4, max_size=4), st.integers(1, 300)),
    ),
    min_size=1,
    max_size=8,
)


def _machine() -> Scenario:
    """o_s 7, L 60, o_r 11, g 30, G 1 ps/B between nodes; messages of more than 50 bytes shake hands."""
    machine = replay_parameters(load_machine("alewife"))
    for name, value in {"L": 60, "o_s": 7, "o_r": 11, "g": 30, "G": 1, "o_s_per_byte": 0, "o_r_per_byte": 0}.items():
        machine = machine.with_value(name, value)
    plain = replace(machine, log3p=None, beyond_loggp=type(machine.beyond_loggp)())
    return changed(Scenario(plain), ["eager_limit=50B"])


def _story(steps: list[Any]) -> Story:
    story = Story(4)
    for step in steps:
        if len(step) == 2:
            story.barrier(*step)
        else:
            sender, distance, size, gaps, lasts = step
            story.message(sender, (sender + distance) % 4, size, gaps, lasts)
    return story


@given(steps=STEPS, name=st.sampled_from(["L", "o", "o_r", "g", "G"]))
def test_of_any_program_the_curve_is_a_replay_at_every_value(steps: list[Any], name: str) -> None:
    story, recorded = _story(steps), _machine()
    engine = Engine(story.program(), recorded, locations=4, callpaths=len(call_kinds()))
    most = 12 if name == "G" else 150
    axis = direction(recorded, name, factor=False)
    # A NIC with no service time orders nothing: at g = G = 0, the makespan may be below the limit of the curve.
    least = 1 if name in ("g", "G") else 0
    found = curve(lambda x: engine.tangents(axis, x), float(least), float(most))
    assert found.above_ps == 0
    unit = "ps/B" if name == "G" else "ps"
    # Every cost is a whole number here, and so is every makespan: nothing is rounded.
    exact = engine.replay([changed(recorded, [f"{name}={value}{unit}"]) for value in range(least, most + 1)])
    for value, outcome in enumerate(exact, start=least):
        (here,) = (one for one in found.segments if one.start <= value < one.end or value == one.end == most)
        assert here.start_ps + here.slope * (value - here.start) == pytest.approx(outcome.makespan_ps, abs=0.01)
        assert here.slope == here.count
    rises = np.diff([outcome.makespan_ps for outcome in exact])
    for one in found.segments:
        inside = rises[int(np.ceil(one.start)) - least : int(np.floor(one.end)) - least]
        assert set(inside.tolist()) <= {int(one.count)}


def test_a_factor_counts_the_parameter_itself() -> None:
    # Two messages in a row: the receiver's path has L once for each that it waits for.
    story = Story(2)
    story.message(0, 1, 1, (100, 0), (7, 78))
    story.message(1, 0, 1, (0, 0), (7, 78))
    recorded = _machine()
    engine = Engine(story.program(), recorded, locations=2, callpaths=len(call_kinds()))
    (found,) = engine.tangents(direction(recorded, "L", factor=True), [3.0])
    assert (found.count, found.slope) == (2, 120)
    (unchanged,) = engine.tangents(direction(recorded, "L", factor=True), [1.0])
    assert found.makespan_ps == unchanged.makespan_ps + 2 * 120
    assert unchanged.makespan_ps == engine.replay([recorded])[0].makespan_ps
