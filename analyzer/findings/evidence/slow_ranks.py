"""Two cures of unequal work: it is shared evenly, or the slow ranks become as fast as the others.

Work that a partition gave to some ranks can be given to all: each then has the mean. A rank that is slow itself (its
node, its binding, code that it alone runs) can lose what it takes beyond the others, whose times stay: it then has
their median. A trace tells the two apart where ranks are slow by exception only. With S slow ranks among N, each x
beyond the others, the first saves x (N - S) / N and the second x: they differ by a quarter at most where S is no more
than a fifth of N. Beyond that the others are no norm, and only the first is looked at. Which of the two it will be, no
trace tells: the gain that is stated is the middle, off by an eighth of either at most where the rest is known.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from statistics import median

from logpost.analyzer.findings.finding import Number

EXCEPTION = 1 / 5
"""Most of the ranks that are slow by exception."""


def by_exception(slow: Collection[int], every: Collection[int]) -> bool:
    """Whether these are so few of all that the others are a norm."""
    return 0 < len(slow) <= EXCEPTION * len(every)


def evenly(times: Mapping[int, float]) -> dict[int, float]:
    """The mean of all, for each."""
    mean = sum(times.values()) / max(1, len(times))
    return dict.fromkeys(times, mean)


def as_the_others(times: Mapping[int, float], slow: Collection[int]) -> dict[int, float]:
    """The median of the others for the slow ones, where that is less; the others keep their times."""
    norm = median([time for rank, time in times.items() if rank not in slow])
    return {rank: min(time, norm) if rank in slow else time for rank, time in times.items()}


def either(as_fast: float, shared: float) -> tuple[Number, Number]:
    """What both cures save, as evidence."""
    return Number("gain_if_as_fast", as_fast, "1"), Number("gain_if_shared", shared, "1")
