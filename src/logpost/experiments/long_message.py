"""LOGPC 2.2, Fig. 3 to 5: a long message through the input queue, played byte by byte; its time and its bandwidth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from logpost.dashboards.figures.curves import Axis, Curve, curves
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.experiment import Experiment
from logpost.experiments.framework.result import (
    Claim,
    Difference,
    Figure,
    Number,
    Result,
    Table,
    derived,
    formula,
    setting,
    testbed,
)
from logpost.experiments.support.alewife import ACCURACY, DMA_SLOWDOWN, MACHINE, O_S_LONG, G, cycles_number

O_R, L = 129.0, 8.0
"""Cycles (LOGPC Table 2)."""
HEADER = 8.0
"""Bytes that arrive before the interrupt, a of (2): "the entire 8-byte header" (2.1)."""
MEMORY = G / 2
"""Cycles per byte of the memory, of which "the bandwidth is nearly twice the network router bandwidth" (2.2)."""
SLOWDOWNS = (1.0, DMA_SLOWDOWN)
"""Of the memory: as it is, and while a sending DMA engine is at work too (2.2)."""
PRINTED, CONSTANT = 1000, 10_000
"""Bytes from which the queue is drawn down by the last byte (2.2), and the bandwidth is constant (Fig. 5)."""
SIZES = tuple(2**i for i in range(6, 17))
NEARLY = 0.01
"""Of the link's bandwidth: what "can be approximated as constant" is taken for."""


@dataclass(frozen=True)
class Delivery:
    """A message that is played, cycles after its send begins."""

    arrived: NDArray[np.float64]
    """Of each byte in the queue."""
    taken: NDArray[np.float64]
    """Of each byte in memory."""

    @property
    def end(self) -> float:
        """The last byte is in memory."""
        return float(self.taken[-1])

    def queue(self, at: NDArray[np.float64]) -> NDArray[np.int64]:
        """Bytes in the queue."""
        return np.searchsorted(self.arrived, at, "right") - np.searchsorted(self.taken, at, "right")


def delivery(size: int, memory: float) -> Delivery:
    """A byte arrives every G; the DMA engine moves one per `memory` cycles once the header's interrupt is handled."""
    arrived = O_S_LONG + L + G * np.arange(size, dtype=np.float64)
    started = arrived[0] + HEADER * G + O_R
    steps = memory * np.arange(1, size + 1, dtype=np.float64)
    # A byte is taken a step after the one before it, or after its own arrival.
    return Delivery(arrived, steps + np.maximum.accumulate(np.maximum(arrived, started) - steps + memory))


def drawn_down(memory: float) -> int:
    """The smallest message whose queue is empty when its last byte arrives: that byte is taken at once."""
    low, high = int(HEADER) + 1, CONSTANT
    while low < high:
        size = (low + high) // 2
        one = delivery(size, memory)
        low, high = (low, size) if one.end - one.arrived[-1] <= memory * (1 + 1e-9) else (size + 1, high)
    return low


