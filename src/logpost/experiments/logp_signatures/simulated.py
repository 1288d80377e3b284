"""The paper's machines, played event by event, and the calibration's reading of their signatures."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from logpost.experiments.framework.context import Context

if TYPE_CHECKING:
    from logpost.collectors.calibration.simulated import Truth
    from logpost.machines.calibration.signature import Signature

MYRINET = "myrinet_now"
MACHINES = {
    "paragon": ("Paragon", "Fig. 7"),
    "meiko_cs2": ("Meiko CS-2", "Fig. 5"),
    MYRINET: ("NOW, Myrinet", "Fig. 6"),
}
"""Machine file -> label, and figure of its signature."""
PARAMETERS = ("o_s", "o_r", "L", "g")
DELTAS = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0)
"""us; Fig. 7's curve is that of 16, and halves of it reach below what every machine idles, g − o_s − o_r."""
NOISE_WIDTHS, NOISE_RARE, NOISE_DELAY_US = (0.1, 0.3), 2e-4, 100.0
"""A band: each step of a processor varies by 10 % or by 30 %, and one of 5,000 is interrupted for 100 us (3.3 names
"cache misses, context switching, and timer interrupts", without their lengths)."""
US = 1e6
"""Microseconds of a second."""
PS_PER_US = 1e6
"""Of a microsecond."""


@dataclass(frozen=True)
class Played:
    """A simulated machine and what its signature says."""

    name: str
    label: str
    figure: str
    """That has its signature in the paper."""
    given: dict[str, float]
    """us."""
    truth: Truth
    signature: Signature
    noisy: tuple[Signature, ...]
    """The same from runs with noise, of each of NOISE_WIDTHS."""
    by_eye: dict[str, float]
    """us, read as section 3.3 does: first points, last points."""

    @property
    def title(self) -> str:
        """Label and figure: Paragon (Fig. 7)."""
        return f"{self.label} ({self.figure})"


def given_us(name: str) -> dict[str, float] | None:
    """PARAMETERS of small messages by a machine's file, us; None where one of them is not known."""
    from logpost.machines import load_machine

    table = load_machine(name).loggp.of("other_node")
    found = {} if table is None else {key: getattr(table.range[0], key) for key in PARAMETERS}
    if not found or any(quantity is None or quantity.value is None for quantity in found.values()):
        return None
    return {key: quantity.base() / PS_PER_US for key, quantity in found.items()}


def play(context: Context, name: str) -> Played:
    """Simulate the benchmark on one of MACHINES, and read its signature."""
    from logpost.collectors.calibration.simulated import Truth

    given = given_us(name)
    assert given is not None, f"{name}: the paper prints all of {PARAMETERS}"
    truth = Truth(L=given["L"] / US, o_s=given["o_s"] / US, o_r=given["o_r"] / US, g=given["g"] / US)
    exact = extracted(truth, context)
    noisy = tuple(extracted(truth, context, noise=width) for width in NOISE_WIDTHS)
    return Played(name, *MACHINES[name], given, truth, exact, noisy, _by_eye(exact, truth))


def extracted(
    truth: Truth,
    context: Context,
    size: float = 0.0,
    deltas: Sequence[float] | None = None,
    *,
    noise: float = 0.0,
) -> Signature:
    """What the calibration reads out of the costs that a simulated machine has.

    Args:
        truth: the machine.
        context: of the experiment.
        size: bytes of a request beyond a small message.
        deltas: computation between requests, us; None: DELTAS.
        noise: spread of a step; with it several batches of each cost, and intervals.
    """
    from logpost.collectors.calibration.simulated import Noise, signature
    from logpost.machines.calibration.estimate import Estimate
    from logpost.machines.calibration.signature import CostPoint, extract
    from logpost.machines.calibration.statistics import half_width

    bursts = tuple(2**i for i in range(context.size(11, 10)))
    chosen = [delta / US for delta in (DELTAS if deltas is None else deltas)]
    steps = Noise(noise, NOISE_RARE, NOISE_DELAY_US / US) if noise else None
    costs = signature(truth, bursts, chosen, size=size, noise=steps, batches=context.size(100, 30) if noise else 1)
    points = []
    for delta, rows in costs.items():
        for i, burst in enumerate(bursts):
            batch = sorted(float(row[i]) for row in rows)
            middle = statistics.median(batch)
            points.append(CostPoint(burst, delta, Estimate(middle, half_width(batch) if noise else 0.0)))
    return extract(points, Estimate(truth.round_trip(), 0.0) if not size else None, place="simulated")


def _by_eye(signature: Signature, truth: Truth) -> dict[str, float]:
    """First three points for o_s, last points for g and g' (Delta = 16 us)."""
    from logpost.replay.models.logp_benchmark import extract
    from logpost.replay.models.units import MICROSECOND

    first, last = signature.curves[0], signature.curves[-1]
    found = extract(
        o_s=statistics.fmean(cost.value for cost in first.costs[:3]) * US,
        g=first.costs[-1].value * US,
        cost_with_delay=last.costs[-1].value * US,
        delta=last.delta_s * US,
        rtt=truth.round_trip() * US,
        unit=MICROSECOND,
    )
    return {name: float(getattr(found, name)) for name in PARAMETERS}


def value_us(signature: Signature, name: str) -> float | None:
    """One of PARAMETERS in us; None where the signature does not show it."""
    found = getattr(signature, name)
    return None if found is None else float(found.value) * US
