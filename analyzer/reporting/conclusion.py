"""One sentence that an engineer with a slow program can act on."""

from __future__ import annotations

from collections.abc import Sequence

from logpost.analyzer.findings.evidence import WAITING
from logpost.analyzer.reporting.data import FoundHere, RankTime, Share
from logpost.analyzer.reporting.units import percent_text, time_text

SMALL = 0.05
"""Share of communication below which tuning it cannot shorten the program noticeably."""


def conclude(
    breakdown: Sequence[Share], found: Sequence[FoundHere], ranks: Sequence[RankTime], *, oversubscribed: bool
) -> str:
    """How much of the time is communication, what the largest part of it is, and what the worst finding blames."""
    if not ranks or not any(share.exposed_ps for share in breakdown):
        return "No rank has a measured runtime in this run, so there is nothing to conclude."
    communication = [share for share in breakdown if share.category != "compute"]
    part = sum(share.share for share in communication)
    largest = max(communication, key=lambda share: share.exposed_ps)
    waiting = sum(share.share for share in communication if share.category in WAITING)
    if part < SMALL:
        first = (
            f"The ranks compute {percent_text(1 - part)} of their time; communication is not what slows this program"
        )
    else:
        first = (
            f"The ranks spend {percent_text(part)} of their time in communication, {percent_text(waiting)} in "
            f"waiting for others; the largest part is {largest.category.replace('_', ' ')} with "
            f"{percent_text(largest.share)}"
        )
    if not found:
        return f"{first}; no pattern was found that costs any rank as much as 1 % of the run."
    worst = found[0]
    doubt = ", scheduling included," if oversubscribed else ""
    return (
        f"{first}; the worst finding{doubt} costs a rank up to {percent_text(worst.share)} of the slowest rank's time "
        f"({time_text(worst.exposed_ps)} over all ranks): {worst.title}."
    )
