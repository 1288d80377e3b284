"""How much time the ranks lose, and how much of it the findings explain.

Lost is all time of the ranks' accounts that is not computation. A finding explains what its cure saves of it with those
before it in place (`findings.covered`). As its gain is within an interval, so is what it explains, in the same
proportion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from logpost.analyzer.findings.finding import COVERS, MIN_SHARE
from logpost.analyzer.findings.wording.numbers import span_of
from logpost.analyzer.words.units import percent_text, time_text

if TYPE_CHECKING:
    from logpost.analyzer.report.data import PlacedFinding, Share


@dataclass(frozen=True)
class Coverage:
    """The lost time of all ranks, and what of it the findings explain."""

    lost_ps: int
    """all categories but compute, summed over the ranks"""
    share: float
    """of the sum of the ranks' program times"""
    explained_ps: int
    explained_low_ps: int
    """with each gain at its low end"""
    explained_high_ps: int
    """with each gain at its high end"""
    by_finding: tuple[float, ...]
    """of the lost time, what each explains further"""
    of_computation: bool = False
    """whether a cure was replayed that saves computation alone"""

    @property
    def lost_text(self) -> str:
        """`Lost: 86.5 % of the ranks' time (164 ms over all ranks)`."""
        return f"Lost: {percent_text(self.share)} of the ranks' time ({time_text(self.lost_ps)} over all ranks)"

    @property
    def explained_parts(self) -> tuple[float, float, float]:
        """Fractions of the lost time that the findings explain: at the low ends of their gains, as stated, at the high
        ends."""
        times = (self.explained_low_ps, self.explained_ps, self.explained_high_ps)
        low, known, high = (time / max(1, self.lost_ps) for time in times)
        return low, known, high

    @property
    def explained_text(self) -> str:
        """`the findings explain 65.5 % of the lost time (37.8 to 69.2 %): 61.4 % by 1, 4.1 % by 2`."""
        low, known, high = self.explained_parts
        if not high:
            return (
                "none of it: the findings save computation" if self.of_computation else "no finding explains any of it"
            )
        ends = span_of(low, high)
        each = [f"{percent_text(one)} by {number}" for number, one in enumerate(self.by_finding, 1) if one >= MIN_SHARE]
        return f"the findings explain {percent_text(known)} of the lost time{f' ({ends})' if ends else ''}" + (
            f": {', '.join(each)}" if len(each) > 1 else ""
        )


def coverage(breakdown: Sequence[Share], found: Iterable[PlacedFinding]) -> Coverage:
    """The lost time by the accounts, and what of it the findings explain."""
    lost = sum(one.exposed_ps for one in breakdown if one.category != "compute")
    share = sum(one.share for one in breakdown if one.category != "compute")
    covers = [(one, [number.value for number in one.evidence if number.name == COVERS]) for one in found]
    each = [(one, sum(values)) for one, values in covers]

    def explained(end: Callable[[PlacedFinding], float | None]) -> int:
        times = (time * _part(end(one), one.gain) for one, time in each)
        return round(min(lost, max(0.0, sum(times))))

    return Coverage(
        lost_ps=lost,
        share=share,
        explained_ps=explained(lambda one: one.gain),
        explained_low_ps=explained(lambda one: one.gain_low),
        explained_high_ps=explained(lambda one: one.gain_high),
        by_finding=tuple(time / max(1, lost) for _, time in each),
        of_computation=any(values == [0] for _, values in covers),
    )


def _part(end: float | None, gain: float) -> float:
    return 1.0 if end is None or gain <= 0 else end / gain
