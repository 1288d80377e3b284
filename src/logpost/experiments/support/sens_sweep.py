"""SENS's sweeps on the testbed: the run time of applications with each mechanism over a setting of the network."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from logpost.experiments.framework.context import Context
from logpost.experiments.support.sens import Mechanism, Workload, run_mechanism, workloads_of
from logpost.experiments.support.sens_breakdown import kernel_of

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
    nodes, mesh, brick, cells = context.size(full=(3200, 2000, 5, 6), quick=(1600, 500, 4, 6))
    every = workloads_of(nodes=nodes, mesh=mesh, brick=brick, cells=cells)
    return context.size(full=every, quick=every[:1])


def sizes_text(context: Context) -> str:
    """What was simulated of each application, against the paper's."""
    return "; ".join(f"{one.application} {one.said}" for one in workloads(context))


def sweep(context: Context, mechanisms: Sequence[Mechanism], points: Sequence[Setting]) -> list[Swept]:
    """Every application of `workloads` with each mechanism at each setting; the archives are not kept."""
    cases = [(w, m, point) for w in workloads(context) for m in mechanisms for point in points]

    def one(case: tuple[Workload, Mechanism, Setting]) -> float:
        workload, mechanism, p = case
        return run_time(context, workload, mechanism, f"{p.x:g}", settings=p.settings, more_latency=p.more_latency)

    seconds = context.each("settings on the testbed", cases, one)
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


def run_time(
    context: Context,
    workload: Workload,
    mechanism: Mechanism,
    point: str,
    *,
    settings: Mapping[str, str] | None = None,
    more_latency: float = 0.0,
) -> float:
    """Until the last rank is done with the timed part, in seconds; `point` names the run among the workload's."""
    from logpost.analyzer.pipeline.request import Request
    from logpost.analyzer.pipeline.supervise import analyze
    from logpost.analyzer.run.directory import Run

    name = f"{workload.program}-{mechanism.file}-{point}"
    own = workload.application in OWN_CLOCK
    simulated = run_mechanism(
        context, workload, mechanism, name, settings=settings, more_latency=more_latency, keep=not own
    )
    if own:
        return simulated.values["total_s"]
    place = context.folder / f"{name}.run"
    analyze(Request(str(simulated.archive), str(place), str(simulated.archive / "machine.toml"), 1, True))
    total_ps = kernel_of(Run.open(place)).total_ps
    shutil.rmtree(place)
    shutil.rmtree(context.folder / name)
    return total_ps * 1e-12


def of(curves: Sequence[Swept], application: str, mechanism: Mechanism) -> Swept:
    """The curve of an application with a mechanism."""
    return next(one for one in curves if one.application == application and one.mechanism == mechanism)


def applications(curves: Sequence[Swept]) -> list[str]:
    """In their order."""
    return list(dict.fromkeys(one.application for one in curves))
