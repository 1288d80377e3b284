"""The makespan over one parameter: at the requested values, and as the exact curve between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from logpost.analyzer.predict.whatif.axis import Axis, parse_axis
from logpost.analyzer.predict.whatif.plan import Plan
from logpost.analyzer.predict.whatif.replayed import Intervals, replayed
from logpost.analyzer.predict.whatif.tolerance import Tolerance, sampled_tolerances, tolerances
from logpost.replay.graph import Curve, curve, direction
from logpost.replay.graph.breakpoints import Tangent, Tangents
from logpost.replay.graph.network_changes import SWEPT
from logpost.replay.graph.regions import Band, bands, region


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

    axis: Axis
    points: list[Point]
    pieces: list[Piece]
    """empty where they were not requested, or the makespan is not known to be a convex function of the parameter"""
    above_ps: float
    """by how much the makespan may lie above the pieces; 0: every breakpoint is there"""
    tolerances: list[Tolerance]
    """empty where they were not searched, too"""
    bands: list[Band]
    """SENS's regions between the points, neighbours of one name as one; empty where they have no logarithms"""
    sampled: str = ""
    """why nothing is known between the points; empty: the pieces can be"""

    @property
    def name(self) -> str:
        """The parameter, with its locality."""
        return self.axis.name


def sweep(plan: Plan, text: str, intervals: Intervals, *, searching: bool = True) -> Sweep:
    """What `--sweep` requests; see `Ask.searching`.

    Raises:
        InputError: the sweep is not understood.
    """
    axis = parse_axis(text, "--sweep")
    name = axis.name
    scenarios = [plan.scenario([setting]) for setting in axis.settings]
    engine = plan.engine()
    used, outcomes, within = replayed(engine, scenarios, intervals, same_messages=axis.same_messages)
    points = [
        Point(shown, outcome.makespan_ps, interval)
        for shown, outcome, interval in zip(axis.shown, outcomes, within, strict=True)
    ]
    named = bands(
        axis.numbers,
        [point.makespan_ps for point in points],
        worse_upwards=axis.worse_upwards,
        congests=any(engine.contends(one) for one in scenarios),
    )
    if axis.symbol == "eager_limit":
        return Sweep(axis, points, [], 0.0, [], [], "protocols change")
    if axis.symbol in SWEPT:
        return Sweep(axis, points, [], 0.0, [], named, "the network changes")
    scenario = plan.planned
    factors = direction(scenario, name, factor=True)
    contends = engine.contends(scenario)
    if contends or any(one.reordered for one in used):

        def makespans(at: Sequence[float]) -> list[int]:
            return engine.makespans_in_arrival_order([plan.scenario([f"{name}=x{one:.17g}"]) for one in at])

        def as_at(factor: float) -> Tangents:
            (one,) = engine.in_arrival_order([plan.scenario([f"{name}=x{factor:.17g}"])])
            return lambda x: one.tangents(factors, x)

        why = (
            "messages wait for each other in the network"
            if contends
            else "messages take another order at some points, whose intervals reach the length in recorded order"
        )
        known = dict(zip(axis.values, (point.makespan_ps for point in points), strict=True)) if axis.factor else {}
        found = sampled_tolerances(makespans, None if contends else as_at, known) if searching else []
        return Sweep(axis, points, [], 0.0, found, named, why)
    varied = factors if axis.factor else direction(scenario, name, factor=False)

    def along(x: Sequence[float]) -> list[Tangent]:
        return engine.tangents(varied, x)

    low, high = min(axis.values), max(axis.values)
    line = curve(along, low, high) if plan.ask.breakpoints and low < high else Curve((), 0.0)
    return Sweep(
        axis,
        points,
        _pieces(line, axis),
        line.above_ps,
        tolerances(lambda x: engine.tangents(factors, x), None if axis.factor else along, high),
        named,
    )


def _pieces(found: Curve, axis: Axis) -> list[Piece]:
    """The region of a piece is that of its elasticity d ln T / d ln parameter, which is greatest at its end."""
    return [
        Piece(
            axis.show(one.start),
            axis.show(one.end),
            one.start,
            one.end,
            one.start_ps,
            one.count,
            region(one.slope * one.end / max(one.start_ps + one.slope * (one.end - one.start), 1.0), congests=False),
        )
        for one in found.segments
    ]
