"""SENS's sweeps: run time over a setting of the network, regions of the curves, and where mechanisms cross."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Cell, Column, Figure, Number, Origin, Table
from logpost.experiments.support.alewife import CYCLE_NS, MACHINE
from logpost.experiments.support.sens import MEMORY, MESSAGES, Mechanism, Workload, cycles, run_mechanism, sized
from logpost.experiments.support.sens_breakdown import kernel_of

HIDING, LATENCY, CONGESTION = "latency hiding", "latency dominated", "congestion dominated"
HIDDEN_BELOW = 0.05
"""Growth of the run time over the change of the setting, both as fractions: below it the change is hidden."""

OWN_CLOCK = ("EM3D", "ICCG")
"""Their programs print the time until the last rank is done; UNSTRUC prints rank 0's, and MOLDYN's includes the dealing
of the molecules, so that theirs is taken from the trace."""


@dataclass(frozen=True)
class Setting:
    """A place on the horizontal axis."""

    x: float
    settings: Mapping[str, str] = field(default_factory=dict)
    """As `logpost testbed run --set`."""
    more_latency: float = 0.0
    """Cycles added to L."""


@dataclass(frozen=True)
class Swept:
    """The run time of an application with a mechanism over a setting."""

    application: str
    mechanism: Mechanism
    x: tuple[float, ...]
    """From the unchanged machine on, in the order of the sweep."""
    seconds: tuple[float, ...]

    def at(self, x: float) -> float:
        """Run time in seconds at a setting between those simulated, by linear interpolation."""
        order = np.argsort(self.x)
        return float(np.interp(x, np.array(self.x)[order], np.array(self.seconds)[order]))

    def growth(self, x: float, base: float) -> float:
        """Run time at `x` over that at `base`, minus one."""
        return self.at(x) / self.at(base) - 1.0


def workloads(context: Context) -> tuple[Workload, ...]:
    """The applications with the sizes of a sweep: the paper's load per edge or value, on fewer of them."""
    from logpost.experiments.support import sens

    nodes, mesh, brick, cells = context.size(full=(3200, 2000, 5, 6), quick=(1600, 500, 4, 6))
    every = (
        sized(sens.EM3D, {"nodes": nodes, "iterations": 1}, f"{nodes:,} nodes (10,000), 1 iteration (50)"),
        sized(sens.UNSTRUC, {"nodes": mesh, "iterations": 1}, f"{mesh:,} nodes (2,000), 1 iteration"),
        sized(sens.ICCG, {"brick": brick}, f"{3 * brick**3:,} rows (2 million elements)"),
        sized(sens.MOLDYN, {"cells": cells, "steps": 1}, f"{4 * cells**3:,} molecules, 2 computations of the forces"),
    )
    return context.size(full=every, quick=every[:1])


def sweep(context: Context, mechanisms: Sequence[Mechanism], points: Sequence[Setting]) -> list[Swept]:
    """Every application of `workloads` with each mechanism at each setting; the archives are not kept."""
    cases = [(w, m, point) for w in workloads(context) for m in mechanisms for point in points]
    seconds = context.each("settings on the testbed", cases, lambda case: _run_time(context, *case))
    found = dict(zip(((w.application, m, p.x) for w, m, p in cases), seconds, strict=True))
    return [
        Swept(
            workload.application,
            mechanism,
            tuple(point.x for point in points),
            tuple(found[workload.application, mechanism, point.x] for point in points),
        )
        for workload in workloads(context)
        for mechanism in mechanisms
    ]


def _run_time(context: Context, workload: Workload, mechanism: Mechanism, point: Setting) -> float:
    """Until the last rank is done with the timed part, in seconds."""
    from logpost.analyzer.request import Request
    from logpost.analyzer.run import Run
    from logpost.analyzer.supervise import analyze

    name = f"{workload.program}-{mechanism.short.lower().replace('+', '-')}-{point.x:g}"
    own = workload.application in OWN_CLOCK
    simulated = run_mechanism(
        context, workload, mechanism, name, settings=point.settings, more_latency=point.more_latency, keep=not own
    )
    if own:
        return simulated.values["total_s"]
    place = context.folder / f"{name}.run"
    analyze(Request(str(simulated.archive), str(place), str(simulated.archive / "machine.toml"), 1, True))
    total_ps = kernel_of(Run.open(place)).total_ps
    shutil.rmtree(place)
    shutil.rmtree(context.folder / name)
    return total_ps * 1e-12


def slopes(one: Swept, base: float) -> list[float]:
    """Growth of the run time over the change of x between neighbouring settings, as fractions of those at `base`."""
    start = one.at(base)
    return [
        ((t1 - t0) / start) / (abs(x1 - x0) / base)
        for (x0, t0), (x1, t1) in pairwise(zip(one.x, one.seconds, strict=True))
    ]


def region(slope: float, *, congests: bool) -> str:
    """Which of SENS's regions a slope belongs to: hidden; up to linear; more than linear (where links can congest)."""
    if slope < HIDDEN_BELOW:
        return HIDING
    return CONGESTION if congests and slope > 1.0 else LATENCY


