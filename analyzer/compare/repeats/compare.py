"""Compare several runs of one version of a program with several of another.

Runs are compared in pairs (A with B, A2 with B2, ...; the shorter side's last run again), each as `compare` does, and
the values of a side are put together. Every value is a run's own: no pairing enters the statistics.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from logpost.analyzer.compare.change import Change
from logpost.analyzer.compare.two_runs import REGION_PREFIX, Comparison, compare
from logpost.analyzer.report.data import PlacedFinding
from logpost.analyzer.run.directory import Run
from logpost.analyzer.statistics.contrast import Contrast, Side

SLOWER, FASTER, NOISE, UNKNOWN = "more", "less", "within noise", "noise not known"


@dataclass(frozen=True)
class RepeatedChange:
    """One quantity in every run of A and B. Times in ps; efficiencies and gains as fractions."""

    name: str
    a: tuple[float, ...]
    b: tuple[float, ...]

    @cached_property
    def contrast(self) -> Contrast:
        """mean(B) - mean(A), with its interval."""
        return Contrast(Side.of(self.a), Side.of(self.b))

    @property
    def relative(self) -> float | None:
        """(mean(B) - mean(A)) / mean(A)."""
        contrast = self.contrast
        return Change(self.name, contrast.a.mean, contrast.b.mean).relative

    @property
    def verdict(self) -> str:
        """Whether B has more or less of it, as far as the noise allows to say."""
        contrast = self.contrast
        if contrast.interval is None:
            return UNKNOWN
        if not contrast.decided or contrast.value == 0:
            return NOISE
        return SLOWER if contrast.value > 0 else FASTER


@dataclass(frozen=True)
class Repeats:
    """The runs of A and those of B."""

    comparisons: tuple[Comparison, ...]
    """in pairs, as many as the longer side has runs"""
    before: tuple[Run, ...]
    after: tuple[Run, ...]

    def change(self, name: str) -> RepeatedChange | None:
        """A quantity that `Comparison.quantity` knows; None where a run does not have it.

        A region that some runs lack has no time in these.
        """
        found = [comparison.quantity(name) for comparison in self.comparisons]
        if name.startswith(REGION_PREFIX) and any(found):
            found = [change or Change(name, 0, 0) for change in found]
        a = tuple(change.before for change in found[: len(self.before)] if change and change.before is not None)
        b = tuple(change.after for change in found[: len(self.after)] if change and change.after is not None)
        if len(a) < len(self.before) or len(b) < len(self.after):
            return None
        return RepeatedChange(name, a, b)

    def changes(self, names: Iterable[str]) -> list[RepeatedChange]:
        """Those of the quantities that every run has."""
        return [change for name in names if (change := self.change(name)) is not None]

    def regions(self) -> list[RepeatedChange]:
        """Every region, under its name in B; first those whose change is certain, then by the change of the means."""
        former = {name for comparison in self.comparisons for name in comparison.renames}
        names = dict.fromkeys(
            name for comparison in self.comparisons for name in comparison.every_region if name not in former
        )
        found = self.changes(f"{REGION_PREFIX}{name}" for name in names)
        return sorted(found, key=lambda c: (c.verdict not in (SLOWER, FASTER), -abs(c.contrast.value), c.name))

    @property
    def undivided(self) -> tuple[str, ...]:
        """Categories that the machine of some run does not distinguish."""
        return tuple(dict.fromkeys(name for comparison in self.comparisons for name in comparison.undivided))

    @property
    def notes(self) -> tuple[str, ...]:
        """What makes the runs hard to compare, each said once."""
        return tuple(dict.fromkeys(note for comparison in self.comparisons for note in comparison.notes))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Those of the compared runs."""
        return tuple(dict.fromkeys(warning for comparison in self.comparisons for warning in comparison.warnings))

    @property
    def appeared(self) -> list[PlacedFinding]:
        """Findings that every run of B has beyond A's."""
        return _in_all([comparison.appeared for comparison in self.comparisons])

    @property
    def gone(self) -> list[PlacedFinding]:
        """Findings that every run of A has beyond B's."""
        return _in_all([comparison.gone for comparison in self.comparisons])


def compare_repeats(before: Sequence[Run], after: Sequence[Run]) -> Repeats:
    """Compares the runs of A (before) with those of B (after), at least one each."""
    pairs = range(max(len(before), len(after)))
    return Repeats(
        tuple(compare(before[min(i, len(before) - 1)], after[min(i, len(after) - 1)]) for i in pairs),
        tuple(before),
        tuple(after),
    )


def median_run(runs: Sequence[Run], lengths: Sequence[float]) -> Run:
    """The run of median length; of an even number the shorter of the two in the middle."""
    order = sorted(range(len(runs)), key=lambda i: lengths[i])
    return runs[order[(len(runs) - 1) // 2]]


def _in_all(findings: Sequence[Iterable[PlacedFinding]]) -> list[PlacedFinding]:
    keys = [{(found.kind, found.path, found.region) for found in some} for some in findings]
    common = set.intersection(*keys)
    return [found for found in findings[0] if (found.kind, found.path, found.region) in common]
