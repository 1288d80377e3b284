"""The tables and charts of a sweep: SENS's bisection and latency are shown in one way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from logpost.experiments.framework.result import Cell, Column, Figure, Number, Origin, Part, Table
from logpost.experiments.support.alewife import CYCLE_NS, MACHINE
from logpost.experiments.support.sens import MEMORY, MESSAGES, kcycles, limits
from logpost.experiments.support.sens_regions import crossings, regions_text
from logpost.experiments.support.sens_sweep import Swept, applications, of
from logpost.replay.graph.regions import HIDDEN_BELOW


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """What is swept."""

    figure: str
    """Of the paper: Fig. 8."""
    said: str
    """In a sentence: run time over ..."""
    axis: str
    """Of the charts, with the unit."""
    unit: str
    """Of a number in a table."""
    base: float
    """That of the unchanged Alewife."""
    change: str
    """What regions divide by: the loss of ..., the growth of ..."""
    congests: bool
    """Whether links can become the bottleneck, so that there is a third region."""
    falls: bool
    """From large to small, in the sweep and on the axis."""


def sweep_page(curves: Sequence[Swept], swept: Quantity) -> Part:
    """Cross-over, regions and times; a chart per application; what is true of every SENS experiment."""
    return Part(
        tables=(_crossings_table(curves, swept), _regions_table(curves, swept), _times_table(curves, swept)),
        figures=_figures(curves, swept),
        differences=limits(),
    )


def _times_table(curves: Sequence[Swept], swept: Quantity) -> Table:
    """A row per application and mechanism, a column per setting."""
    return Table(
        f"{swept.figure}: run time",
        (
            Column("case", Origin.SETTING),
            *(Column(f"{x:g} {swept.unit}", Origin.TESTBED, MACHINE) for x in curves[0].x),
        ),
        tuple((f"{one.application}, {one.mechanism.name}", *(kcycles(s) for s in one.seconds)) for one in curves),
        note=f"Run time in thousands of cycles over {swept.said}. The unchanged Alewife has {swept.base:g}.",
    )


def _regions_table(curves: Sequence[Swept], swept: Quantity) -> Table:
    """The regions of each curve, and its growth over the whole sweep."""
    rows: list[tuple[Cell, ...]] = [
        (
            f"{one.application}, {one.mechanism.name}",
            Number(100 * one.growth(one.x[-1], swept.base), "%"),
            regions_text(one, swept.base, swept.unit, congests=swept.congests),
        )
        for one in curves
    ]
    return Table(
        "Regions",
        (
            Column("case", Origin.SETTING),
            Column(f"{swept.base:g} to {curves[0].x[-1]:g} {swept.unit}", Origin.TESTBED, MACHINE),
            Column("regions by the rule below", Origin.DERIVED),
        ),
        tuple(rows),
        note=_rule(swept),
    )


def _rule(swept: Quantity) -> str:
    """How `sens_regions` distinguishes regions."""
    above = (
        "up to 1, which is the linear decrease of the axis: latency dominated; above: congestion dominated."
        if swept.congests
        else "above: latency dominated. Latency alone congests nothing."
    )
    return (
        f"Rule: the growth of the run time between neighbouring settings over {swept.change}, both as fractions of "
        f"those at {swept.base:g} {swept.unit}. Below {HIDDEN_BELOW:g}: latency hiding; {above}"
    )


def _crossings_table(curves: Sequence[Swept], swept: Quantity) -> Table:
    """Where shared memory, which is faster on one side, becomes slower than messages."""
    rows: list[tuple[Cell, ...]] = []
    for application in applications(curves):
        for memory in (m for m in MEMORY if any(one.mechanism == m for one in curves)):
            for messages in (m for m in MESSAGES if any(one.mechanism == m for one in curves)):
                one, other = of(curves, application, memory), of(curves, application, messages)
                where = crossings(one, other)
                first = memory if one.at(swept.base) < other.at(swept.base) else messages
                last = memory if one.seconds[-1] < other.seconds[-1] else messages
                rows.append(
                    (
                        application,
                        f"{memory.name} – {messages.name}",
                        first.name,
                        Number(where[-1], swept.unit) if where else "none",
                        last.name,
                    )
                )
    return Table(
        "Cross-over between mechanisms",
        (
            Column("application", Origin.SETTING),
            Column("between", Origin.SETTING),
            Column(f"faster at {swept.base:g} {swept.unit}", Origin.TESTBED, MACHINE),
            Column("cross-over", Origin.TESTBED, MACHINE),
            Column(f"faster at {curves[0].x[-1]:g} {swept.unit}", Origin.TESTBED, MACHINE),
        ),
        tuple(rows),
        note="By linear interpolation between the settings that were simulated; the last one where there are several.",
    )


def _figures(curves: Sequence[Swept], swept: Quantity) -> tuple[Figure, ...]:
    """One chart per application, as the paper's figure has them."""
    from logpost.dashboards.figures import curves as charts

    made = []
    for application in applications(curves):
        mine = [one for one in curves if one.application == application]
        chart = charts.curves(
            [
                charts.Curve(
                    one.mechanism.name, one.x, [s * 1e6 / CYCLE_NS for s in one.seconds], "testbed", one.mechanism.hue
                )
                for one in mine
            ],
            charts.Axis(swept.axis, reverse=swept.falls, ticks=mine[0].x),
            charts.Axis("run time (thousands of cycles)"),
            f"{application}: from {mine[0].x[0]:g} to {mine[0].x[-1]:g} the run time changes by "
            + ", ".join(f"{100 * (one.seconds[-1] / one.seconds[0] - 1):.0f} % ({one.mechanism.name})" for one in mine)
            + ".",
        )
        made.append(Figure(f"{swept.figure}: {application}", chart))
    return tuple(made)
