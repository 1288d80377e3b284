"""One finding: what a pattern costs, where, which ranks cause it, and the named numbers behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING

import polars as pl

from logpost.analyzer.findings.evidence.places import Places
from logpost.analyzer.findings.prose import advice, titles
from logpost.analyzer.findings.wording.numbers import LEVELS
from logpost.analyzer.run.schema import FINDINGS
from logpost.analyzer.words.location_names import Named, Rank

if TYPE_CHECKING:
    from logpost.analyzer.findings.cures.offered import ReplayedCure

MIN_SHARE = 0.01
"""The smallest share of the slowest rank's program time on the worst-hit rank. A cure of less than 1 % disappears in
the run-to-run variation of real programs, so a reader could not even check that it worked."""

NOISE = 0.05
"""Fraction by which computation varies around its mean in a program without a loss: that of the programs by which it is
measured that nothing is found in these (docs/accuracy.md). Ranks that depend on each other lose as much by waiting."""

MUCH = 0.1
"""Fraction of a time: as much that is not explained, or not the program's, changes what is said of it, and is stated
(design: a residual that an efficiency is not stated without)."""

CERTAIN = 3.0
"""Standard errors. By the normal distribution, three of a thousand that do not differ do so by more."""

UNEXPLAINED = "unexplained"
"""The kind that is no cure: what is not explained, behind all cures."""

COVERS = "lost_time_saved"
"""The number of what a finding explains of the ranks' lost time (`covered`); ps, over all ranks."""

MIN_SAMPLES = 8
"""Fewest messages, calls or instants behind a statement about a pattern: by chance, so many are all on one side of
their mean in 2 of 2^8 cases, less than 1 % (sign test)."""

HIGH, MEDIUM, LOW = LEVELS
"""Confidences."""


@dataclass(frozen=True)
class Number:
    """One piece of evidence. A name may carry a place: `computing[relax]`.

    Units: `ps`, `B`, `1` (a fraction), `x` (how many times), `count`, `rank`, `thread` (of a process, 0: the first),
    `rank_in_order` (a chain: each waits for the next), `process` and `process_in_order` (of one without a rank).
    """

    name: str
    value: float
    unit: str
    thread: int | None = None
    """Of a rank or process: which thread; None: all of it"""

    @classmethod
    def of(cls, name: str, named: Named, *, in_order: bool = False) -> Number:
        """A rank or one of its threads, as evidence."""
        return cls(name, named.number, named.noun + ("_in_order" if in_order else ""), named.thread)

    def of_whole(self, longer: float) -> Number:
        """That of a program that is so many times longer than what is replayed."""
        return self

    def row(self) -> dict[str, object]:
        """As `schema.EVIDENCE`."""
        return {"name": self.name, "value": float(self.value), "unit": self.unit, "thread": self.thread}


@dataclass(frozen=True)
class Sum(Number):
    """One over what is replayed."""

    def of_whole(self, longer: float) -> Number:
        """To two digits."""
        return replace(self, value=float(f"{self.value * longer:.1e}"))


def numbers_of_doings(shares: Iterable[tuple[tuple[str, str], float]]) -> tuple[Number, ...]:
    """(what ranks do, in which region) with its share of the time, as evidence; the largest share first."""
    return tuple(
        Number(f"{doing}[{region}]" if region else doing, share, "1")
        for (doing, region), share in sorted(shares, key=lambda item: (-item[1], item[0]))
        if share >= MIN_SHARE
    )


@dataclass(frozen=True)
class Finding:
    """A row of the findings table without its prose, and the cure that was replayed.

    `exposed_ps` is summed over the ranks concerned; `share` is the exposed time of the worst-hit rank over the slowest
    rank's program time; `gain` is the share of that time that its cure saves.
    """

    kind: str
    replayed: ReplayedCure
    """the program without the cause"""
    named: tuple[Named, ...]
    """ranks concerned, or threads of them"""
    region: str
    cause_region: str
    evidence: tuple[Number, ...]
    confidence: float
    certainty: str
    callpath: int
    first_window: int
    last_window: int
    exposed_ps: int
    share: float
    gain: float
    gain_low: float | None = None
    gain_high: float | None = None
    """Between which the gain is (`gain_interval`); None: no end of it is computed"""
    path_share: float | None = None
    """of the program's critical path: the share of the code that delays others, else of the finding's calls"""
    removes: Mapping[tuple[int, int], float] = field(default_factory=dict)
    """(location, call path) to the time in calls there that the cure saves; ps"""

    @property
    def ranks(self) -> tuple[Rank, ...]:
        """Ranks concerned, ascending, some of them by a thread only."""
        return tuple(sorted({named.rank for named in self.named if named.rank is not None}))

    def row(self) -> dict[str, object]:
        """As a row of `schema.FINDINGS`, without `title` and `advice`."""
        apart = ("removes", "replayed", "evidence", "named")
        plain = {column.name: getattr(self, column.name) for column in fields(self) if column.name not in apart}
        threads = [asdict(one) for one in self.named if one.thread is not None or one.rank is None]
        numbers = [number.row() for number in self.evidence]
        return plain | {"ranks": list(self.ranks), "threads": threads, "evidence": numbers}


def in_order(found: Iterable[Finding]) -> list[Finding]:
    """As the table has them: in descending order of the gain, which is the number shown."""

    def order(finding: Finding) -> tuple[bool, float, float, int, str, int]:
        return (
            finding.kind == UNEXPLAINED,
            -finding.gain,
            -finding.share,
            -finding.exposed_ps,
            finding.kind,
            finding.callpath,
        )

    return sorted(found, key=order)


def frame(found: Iterable[Finding], places: Places) -> pl.DataFrame:
    """The findings table."""
    rows = [finding.row() for finding in in_order(found)]
    said = zip(rows, titles(rows, places), strict=True)
    return pl.DataFrame([row | {"title": title, "advice": advice(row)} for row, title in said], schema=FINDINGS.schema)


def worst_hit(exposed_by_location: Mapping[int, float], slowest_program_ps: int) -> float:
    """Exposed time of the worst-hit location over the slowest location's program time; 0 without locations."""
    return max(exposed_by_location.values(), default=0.0) / slowest_program_ps if slowest_program_ps > 0 else 0.0


def sums_at_locations(at_places: Mapping[tuple[int, int], float]) -> dict[int, float]:
    """Location to the sum of its times at all call paths."""
    sums: dict[int, float] = {}
    for (location, _), time in at_places.items():
        sums[location] = sums.get(location, 0.0) + time
    return sums
