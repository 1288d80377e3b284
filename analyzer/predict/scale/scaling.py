"""How each category of a program's time grows with the ranks, and what it will be at a larger number.

Each category's time of a rank (mean, and the most) is a function of P with few terms (`growth`), those that the trace
allows (`structure`), and what the program's own pattern gives when it is replayed at that size (`enlarge`). Which one
it is, the measured sizes decide.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from logpost.analyzer.predict.scale.enlarge import Enlarged
from logpost.analyzer.predict.scale.growth import Growth, growth, stretch, sure
from logpost.analyzer.predict.scale.observed import Observed, Spread, observed, spreads, undivided_in
from logpost.analyzer.predict.scale.structure import Structure, structure
from logpost.analyzer.predict.scale.template import NoReplayError, TooLargeError
from logpost.analyzer.run.directory import Run
from logpost.errors import InputError

SMALL = 0.01
"""Of all time of a rank: differences of smaller categories count over this much."""
ENOUGH = 3
"""Sizes that are replayed before their growth is continued."""
MOST_SPAN = 10.0
"""An interval whose ends differ by more than this factor is no prediction."""

Report = Callable[[str, int, int], None]
"""progress(phase, done, total); total 0: unknown."""


@dataclass(frozen=True)
class Point:
    """A prediction at a number of ranks; ps of a rank."""

    ranks: int
    mean: float
    low: float
    high: float
    most: float


@dataclass(frozen=True)
class CategoryGrowth:
    """One category."""

    name: str
    measured: tuple[Spread, ...]
    """by run, in the order of their ranks"""
    growth: Growth
    """of the mean"""
    points: tuple[Point, ...]

    @property
    def there(self) -> Point:
        """At the requested number of ranks."""
        return self.points[-1]


@dataclass(frozen=True)
class DominatingCategory:
    """From a number of ranks on, most of the time is this category's, as far as the measured sizes show."""

    ranks: int
    category: str


@dataclass(frozen=True)
class Scaling:
    """Everything that is said of a program's growth."""

    runs: tuple[str, ...]
    machine: str
    sizes: tuple[int, ...]
    target: int
    categories: tuple[CategoryGrowth, ...]
    """that with the most time at the target first"""
    total: tuple[Point, ...]
    structure: Structure
    pattern: str
    """what is replayed at other sizes; empty: nothing is"""
    dominating: tuple[DominatingCategory, ...]
    notes: tuple[str, ...]

    @property
    def runner_up(self) -> CategoryGrowth | None:
        """The category that may have more time at the target than the first, as the intervals say."""
        first = self.categories[0].there
        return next((one for one in self.categories[1:] if one.there.high > first.low), None)


def scale(runs: Sequence[Run], target: int, report: Report | None = None) -> Scaling:
    """How a program grows to a number of ranks.

    Args:
        runs: of the same program, on at least two numbers of ranks.
        target: more ranks than any run has.
        report: receives the progress.

    Raises:
        InputError: the runs do not suffice.
    """
    undivided = undivided_in(runs)
    found = sorted((observed(run, undivided) for run in runs), key=lambda one: one.ranks)
    _refuse(found, target)
    sizes = tuple(one.ranks for one in found)
    shape = structure(found)
    at = sorted({*sizes, *_doublings(sizes[-1], target)})
    replayed, pattern, notes = _replays(found, at, undivided, report)
    if replayed:
        known = sorted(replayed)
        if known[-1] < target:
            replayed |= _continued(replayed, [size for size in at if size > known[-1]], shape)
        at = [size for size in at if size in replayed]
    names = sorted({name for one in found for name in one.times})
    categories = [_category(name, found, at, shape, replayed) for name in names]
    categories.sort(key=lambda one: (-one.there.mean, one.name))
    total = tuple(_total(categories, found, i) for i in range(len(at)))
    _refuse_span(sizes, total[-1])
    return Scaling(
        runs=tuple(str(one.run.path) for one in found),
        machine=found[-1].run.manifest.machine.label,
        sizes=sizes,
        target=target,
        categories=tuple(categories),
        total=total,
        structure=shape,
        pattern=pattern,
        dominating=_dominating(categories, at),
        notes=(*notes, *_notes(found)),
    )


def _refuse(runs: Sequence[Observed], target: int) -> None:
    sizes = sorted({one.ranks for one in runs})
    if len(sizes) < 2:
        raise InputError(
            f"growth needs runs on at least two numbers of ranks, and all of these have {sizes[0]}; add a run on more"
        )
    if target <= sizes[-1]:
        raise InputError(f"--to {target}: a run has {sizes[-1]} ranks already; give a larger number")
    for one in runs[:-1]:
        if not one.sites.keys() & runs[-1].sites.keys():
            raise InputError(
                f"{one.run.path} and {runs[-1].run.path} have no call path in common: runs of the same program are "
                "needed"
            )


def _refuse_span(sizes: Sequence[int], there: Point) -> None:
    if there.low <= 0 or there.high > MOST_SPAN * there.low:
        known = " and ".join(map(str, sorted(set(sizes))))
        raise InputError(
            f"runs on {known} ranks do not determine the time on {there.ranks:,}: it may be from "
            f"{there.low * 1e-12:.3g} to {there.high * 1e-12:.3g} s; add runs on more sizes, or ask for fewer ranks"
        )