def regions_text(one: Swept, base: float, unit: str, *, congests: bool) -> str:
    """`latency hiding 18 to 9, latency dominated 9 to 3 B/cycle`: neighbouring intervals of one region joined."""
    joined: list[tuple[str, float, float]] = []
    for (x0, x1), slope in zip(pairwise(one.x), slopes(one, base), strict=True):
        name = region(slope, congests=congests)
        if joined and joined[-1][0] == name:
            joined[-1] = (name, joined[-1][1], x1)
        else:
            joined.append((name, x0, x1))
    return ", ".join(f"{name} {start:g} to {end:g}" for name, start, end in joined) + f" {unit}"


def crossings(one: Swept, other: Swept) -> list[float]:
    """Settings at which two curves change order, by linear interpolation, in the order of the sweep."""
    ahead = [a - b for a, b in zip(one.seconds, other.seconds, strict=True)]
    return [
        x0 + (x1 - x0) * d0 / (d0 - d1)
        for (x0, d0), (x1, d1) in pairwise(zip(one.x, ahead, strict=True))
        if (d0 < 0) != (d1 < 0)
    ]


def of(curves: Sequence[Swept], application: str, mechanism: Mechanism) -> Swept:
    """The curve of an application with a mechanism."""
    return next(one for one in curves if one.application == application and one.mechanism == mechanism)


def applications(curves: Sequence[Swept]) -> list[str]:
    """In their order."""
    return list(dict.fromkeys(one.application for one in curves))


def times_table(curves: Sequence[Swept], title: str, heading: str, unit: str, note: str) -> Table:
    """A row per application and mechanism, a column per setting."""
    return Table(
        title,
        (
            Column("case", Origin.SETTING),
            *(Column(f"{x:g} {unit}", Origin.TESTBED, MACHINE) for x in curves[0].x),
        ),
        tuple((f"{one.application}, {one.mechanism.name}", *(cycles(s) for s in one.seconds)) for one in curves),
        note=f"Run time in thousands of cycles over {heading}. {note}",
    )


def regions_table(curves: Sequence[Swept], base: float, unit: str, note: str, *, congests: bool) -> Table:
    """The regions of each curve, and its growth over the whole sweep."""
    rows: list[tuple[Cell, ...]] = [
        (
            f"{one.application}, {one.mechanism.name}",
            Number(100 * one.growth(one.x[-1], base), "%"),
            regions_text(one, base, unit, congests=congests),
        )
        for one in curves
    ]
    return Table(
        "Regions",
        (
            Column("case", Origin.SETTING),
            Column(f"{base:g} to {curves[0].x[-1]:g} {unit}", Origin.TESTBED, MACHINE),
            Column("regions by the rule below", Origin.DERIVED),
        ),
        tuple(rows),
        note=note,
    )


def crossings_table(curves: Sequence[Swept], base: float, unit: str) -> Table:
    """Where shared memory, which is faster on one side, becomes slower than messages."""
    rows: list[tuple[Cell, ...]] = []
    for application in applications(curves):
        for memory in (m for m in MEMORY if any(one.mechanism == m for one in curves)):
            for messages in (m for m in MESSAGES if any(one.mechanism == m for one in curves)):
                one, other = of(curves, application, memory), of(curves, application, messages)
                where = crossings(one, other)
                first = memory if one.at(base) < other.at(base) else messages
                last = memory if one.seconds[-1] < other.seconds[-1] else messages
                rows.append(
                    (
                        application,
                        f"{memory.name} – {messages.name}",
                        first.name,
                        Number(where[-1], unit) if where else "none",
                        last.name,
                    )
                )
    return Table(
        "Cross-over between mechanisms",
        (
            Column("application", Origin.SETTING),
            Column("between", Origin.SETTING),
            Column(f"faster at {base:g} {unit}", Origin.TESTBED, MACHINE),
            Column("cross-over", Origin.TESTBED, MACHINE),
            Column(f"faster at {curves[0].x[-1]:g} {unit}", Origin.TESTBED, MACHINE),
        ),
        tuple(rows),
        note="By linear interpolation between the settings that were simulated; the last one where there are several.",
    )


def figures(curves: Sequence[Swept], title: str, axis: str, *, reverse: bool) -> tuple[Figure, ...]:
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
            charts.Axis(axis, reverse=reverse, ticks=mine[0].x),
            charts.Axis("run time (thousands of cycles)"),
            f"{application}: from {mine[0].x[0]:g} to {mine[0].x[-1]:g} the run time changes by "
            + ", ".join(f"{100 * (one.seconds[-1] / one.seconds[0] - 1):.0f} % ({one.mechanism.name})" for one in mine)
            + ".",
        )
        made.append(Figure(f"{title}: {application}", chart))
    return tuple(made)


def percent(value: float) -> str:
    """A growth, signed, to the per cent."""
    return f"{100 * value:+.0f} %".replace("-", "−")
