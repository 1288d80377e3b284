"""EM3D with shared memory and with polling, by the cycles that an edge is assumed to take: no paper prints them."""

from __future__ import annotations

from logpost.experiments.four_applications.runs import Runs
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Column, Number, Origin, Table
from logpost.experiments.support.alewife import MACHINE
from logpost.experiments.support.sens import POLLING, SHARED, Mechanism, Workload, kcycles, run_mechanism, sized

EDGE_CYCLES, MORE_WORK = 10, (30, 90)
"""The program's assumption, and others for comparison."""


def work_per_edge(context: Context, em3d: Workload, runs: Runs) -> Table:
    """Simulate MORE_WORK; the program's own assumption is among the runs."""
    cases = [(work, mechanism) for work in MORE_WORK for mechanism in (SHARED, POLLING)]

    def one(case: tuple[int, Mechanism]) -> float:
        work, mechanism = case
        more = sized(em3d, {"edge-cycles": work}, "")
        name = f"em3d-{mechanism.file}-{work}-cycles"
        return run_mechanism(context, more, mechanism, name, keep=False).values["total_s"]

    seconds = dict(zip(cases, context.each("EM3D by its work per edge", cases, one), strict=True))
    seconds |= {(EDGE_CYCLES, mechanism): runs.of("EM3D", mechanism).printed_s for mechanism in (SHARED, POLLING)}
    return Table(
        "EM3D by the work per edge",
        (
            Column("cycles per edge", Origin.SETTING),
            Column(SHARED.name, Origin.TESTBED, MACHINE),
            Column(POLLING.name, Origin.TESTBED, MACHINE),
            Column("shared memory over messages", Origin.DERIVED),
        ),
        tuple(
            (
                Number(work),
                kcycles(seconds[work, SHARED]),
                kcycles(seconds[work, POLLING]),
                Number(seconds[work, SHARED] / seconds[work, POLLING], "×"),
            )
            for work in (EDGE_CYCLES, *MORE_WORK)
        ),
        note="By the program's own clock. The paper does not print the work per edge.",
    )