def run(_context: Context) -> Result:
    """Fig. 3 to 5 from Table 2 and what 2.2 says of the memory."""
    from logpost.replay.models import logpc
    from logpost.replay.models.papers.alewife import ALEWIFE_LONG

    free, contended = (drawn_down(MEMORY * slowdown) for slowdown in SLOWDOWNS)
    sizes = SIZES
    times = {size: delivery(size, MEMORY * DMA_SLOWDOWN).end for size in sizes}
    sender = {size: O_S_LONG + (size - 1) * G for size in sizes}
    apart = max(times[size] / sender[size] - 1.0 for size in sizes if size > PRINTED)
    short = times[sizes[1]] / sender[sizes[1]] - 1.0
    rates = {size: size * G / times[size] for size in sizes}
    model = {size: float(logpc.dma_message(ALEWIFE_LONG, size)) for size in sizes}
    assumed = (
        f"memory costs {MEMORY:g} cycles per byte, half the network's (“nearly twice the network router bandwidth”), "
        f"and {DMA_SLOWDOWN:g} times that while the node sends as well (2.2)"
    )
    return Result(
        summary=f"The input queue is drawn down by the last byte from {contended} B on with memory contention, from "
        f"{free} B on without (paper: about 1,000). From {CONSTANT:,} B on the bandwidth is within "
        f"{100 * (1 - _rate(CONSTANT)):.1f} % of the network's.",
        tables=(
            Table.of(
                "Delivery of long messages",
                sizes,
                setting("bytes", lambda size: Number(size, "B")),
                formula("(2)", MACHINE, lambda size: cycles_number(model[size])),
                testbed("played byte by byte", MACHINE, lambda size: cycles_number(times[size])),
                formula("sender alone, o_sl + (B − 1) G", MACHINE, lambda size: cycles_number(sender[size])),
                derived("of the network's bandwidth", lambda size: Number(100 * rates[size], "%")),
                reference="(2)",
            ),
        ),
        figures=(_queue_figure(contended), _time_figure(sizes, times, sender), _rate_figure(sizes, rates)),
        claims=(
            Claim(
                "From about 1,000 bytes on the queue is drawn down by the time the last byte arrives (judged to within "
                "12 %)",
                "about 1,000 B",
                f"{contended} B; without memory contention {free} B",
                abs(contended / PRINTED - 1.0) <= ACCURACY,
                assumption=assumed,
            ),
            Claim(
                "Above 1,000 bytes delivery and the sender's side alone are nearly equivalent, below the interrupt is "
                "a factor (judged to within 12 %)",
                "Fig. 4",
                f"at most {100 * apart:.1f} % apart; {100 * short:.0f} % at {sizes[1]} B",
                apart <= ACCURACY < short,
                assumption=assumed,
            ),
            Claim(
                "Over about 10 KB the bandwidth can be approximated as constant (judged: within 1 % of the network's)",
                "Fig. 5",
                f"{100 * _rate(CONSTANT):.1f} % of the network's at {CONSTANT:,} B",
                1.0 - _rate(CONSTANT) < NEARLY,
            ),
        ),
        differences=(
            Difference(
                f"The queue holds up to {int(delivery(PRINTED, MEMORY).queue(_times(PRINTED)).max())} bytes.",
                "bytes arrive every half cycle while the interrupt costs 129; a full queue would stop the sender, "
                "which (2) does not have either.",
            ),
        ),
        notes=("The figures' curves have no printed numbers; Table 2 has those of the machine.",),
    )


def _rate(size: int) -> float:
    return size * G / delivery(size, MEMORY * DMA_SLOWDOWN).end


def _times(size: int) -> NDArray[np.float64]:
    return np.linspace(0.0, 1.1 * delivery(size, MEMORY * DMA_SLOWDOWN).end, 56)


def _queue_figure(drawn: int) -> Figure:
    lines = []
    for hue, size in enumerate((drawn // 2, drawn, 2 * drawn)):
        at = _times(size)
        held = delivery(size, MEMORY * DMA_SLOWDOWN).queue(at)
        lines.append(Curve(f"{size} B", at.tolist(), held.tolist(), "testbed", hue))
    chart = curves(
        lines,
        Axis("time (cycles)"),
        Axis("bytes in the input queue"),
        f"The queue grows until the interrupt is handled and is then drawn down; {drawn} B is the shortest message "
        "whose queue is empty when its last byte arrives.",
    )
    return Figure("Fig. 3: input queue during a long message", chart)


def _time_figure(sizes: Sequence[int], times: dict[int, float], sender: dict[int, float]) -> Figure:
    shown = [size for size in sizes if size <= CONSTANT]
    chart = curves(
        [
            Curve("end to end", shown, [times[size] for size in shown], "testbed", 0),
            Curve("sender alone", shown, [sender[size] for size in shown], "formula", 1),
        ],
        Axis("message size (bytes)"),
        Axis("time (cycles)"),
        "Both lines meet where the queue is drawn down by the last byte.",
    )
    return Figure("Fig. 4: delivery and the sender's side", chart)


def _rate_figure(sizes: Sequence[int], rates: dict[int, float]) -> Figure:
    chart = curves(
        [Curve("B / T(B)", sizes, [rates[size] / G for size in sizes], "testbed", 0)],
        Axis("message size (bytes)", log=True),
        Axis("bandwidth (bytes per cycle)"),
        f"The bandwidth approaches {1 / G:g} bytes per cycle.",
    )
    return Figure("Fig. 5: bandwidth over message size", chart)


EXPERIMENT = Experiment(
    name="long-message",
    title="A long message through the input queue: delivery, drawn-down queue and bandwidth",
    paper="LOGPC",
    where="Fig. 3 to 5, section 2.2",
    run=run,
    order=0,
)
