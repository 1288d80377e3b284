"""LOGP Fig. 10 to 12: send overhead over the transfer size, and where the gap can no longer be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from logpost.dashboards.figures.curves import Axis, Curve, curves
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Cell, Claim, Column, Figure, Number, Origin, Part, Table
from logpost.experiments.logp_signatures.simulated import MYRINET, US, Played, extracted, value_us

if TYPE_CHECKING:
    from logpost.collectors.calibration.simulated import Truth
    from logpost.machines.calibration.signature import Signature

OVERHEAD_4K, TIME_4K, BULK_BYTES, BULK_GAP = 143.0, 298.0, 4096, 18.0
"""Myrinet's bulk transfers (4.2): o(4 KB), T(4 KB), g(8 B), us."""
BULK_DELTAS = (0.0, 4.0, 16.0, 64.0)
"""us: DELTAS' 16 and a factor of four either way, as g(n) and o(n) grow with the size; Fig. 10's are not printed."""


def bulk(context: Context, machines: Sequence[Played]) -> Part:
    """Signatures of longer and longer requests."""
    sizes = context.size((8, 512, 1024, 2048, 3072, 4096), (8, 2048, 4096))
    transfers = [_transfers(context, one, sizes) for one in machines]
    myrinet = next(one for one in transfers if one.machine.name == MYRINET)
    last = myrinet.overheads[-1]
    limited = {size: read.overhead_limited for size, read in zip(sizes, myrinet.signatures, strict=True)}
    return Part(
        tables=(_table(transfers),),
        figures=(_figure(transfers, last), *_completion(myrinet)),
        claims=(
            Claim(
                "Myrinet: the gap shows at 8 B (18 us) and no longer at 2 KB, where the transfer is overhead-limited",
                "three regimes at 8 B, none at 2 KB",
                f"gap {'hidden' if limited[8] else 'visible'} at 8 B, {'hidden' if limited[2048] else 'visible'} "
                "at 2 KB",
                not limited[8] and limited[2048],
                given="o(n) and g are lines through printed values",
            ),
            Claim(
                "A portion of a 4 KB transfer can be overlapped on Myrinet: o(n) is smaller than T(n)",
                "143 of 298 us",
                f"{last:.0f} of 298 us: {100 * (1 - last / TIME_4K):.0f} % can be overlapped",
                last < TIME_4K,
                given="o(n) is a line through the printed 143 us",
            ),
        ),
        notes=(
            f"Myrinet's bulk o(n) and G are lines through the two numbers printed for {BULK_BYTES} B, o = 143 us and "
            "T = 298 us; Paragon and Meiko have a constant o(n), and no printed G.",
        ),
    )


def _completion(myrinet: Transfers) -> tuple[Figure, ...]:
    """Fig. 9: T(n) and n/T(n) of the one machine with printed numbers."""
    sizes = [float(size) for size in myrinet.sizes]
    times = [myrinet.truth.round_trip(size) * US for size in sizes]
    rates = [size / time for size, time in zip(sizes, times, strict=True)]
    said = f"{BULK_BYTES} B complete after {times[-1]:.0f} us, {rates[-1]:.1f} MB/s."
    return tuple(
        Figure(
            f"Fig. 9: {what} of bulk transfers, Myrinet",
            curves(
                [
                    Curve("T(n) through the printed values", sizes, values, "formula", 2),
                    Curve("printed", [float(BULK_BYTES)], [printed], "paper", 1),
                ],
                Axis("transfer size (B)"),
                Axis(axis),
                said,
            ),
        )
        for what, axis, values, printed in (
            ("completion time", "T(n) (us)", times, TIME_4K),
            ("bandwidth", "n / T(n) (MB/s)", rates, BULK_BYTES / TIME_4K),
        )
    )


@dataclass(frozen=True)
class Transfers:
    """A machine's signatures of requests of several sizes."""

    machine: Played
    truth: Truth
    sizes: Sequence[int]
    given: Sequence[float]
    """o(n), us."""
    signatures: Sequence[Signature]

    @property
    def overheads(self) -> list[float]:
        """o(n) as extracted, us; 0 where a signature does not show it."""
        return [value_us(read, "o_s") or 0.0 for read in self.signatures]


def _transfers(context: Context, one: Played, sizes: Sequence[int]) -> Transfers:
    from logpost.collectors.calibration.simulated import Truth

    gap, per_byte, G = one.given["g"], 0.0, 0.0
    if one.name == MYRINET:
        gap = BULK_GAP
        per_byte = (OVERHEAD_4K - one.given["o_s"]) / BULK_BYTES
        # T(n) = o_s(n) + L + (n - 1) G + o_r + o_s + L + o_r of a request and its small reply.
        G = (TIME_4K - OVERHEAD_4K - 2 * one.given["L"] - 2 * one.given["o_r"] - one.given["o_s"]) / (BULK_BYTES - 1)
    truth = Truth(
        L=one.given["L"] / US,
        o_s=one.given["o_s"] / US,
        o_r=one.given["o_r"] / US,
        g=gap / US,
        G=G / US,
        o_s_per_byte=per_byte / US,
    )
    return Transfers(
        one,
        truth,
        sizes,
        [one.given["o_s"] + per_byte * size for size in sizes],
        [extracted(truth, context, float(size), BULK_DELTAS) for size in sizes],
    )


def _table(transfers: Sequence[Transfers]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in transfers:
        for size, given, read, overhead in zip(one.sizes, one.given, one.signatures, one.overheads, strict=True):
            gap = value_us(read, "g")
            rows.append(
                (
                    f"{one.machine.label}, {size:,} B",
                    Number(given, "us", digits=4),
                    Number(overhead, "us", digits=4),
                    None if gap is None else Number(gap, "us"),
                    "no: o_s + o_r" if read.overhead_limited else "yes",
                )
            )
    return Table(
        "Fig. 10 to 12: send overhead and gap of bulk transfers",
        (
            Column("machine and size", Origin.SETTING),
            Column("o(n) given", Origin.DERIVED),
            Column("o(n) extracted", Origin.TESTBED),
            Column("g(n) extracted", Origin.TESTBED),
            Column("gap visible", Origin.SETTING),
        ),
        tuple(rows),
        note="Where the gap is not visible, g is the processor's time, o_s(n) + o_r.",
    )


def _figure(transfers: Sequence[Transfers], last: float) -> Figure:
    series = [
        Curve(one.machine.label, [float(size) for size in one.sizes], one.overheads, "measured", hue)
        for hue, one in enumerate(transfers)
    ]
    series.append(Curve("Myrinet, printed", [float(BULK_BYTES)], [OVERHEAD_4K], "paper", 2))
    chart = curves(
        series,
        Axis("transfer size (B)"),
        Axis("send overhead o(n) (us)"),
        f"Constant on Paragon and Meiko; on Myrinet it grows to {last:.0f} us at 4 KB.",
    )
    return Figure("Fig. 12: send overhead of bulk transfers", chart)
