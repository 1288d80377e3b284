"""The eager limit: the size up to which a send does not wait for its receive.

A send whose receive is posted `delay` later takes o_s(n) when the message goes out eagerly, and about `delay` more when
it asks first. A size waits when its send took longer than half of the delay; the limit is the largest size below
which none waits.

Validity: sends must be short beside the delay, and the sizes must divide into a part that does not wait and a part
that does; else the switch is refused. Source: LOG3P section 4 (MPICH's short, eager and handshake protocols).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from logpost.machines.calibration.estimate import Estimate
from logpost.machines.calibration.refusal import Refusal


@dataclass(frozen=True)
class SwitchPoint:
    """How long a send of `size` bytes took whose receive came `delay_s` later."""

    size: int
    delay_s: float
    send: Estimate

    @property
    def waits(self) -> bool:
        """Whether the send waited for its receive."""
        return self.send.value > 0.5 * self.delay_s


@dataclass(frozen=True)
class Switch:
    """The eager limit in bytes and the sizes it lies between: it is at least `low` and less than `high`."""

    low: int
    high: int


def eager_limit(points: Sequence[SwitchPoint], *, place: str) -> tuple[Switch | None, list[Refusal]]:
    """The switch of one locality class; None where no size waits, all wait, or the sizes do not divide in two."""
    at = sorted(points, key=lambda point: point.size)
    waits = [point.waits for point in at]
    if not at or not any(waits):
        return None, []
    first = waits.index(True)
    if first == 0:
        return None, [
            Refusal(place, 0.0, 0.0, "B", f"already the smallest send, {at[0].size} B, waits for its receive")
        ]
    if not all(waits[first:]):
        back = at[first + waits[first:].index(False)].size
        reason = f"a send of {at[first].size} B waits for its receive and one of {back} B does not: too noisy to tell"
        return None, [Refusal(place, float(at[first - 1].size), 0.0, "B", reason)]
    return Switch(at[first - 1].size, at[first].size), []
