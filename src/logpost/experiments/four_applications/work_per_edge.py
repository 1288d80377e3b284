"""EM3D with shared memory and with polling, by the cycles that an edge takes."""

from __future__ import annotations

from logpost.experiments.four_applications.runs import Runs
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Column, Number, Origin, Table
from logpost.experiments.support.alewife import EDGE_CYCLES, MACHINE, TASK_CYCLES, TASK_FLOP
from logpost.experiments.support.sens import POLLING, SHARED, Mechanism, Workload, kcycles, run_mechanism, sized

OTHER_WORK = (10, 30, 90)
"""Cycles, for comparison with EDGE_CYCLES."""


def work_per_edge(context: Context, em3d: Workload, runs: Runs) -> Table:
    """Simulate OTHER_WORK; EDGE_CYCLES is among the runs."""
    cases = [(work, mechanism) for work in context.size(OTHER_WORK, OTHER_WORK[-1:]) for mechanism in (SHARED, POLLING)]

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
            for work in dict.fromkeys(work for work, _ in [(EDGE_CYCLES, SHARED), *cases])
        ),
        note=f"By the program's own clock. {EDGE_CYCLES} cycles: two flop at {TASK_CYCLES:g} for {TASK_FLOP}, as "
        "LOGPC 5.2.2 prints them for a task of its Diamond DAG on the same machine.",
    )
