"""What LOGP's method says of the machine that the experiments run on, from its calibration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from logpost.dashboards.figures.curves import Axis, Curve, curves
from logpost.errors import InputError
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Cell, Claim, Column, Difference, Figure, Number, Origin, Part, Table
from logpost.experiments.logp_signatures.simulated import PARAMETERS, US, Played
from logpost.experiments.support.launches import cores
from logpost.experiments.support.this_machine import calibrated, locality

if TYPE_CHECKING:
    from logpost.machines.calibration.compose import Calibration
    from logpost.machines.calibration.estimate import Estimate
    from logpost.machines.calibration.locality import LocalityValues
    from logpost.machines.calibration.signature import Signature


def this_machine(context: Context, papers: Sequence[Played]) -> Part:
    """Its signature of the smallest requests next to those of the paper's machines, or why there is none."""
    try:
        calibration = calibrated(context)
    except InputError as error:
        return Part(said="This machine was not measured.", notes=(f"This machine: {error}.",))
    found = calibration.localities[locality(calibration.machine)]
    if not found.signatures:
        return Part(said="This machine's signature could not be read.", notes=tuple(found.lacking))
    size = min(found.signatures)
    signature = found.signatures[size]
    values = {name: getattr(signature, name) for name in PARAMETERS}
    said = {name: "–" if value is None else f"{value.value * US:.2f}" for name, value in values.items()}
    reason = "The gap cannot be seen: the processor is the bottleneck. " if signature.overhead_limited else ""
    refused = "; ".join(refusal.sentence() for refusal in signature.refused)
    return Part(
        said=f"On this machine, over MPI between two cores: o_s {said['o_s']}, o_r {said['o_r']}, L {said['L']}, "
        f"g {said['g']} us.",
        tables=(_table(calibration, found, signature, size), _then_and_now(papers, signature)),
        figures=(_figure(signature, size),),
        claims=_claims(signature),
        differences=(
            Difference(
                "This machine's overheads are tenths of a microsecond, and most of a round trip.",
                "both ranks are on one node: a message is copied by the processors through shared memory, and what "
                "LogP calls L is the time until the other core sees it.",
            ),
        ),
        notes=(
            f"This machine has {cores()} cores for the ranks. K to 1 and 1 to many need three ranks that run at the "
            "same time; with fewer cores they would measure the scheduler, so they are left to `logpost calibrate` "
            "on a larger machine.",
            "The benchmark's request is a message with 8 B, its reply one of 8 B; issuing handles the replies that "
            f"have arrived. {reason}" + (f"Refused: {refused}." if refused else ""),
        ),
    )


def _table(calibration: Calibration, found: LocalityValues, signature: Signature, size: int) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name in PARAMETERS:
        value: Estimate | None = getattr(signature, name)
        rows.append((f"{name}, {size} B", _number(value), "signature" if value is not None else "refused"))
    trip = found.round_trips.get(size)
    if trip is not None:
        rows.append((f"round trip, {size} B", _number(trip), "timed directly"))
    if found.direct_o_r is not None:
        rows.append(("o_r of replies that wait", _number(found.direct_o_r), "timed directly"))
    return Table(
        "This machine, between two ranks on one node",
        (
            Column("quantity", Origin.SETTING),
            Column("value and 95 % interval", Origin.MEASURED),
            Column("how", Origin.SETTING),
        ),
        tuple(rows),
        note=calibration.samples.host.mpi_library.split(",")[0] + ".",
    )


def _claims(signature: Signature) -> tuple[Claim, ...]:
    """What 3.1 and 3.3 say of every signature, of this machine's."""
    plain = signature.curves[0].costs
    first, last = plain[0].value, plain[-1].value
    return (
        Claim(
            "A signature rises from o_s for small M to a steady state (this machine)",
            "each graph exhibits the regimes",
            f"{first * US:.2f} us for M = {signature.curves[0].bursts[0]}, {last * US:.2f} us for the largest",
            first < last,
            reason="a rank that shares its core with another program has its requests answered late",
        ),
    )


def _then_and_now(papers: Sequence[Played], signature: Signature) -> Table:
    """The paper's values next to this machine's."""
    return Table(
        "LogP parameters, then and now",
        (
            Column("quantity", Origin.SETTING),
            *(Column(one.label, Origin.PAPER) for one in papers),
            Column("this machine", Origin.MEASURED),
        ),
        tuple(
            (name, *(Number(one.given[name], "us") for one in papers), _number(getattr(signature, name)))
            for name in PARAMETERS
        ),
    )


def _number(value: Estimate | None) -> Number | None:
    return None if value is None else Number(value.value * US, "us", value.half_width * US)


def _figure(signature: Signature, size: int) -> Figure:
    series = [
        Curve(
            f"Δ = {curve.delta_s * US:.2g} us",
            [float(m) for m in curve.bursts],
            [cost.value * US for cost in curve.costs],
            "measured",
            hue,
            [max(cost.value - cost.half_width, 0.0) * US for cost in curve.costs],
            [(cost.value + cost.half_width) * US for cost in curve.costs],
        )
        for hue, curve in enumerate(signature.curves)
    ]
    chart = curves(
        series,
        Axis("burst size M", log=True),
        Axis("time per message (us)"),
        f"Signature of requests of {size} B on this machine, with 95 % intervals.",
    )
    return Figure(f"This machine: signature of {size} B requests over MPI", chart, "M on a logarithmic axis.")
