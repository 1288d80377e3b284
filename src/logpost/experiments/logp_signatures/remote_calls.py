"""LOGP Fig. 13: the signature of an asynchronous RPC layer, whose software is the bottleneck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from logpost.dashboards.figures.curves import Axis, Curve, curves
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Claim, Column, Figure, Number, Origin, Part, Table
from logpost.experiments.logp_signatures.simulated import MYRINET, US, Played, extracted, value_us

if TYPE_CHECKING:
    from logpost.machines.calibration.signature import Signature

INSTRUCTIONS = (10, 100)
"""Overheads over those of Active Messages: "several hundred to several thousand instructions per message" against
"tens of instructions" (1)."""
FIRST_DELTA = 0.1
"""Of o_s + o_r: the first computation between requests (Fig. 13 is a plot without numbers)."""
SEEN = 0.02
"""Of the cost: a change that the method's accuracy of ±5 % (3.3) over many batches lets be seen."""


def remote_calls(context: Context, machines: Sequence[Played]) -> Part:
    """Myrinet's interface below software that costs 10 to 100 times as much."""
    [myrinet] = [one for one in machines if one.name == MYRINET]
    found = []
    for factor in INSTRUCTIONS:
        truth = replace(myrinet.truth, o_s=factor * myrinet.truth.o_s, o_r=factor * myrinet.truth.o_r)
        both = (truth.o_s + truth.o_r) * US
        signature = extracted(truth, context, deltas=(0.0, FIRST_DELTA * both, both))
        found.append((factor, both, signature))
    ends = [[curve.costs[-1].value * US for curve in signature.curves] for _, _, signature in found]
    table = Table(
        "Fig. 13: asynchronous RPC, the last points of the signature",
        (
            Column("overheads over Active Messages", Origin.SETTING),
            Column("o_s + o_r", Origin.DERIVED),
            Column("cost without computation", Origin.TESTBED),
            Column("with the first Δ", Origin.TESTBED),
            Column("g as extracted", Origin.TESTBED),
        ),
        tuple(
            (
                f"{factor} ×",
                Number(both, "us"),
                Number(costs[0], "us"),
                Number(costs[1], "us"),
                None if (g := value_us(signature, "g")) is None else Number(g, "us"),
            )
            for (factor, both, signature), costs in zip(found, ends, strict=True)
        ),
        note=f"The first Δ is a tenth of o_s + o_r; the interface's own gap is {myrinet.given['g']:g} us.",
    )
    claim = Claim(
        "The overhead of RPC is the bottleneck: the first Δ raises the cost, and the gap is o_s + o_r",
        "Fig. 13",
        ", ".join(
            f"{costs[0]:.0f} to {costs[1]:.0f} us with o_s + o_r = {both:.0f} us"
            for (_, both, _), costs in zip(found, ends, strict=True)
        ),
        all(
            costs[1] > (1.0 + SEEN) * costs[0] and abs(costs[0] / both - 1.0) < FIRST_DELTA
            for (_, both, _), costs in zip(found, ends, strict=True)
        ),
        given="a LogP machine whose processors need longer than its interfaces",
    )
    return Part(tables=(table,), figures=(_figure(found[0][0], myrinet, found[0][2]),), claims=(claim,))


def _figure(factor: int, myrinet: Played, signature: Signature) -> Figure:
    lines = [
        Curve(
            f"Δ = {curve.delta_s * US:.3g} us",
            [float(m) for m in curve.bursts],
            [cost.value * US for cost in curve.costs],
            "testbed",
            hue,
        )
        for hue, curve in enumerate(signature.curves)
    ]
    chart = curves(
        lines,
        Axis("burst size M", log=True),
        Axis("time per message (us)"),
        f"{factor} times the overheads of {myrinet.label}: no two curves meet, each Δ is added to the cost.",
    )
    return Figure("Fig. 13: signature of an asynchronous RPC layer", chart)
