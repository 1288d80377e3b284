"""LOGPC 5.1.3, Fig. 6: all-to-all remap with long messages, and (13), (14): the bound on network contention."""

from __future__ import annotations

from logpost.experiments.framework.context import Context
from logpost.experiments.framework.experiment import Experiment
from logpost.experiments.framework.result import Claim, Column, Figure, Number, Origin, Result, Table

PRINTED_MODEL = 2.22
PRINTED_BOUND = 2.2
PRINTED_MEASURED = 2.03


def run(context: Context) -> Result:
    """F of (13) under both readings of the units and both mean distances, and the time per message over its size."""
    from logpost.dashboards.figures.curves import Axis, Curve, curves
    from logpost.experiments.support.logpc import cycles_number
    from logpost.replay.models import logpc_all_to_all as model
    from logpost.replay.models.network_contention import closed_contention
    from logpost.replay.models.papers.alewife import alewife_mesh

    G, a, o_s = 0.5, 8.0, 25.0
    sizes = context.size(full=(2000, 4000, 8000, 16000, 24000, 32000), quick=(4000, 16000))
    readings = [
        (f"k_d = {k_d}, a byte occupies a channel for {'G = 0.5 cycle' if consistent else '1 cycle'}", network)
        for consistent in (False, True)
        for k_d, network in (
            ("1.9375 (eq. 11)", alewife_mesh(consistent=consistent)),
            ("2 (distinct pairs)", alewife_mesh(self_messages=False, consistent=consistent)),
        )
    ]
    free = [float(model.asynchronous_long_iteration(o_s, G, B, a)) for B in sizes]
    closed = {
        text: [float(closed_contention(B, T, network).T_c) for B, T in zip(sizes, free, strict=True)]
        for text, network in readings
    }
    factors = Table(
        "Time between two messages over B, and the bound T_c/T of (14)",
        (
            Column("reading", Origin.SETTING),
            Column("F", Origin.FORMULA, "alewife"),
            Column("printed by the paper", Origin.PAPER),
            Column("bound F/(2G)", Origin.FORMULA, "alewife"),
        ),
        tuple(
            (
                text,
                Number(float(model.interval_per_byte(G, network)), "cycles/B", digits=4),
                Number(PRINTED_MODEL, "cycles/B"),
                Number(float(model.slow_down_bound(G, network)), digits=4),
            )
            for text, network in readings
        ),
        reference="printed by the paper",
    )
    by_size = Table(
        "Time per message by its size",
        (
            Column("B", Origin.SETTING),
            Column("LogGP, o_s + (B-1)G + (B-1-a)G", Origin.FORMULA, "alewife"),
            Column("LoGPC, printed units, k_d = 2", Origin.FORMULA, "alewife"),
            Column("LoGPC, consistent units, k_d = 2", Origin.FORMULA, "alewife"),
            Column("2.03 B", Origin.PAPER),
        ),
        tuple(
            (
                Number(B, "B"),
                cycles_number(free[i]),
                cycles_number(closed[readings[1][0]][i]),
                cycles_number(closed[readings[3][0]][i]),
                cycles_number(PRINTED_MEASURED * B),
            )
            for i, B in enumerate(sizes)
        ),
        reference="2.03 B",
    )
    chart = curves(
        [
            Curve("LogGP, no contention", sizes, free, "formula", 6),
            Curve("LoGPC, printed units, k_d = 2", sizes, closed[readings[1][0]], "formula", 0),
            Curve("LoGPC, consistent units, k_d = 2", sizes, closed[readings[3][0]], "formula", 2),
            Curve("paper, measured: 2.03 B", sizes, [PRINTED_MEASURED * B for B in sizes], "paper", 1),
        ],
        Axis("message size B (bytes)"),
        Axis("time per message (cycles)"),
        f"Time per message over its size: LoGPC gives {closed[readings[1][0]][-1]:,.0f} cycles at {sizes[-1]:,} B.",
    )
    F = float(model.interval_per_byte(G, readings[1][1]))
    return Result(
        summary=f"F of (13) is {F:.4f} cycles/B for distinct pairs in the printed units; the paper prints 2.22.",
        tables=(factors, by_size),
        figures=(Figure("Fig. 6: all-to-all remap with long messages", chart),),
        claims=(Claim("One message every 2.22 B cycles at most (13)", "2.22 B", f"{F:.3f} B", abs(F - 2.22) < 0.005),),
    )


EXPERIMENT = Experiment(
    name="all-to-all-long",
    title="All-to-all remap, long messages: LogGP, LoGPC under both unit conventions, testbed",
    paper="LOGPC",
    where="section 5.1.3, Fig. 6, eq. 13-14",
    run=run,
    order=2,
)
