"""The eager limit: the size up to which a send does not wait for its receive.

A send whose receive is posted `delay` later lasts o_s(n) when the message is sent eagerly, and about `delay` more in a
rendezvous. A size waits when its send is longer than half of the delay in every round: other activities on a
machine makes a send slower. The limit is where the sizes divide best into a part that does not wait and a part that
does.

Validity: sends must be short compared with the delay. More than one size in ten on the wrong side of the best division,
or several divisions that are equally good, and the switch is refused. Source: LOG3P section 4 (MPICH's short, eager and
handshake protocols).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from logpost.machines.calibration.refusal import Refusal

MISPLACED = 0.1
"""Share of the sizes that may be on the wrong side of the division."""


@dataclass(frozen=True)
class SwitchPoint:
    """Time of a send of `size` bytes whose receive is posted `delay_s` later: the median of the shortest round."""

    size: int
    delay_s: float
    send_s: float

    @property
    def waits(self) -> bool:
        """Whether the send waited for its receive."""
        return self.send_s > 0.5 * self.delay_s


@dataclass(frozen=True)
class Switch:
    """The eager limit in bytes and the sizes it lies between: it is at least `low` and less than `high`. Sends of the
    `misplaced` sizes say otherwise."""

    low: int
    high: int
    misplaced: tuple[int, ...] = ()


def eager_limit(points: Sequence[SwitchPoint], *, place: str) -> tuple[Switch | None, list[Refusal]]:
    """The switch of one locality class; None where no size waits, all wait, or the sizes do not divide in two."""
    at = sorted(points, key=lambda point: point.size)
    if not any(point.waits for point in at):
        return None, []
    # Divided after the first i sizes, which do not wait. Waiting sizes before the division, and others after it, are
    # misplaced.
    divisions = [
        [p.size for p in at[:i] if p.waits] + [p.size for p in at[i:] if not p.waits] for i in range(len(at) + 1)
    ]
    fewest = min(len(misplaced) for misplaced in divisions)
    best = [i for i, misplaced in enumerate(divisions) if len(misplaced) == fewest]
    if fewest > MISPLACED * len(at) or len(best) > 1:
        waiting = ", ".join(str(p.size) for p in at if p.waits)
        reason = f"the sizes whose sends wait ({waiting} B) do not divide from those that do not: too noisy to decide"
        return None, [Refusal(place, float(at[max(best[0] - 1, 0)].size), 0.0, "B", reason)]
    first = best[0]
    if first == len(at):
        return None, []
    if first == 0:
        reason = f"already the smallest send, {at[0].size} B, waits for its receive"
        return None, [Refusal(place, 0.0, 0.0, "B", reason)]
    return Switch(at[first - 1].size, at[first].size, tuple(divisions[first])), []