def _doublings(last: int, target: int) -> list[int]:
    """Sizes on the way to the target, and the target."""
    steps = math.ceil(math.log2(target / last) - 0.5)
    return [*(last * 2**i for i in range(1, steps)), target]


def _replays(
    runs: Sequence[Observed], at: Sequence[int], undivided: Sequence[str], report: Report | None
) -> tuple[dict[int, dict[str, Spread]], str, list[str]]:
    """Times by size and category, the pattern, and notes; without times where the program cannot be replayed."""
    times: dict[int, dict[str, Spread]] = {}
    notes = []
    try:
        program = Enlarged(runs)
        needed = {*(one.ranks for one in runs), at[-1]}
        for i, size in enumerate(at):
            if report is not None:
                report(f"replaying {size:,} ranks", i, len(at))
            try:
                times[size] = spreads(program.at(size).times.lazy(), size, undivided)
            except TooLargeError as reason:
                if len(times) < ENOUGH:
                    raise
                notes = [f"replayed up to {max(times):,} ranks, and continued as that grows: {reason}"]
                break
            except NoReplayError:
                if size in needed:
                    raise
        return times, program.pattern, notes
    except (NoReplayError, InputError) as reason:
        return {}, "", [f"the program is not replayed at other sizes: {reason}"]


def _continued(
    replayed: Mapping[int, dict[str, Spread]], beyond: Sequence[int], shape: Structure
) -> dict[int, dict[str, Spread]]:
    """What replays of more sizes than were measured say of sizes that are too large for one."""
    sizes = [float(size) for size in sorted(replayed)]
    found: dict[int, dict[str, Spread]] = {size: {} for size in beyond}
    for name in {name for times in replayed.values() for name in times}:
        rows = [replayed[round(size)].get(name, Spread(0.0, 0.0)) for size in sizes]
        terms = shape.terms(name)
        mean, most = (
            growth(sizes, values, terms, signed=True) for values in ([r.mean for r in rows], [r.most for r in rows])
        )
        for size in beyond:
            value = max(0.0, mean.at(size))
            found[size][name] = Spread(value, max(value, most.at(size)))
    return found


def _category(
    name: str, runs: Sequence[Observed], at: Sequence[int], shape: Structure, replayed: Mapping[int, dict[str, Spread]]
) -> CategoryGrowth:
    nothing = Spread(0.0, 0.0)
    measured = tuple(one.times.get(name, nothing) for one in runs)
    sizes = [float(one.ranks) for one in runs]
    curves: list[dict[float, float] | None] = [None, None]
    if replayed and name != "compute":  # the replay has its growth from the runs
        times = {float(size): replayed[size].get(name, nothing) for size in at}
        curves = [{size: one.mean for size, one in times.items()}, {size: one.most for size, one in times.items()}]
    terms = shape.terms(name)
    floor = [SMALL * sum(time.mean for time in one.times.values()) for one in runs]
    mean = growth(sizes, [one.mean for one in measured], terms, curves[0], floor, shape.shown(name))
    most = growth(sizes, [one.most for one in measured], terms, curves[1], floor, shape.shown(name))
    points = []
    for size in at:
        low, high = mean.interval(size)
        value = mean.at(size)
        points.append(Point(size, value, min(low, value), max(high, value), max(most.at(size), value)))
    return CategoryGrowth(name, measured, mean, tuple(points))


def _total(categories: Sequence[CategoryGrowth], runs: Sequence[Observed], i: int) -> Point:
    """All categories. Their errors are taken as independent, but the sum is no surer than it is at the known sizes:
    what one category misses, another one may miss, too."""
    points = [one.points[i] for one in categories]
    mean = sum(one.mean for one in points)
    falls = math.hypot(*(one.mean - one.low for one in points))
    rises = math.hypot(*(one.high - one.mean for one in points))
    missed = []
    for run in runs:
        together = sum(one.growth.best.misses.get(float(run.ranks), 0.0) for one in categories)
        missed.append(abs(together) / max(1.0, sum(time.mean for time in run.times.values())))
    sizes = [float(one.ranks) for one in runs]
    alike = sure(len(set(sizes))) * stretch(sizes, points[0].ranks) * sum(missed) / len(missed) * mean
    return Point(points[0].ranks, mean, max(0.0, mean - max(falls, alike)), mean + max(rises, alike), mean)


def _dominating(categories: Sequence[CategoryGrowth], at: Sequence[int]) -> tuple[DominatingCategory, ...]:
    found: list[DominatingCategory] = []
    for i, size in enumerate(at):
        first = max(categories, key=lambda one: one.points[i].mean).name
        if not found or found[-1].category != first:
            found.append(DominatingCategory(size, first))
    return tuple(found)


def _notes(runs: Sequence[Observed]) -> list[str]:
    notes = []
    labels = sorted({one.run.manifest.machine.label for one in runs})
    if len(labels) > 1:
        notes.append(f"the runs were analyzed with different machines ({', '.join(labels)}): their parts are not alike")
    different = len({one.ranks for one in runs})
    if different == 2:
        notes.append(
            "two sizes determine one coefficient of each category, and not its form: a third run would "
            "narrow the intervals"
        )
    return notes
