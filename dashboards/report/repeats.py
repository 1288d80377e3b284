"""Tables of a comparison of several runs with several: means of both sides, the change, its interval, the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from logpost.analyzer.compare.change import Change
from logpost.analyzer.compare.repeats.compare import NOISE, UNKNOWN, RepeatedChange, Repeats
from logpost.analyzer.compare.two_runs import EFFICIENCY_PREFIX, GROUPS, LENGTHS, REGION_PREFIX
from logpost.analyzer.report.efficiencies import NAMES
from logpost.analyzer.run.undivided import SHOWN
from logpost.analyzer.words.labels import folded
from logpost.analyzer.words.units import time_text
from logpost.dashboards.figures import palette
from logpost.dashboards.report.comparison import relative, signed
from logpost.dashboards.report.tables import Grid, fraction

HEAD = ("mean of A", "mean of B", "B − A", "95 % interval", "change", "B has")
NUMBERS = frozenset({1, 2, 3, 4, 5})


def repeats_grids(repeats: Repeats) -> dict[str, Grid]:
    """`lengths`, `categories`, `regions` and `efficiencies`."""
    shares = [
        (
            change.name.removeprefix(EFFICIENCY_PREFIX).replace("_", " "),
            fraction(change.contrast.a.mean),
            fraction(change.contrast.b.mean),
            _points(change.contrast.value),
            _between(change, _points),
            "",
            change.verdict if _points(change.contrast.value) != _points(0.0) else "the same",
        )
        for change in repeats.changes(f"{EFFICIENCY_PREFIX}{name}" for name in NAMES)
    ]
    regions = [change for change in repeats.regions() if any(change.a) or any(change.b)]
    return {
        "lengths": Grid(("length", *HEAD), _times(repeats.changes(LENGTHS)), NUMBERS),
        "categories": Grid(("category", *HEAD), _times(repeats.changes((*SHOWN, *GROUPS))), NUMBERS),
        "regions": Grid(("region", *HEAD), _times(regions), NUMBERS),
        "efficiencies": Grid(("efficiency", *HEAD), shares, NUMBERS),
    }


def verdict(wall: RepeatedChange) -> str:
    """By how much B is longer or shorter than A, and whether the runs' own noise allows to say so.

    Args:
        wall: the program's length in every run.
    """
    a, b = wall.contrast.a, wall.contrast.b
    counts = f"{a.count} run{'' if a.count == 1 else 's'} of A and {b.count} of B"
    mean = f"B lasts {time_text(b.mean)} in the mean, A {time_text(a.mean)}"
    change = relative(Change(wall.name, a.mean, b.mean))
    if wall.verdict == UNKNOWN:
        return f"{mean} ({change}). One run of each does not show the noise."
    between = f"95 % interval {_between(wall, signed)}, {counts}"
    if wall.verdict == NOISE:
        return f"{mean} ({change}): within the noise of the runs ({between})."
    how = "longer" if wall.contrast.value > 0 else "shorter"
    return f"B is {how} than A by more than noise: {mean} ({change}; {between})."


def name_of(change: RepeatedChange) -> str:
    """What people call a quantity."""
    if change.name.startswith(REGION_PREFIX):
        return folded(change.name.removeprefix(REGION_PREFIX))
    return palette.label(change.name)


def _times(changes: Sequence[RepeatedChange]) -> list[tuple[str, ...]]:
    return [
        (
            name_of(change),
            time_text(change.contrast.a.mean),
            time_text(change.contrast.b.mean),
            signed(change.contrast.value),
            _between(change, signed),
            relative(Change(change.name, change.contrast.a.mean, change.contrast.b.mean)),
            change.verdict,
        )
        for change in changes
        if any(change.a) or any(change.b)
    ]


def _between(change: RepeatedChange, say: Callable[[float], str]) -> str:
    ends = change.contrast.interval
    return "not known" if ends is None else f"{say(ends[0])} to {say(ends[1])}"


def _points(share: float) -> str:
    """A difference of two percentages."""
    text = f"{100 * abs(share):.1f} points"
    return text if text == "0.0 points" else f"{'+' if share > 0 else '−'}{text}"
