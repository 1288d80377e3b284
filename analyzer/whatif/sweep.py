"""The makespan over one parameter: at the values that are asked for, and as the exact curve between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from logpost.analyzer.whatif.plan import Plan
from logpost.analyzer.whatif.tolerance import Tolerance, sampled_tolerances, tolerances
from logpost.errors import InputError
from logpost.replay.models.interface import Kind
from logpost.replay.predict.quantities import parse_sweep
from logpost.replay.whatif import Curve, Engine, Outcome, Scenario, curve, direction
from logpost.replay.whatif.breakpoints import Tangent
from logpost.replay.whatif.changes import PARAMETERS
from logpost.replay.whatif.network_changes import SWEPT
from logpost.replay.whatif.regions import region

Interval = Callable[[Engine, Scenario, Outcome], tuple[int, int]]


@dataclass(frozen=True)
class Point:
    """One point of a sweep."""

    text: str
    makespan_ps: int
    interval_ps: tuple[int, int]


@dataclass(frozen=True)
class Piece:
    """A part of the curve that is a line, from one breakpoint to the next."""

    start: str
    end: str
    start_value: float
    """a factor, or picoseconds (per byte)"""
    end_value: float
    start_ps: float
    count: float
    """dT / d parameter: how often the critical path takes it; of G in bytes"""
    region: str
    """SENS's name of how the makespan grows here"""


@dataclass(frozen=True)
class Sweep:
    """The makespan over a parameter."""

    name: str
    points: list[Point]
    pieces: list[Piece]
    """empty where the makespan is not known to be a convex function of the parameter"""
    above_ps: float
    """by how much the makespan may lie above the pieces; 0: every breakpoint is there"""
    tolerances: list[Tolerance]
    sampled: str = ""
    """why nothing is known between the points; empty: the pieces are"""


def sweep(plan: Plan, text: str, interval_ps: Interval) -> Sweep:
    """What `--sweep` asks for.

    Raises:
        InputError: the sweep is not understood.
    """
    name, equals, span = (part.strip() for part in text.partition("="))
    symbol = name.rpartition(".")[2]
    known = {**{key: value[0] for key, value in PARAMETERS.items()}, **SWEPT}
    if not equals or symbol not in known:
        raise InputError(
            f"--sweep {text}: write NAME=FROM:TO:COUNT, e.g. L=1us:100us:11 or L=x0.1:x10:11; "
            f"NAME is one of {', '.join(known)}"
        )
    parameter = known[symbol]
    factor = "x" in span
    if factor:
        values = parse_sweep(replace(parameter, kind="ratio"), span.replace("x", ""), time_unit="ps", clock_hz=None)
        texts = [f"x{value:g}" for value in values.tolist()]
    else:
        values = parse_sweep(parameter, span, time_unit="ps", clock_hz=None)
        unit = {"time": "ps", "time_per_byte": "ps/B"}.get(parameter.kind, "B")
        texts = [f"{value:.17g}{unit}" for value in values.tolist()]
    scenarios = [plan.scenario([f"{name}={value}"]) for value in texts]
    engine = plan.engine()
    same_messages = symbol != "eager_limit" and symbol not in SWEPT
    engines = engine.as_they_come(scenarios) if same_messages else [engine] * len(scenarios)
    kept = [each for each, used in zip(scenarios, engines, strict=True) if used is engine]
    in_one_pass = iter(engine.replay(kept) if kept else [])
    outcomes = [
        next(in_one_pass) if used is engine else used.replay([each])[0]
        for each, used in zip(scenarios, engines, strict=True)
    ]
    points = [
        Point(_shown(parameter.kind, value, factor), outcome.makespan_ps, interval_ps(used, each, outcome))
        for value, used, each, outcome in zip(values.tolist(), engines, scenarios, outcomes, strict=True)
    ]
    if symbol == "eager_limit":
        return Sweep(name, points, [], 0.0, [], "protocols change")
    if symbol in SWEPT:
        return Sweep(name, points, [], 0.0, [], "the network changes")
    scenario = plan.planned
    contends = engine.contends(scenario)
    if contends or any(used is not engine for used in engines):

        def makespans(factors: Sequence[float]) -> list[int]:
            asked = [plan.scenario([f"{name}=x{one:.17g}"]) for one in factors]
            used = engine.as_they_come(asked)
            return [one.makespans([each])[0] for one, each in zip(used, asked, strict=True)]

        why = "messages wait for each other in the network" if contends else "messages come to NICs in another order"
        return Sweep(name, points, [], 0.0, sampled_tolerances(makespans), why)
    factors = direction(scenario, name, factor=True)
    axis = factors if factor else direction(scenario, name, factor=False)

    def along(x: Sequence[float]) -> list[Tangent]:
        return engine.tangents(axis, x)

    low, high = float(values.min()), float(values.max())
    found = Curve((), 0.0) if low == high else curve(along, low, high)
    return Sweep(
        name,
        points,
        _pieces(found, parameter.kind, factor=factor),
        found.above_ps,
        tolerances(lambda x: engine.tangents(factors, x)),
    )


def _pieces(found: Curve, kind: Kind, *, factor: bool) -> list[Piece]:
    """The region of a piece is that of its elasticity d ln T / d ln parameter, which is greatest at its end."""
    return [
        Piece(
            _shown(kind, one.start, factor),
            _shown(kind, one.end, factor),
            one.start,
            one.end,
            one.start_ps,
            one.count,
            region(one.slope * one.end / max(one.start_ps + one.slope * (one.end - one.start), 1.0), congests=False),
        )
        for one in found.segments
    ]


def _shown(kind: Kind, value: float, factor: bool) -> str:
    if factor:
        return f"x{value:g}"
    if kind == "time":
        return f"{value / 1e6:g} us"
    if kind == "time_per_byte":
        return f"{value / 1e3:g} ns/B"
    return f"{np.format_float_positional(value, trim='-')} B"
