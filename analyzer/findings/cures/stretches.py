"""What each rank computes before the calls of one path, visit by visit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from logpost.analyzer.findings.cures.program import Flags, Program
from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.finding import CERTAIN
from logpost.analyzer.findings.wording.facts import HEAVY
from logpost.replay.columns import Int64

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Stretch:
    """The code before the calls of one path, or of a path of each of them, on the ranks that make them; times in ps."""

    callpath: int
    locations: tuple[int, ...]
    calls: tuple[Int64, ...]
    """by location, in their order"""
    gaps: tuple[Int64, ...]
    """the code before each of them"""
    turn_of: tuple[Int64, ...]
    """by location and call: which time it is that the location gets there; queries of the clock or the environment
    divide the code of one turn"""
    in_all: bool = False
    """the code of different calls, which is compared in all"""

    @cached_property
    def totals(self) -> Floats:
        """By location."""
        return np.array([gaps.sum() for gaps in self.gaps], dtype=np.float64)

    @cached_property
    def visits(self) -> Floats | None:
        """By location and visit; None: their visits are unequally many, and no visit has others to compare."""
        counts = {len(gaps) for gaps in self.gaps}
        return (
            None
            if self.in_all
            else np.array(self.gaps, dtype=np.float64)
            if len(counts) == 1 and counts != {0}
            else None
        )

    @cached_property
    def turns(self) -> Floats | None:
        """By location and turn; None: their turns are unequally many, and none has others to compare."""
        if self.in_all or len(set(map(len, self._turns))) > 1:
            return None
        return np.array(self._turns)

    @cached_property
    def _turns(self) -> list[Floats]:
        each = zip(self.turn_of, self.gaps, strict=True)
        return [np.bincount(of, weights=gaps).astype(np.float64) for of, gaps in each]

    def by_call(self, row: int, more: Floats) -> Int64:
        """How much longer the code before each call of a location is, with so much more in each turn: in proportion to
        what it has of the turn; of a turn without code, before its last call."""
        of, gaps = self.turn_of[row], self.gaps[row]
        ends = np.append(of[1:] != of[:-1], True)[: len(of)]
        whole = self._turns[row][of]
        return np.rint(more[of] * np.where(whole > 0, gaps / np.maximum(1.0, whole), ends)).astype(np.int64)

    def at(self, location: int) -> Stretch:
        """That of one location."""
        row = self.locations.index(location)
        return replace(
            self, locations=(location,), calls=(self.calls[row],), gaps=(self.gaps[row],), turn_of=(self.turn_of[row],)
        )

    @property
    def spread(self) -> float:
        """max - mean of the totals."""
        return float(self.totals.max() - self.totals.mean())

    @property
    def uneven_ps(self) -> float:
        """What the slowest of each visit has beyond the mean; where no visit has others to compare, of all together."""
        return self.spread if self.visits is None else float((self.visits.max(axis=0) - self.visits.mean(axis=0)).sum())

    @cached_property
    def heavy(self) -> Flags:
        """Locations with a total in the upper half of the way from the mean to the longest."""
        more = self.totals - self.totals.mean()
        return np.asarray((more > 0) & (more >= HEAVY * more.max()))

    @cached_property
    def slow(self) -> Flags:
        """Those that are beyond the mean by more than chance: how much turns differ; where there is one, and of all
        code, how much the others do. That no other one has any code there is no chance."""
        more = self.totals - self.totals.mean()
        if np.count_nonzero(self.totals) == 1:
            return self.heavy
        turns = self.turns
        if turns is not None and turns.shape[1] > 1:
            error = (turns - turns.mean(axis=0)).std(axis=1, ddof=1) * np.sqrt(turns.shape[1])
        elif min(map(len, self._turns)) > 1 and not self.in_all:
            error = np.array([one.std(ddof=1) * np.sqrt(len(one)) for one in self._turns])
        else:
            error = np.array([np.delete(self.totals, i).std() for i in range(len(self.totals))])
        return np.asarray(self.heavy & (more > CERTAIN * error))

    @cached_property
    def norm(self) -> int | None:
        """The row in the middle of those that are not slow (`middle_of`)."""
        return self.middle_of(~self.slow)

    def middle_of(self, some: Flags) -> int | None:
        """Row of the location with the median total of these; None: they are less than half."""
        (others,) = np.nonzero(some)
        if len(others) < len(self.totals) / 2:
            return None
        return int(others[np.argsort(self.totals[others], kind="stable")[(len(others) - 1) // 2]])

    def most_like(self, row: int, some: Flags) -> int:
        """Row of the one of these locations from whose turns those of this one differ most evenly."""
        assert self.turns is not None
        (others,) = np.nonzero(some)
        return int(others[np.argmin((self.turns[row] - self.turns[others]).std(axis=1))])

    def follows_paths(self, program: Program, row: int) -> Int64:
        """The call paths behind which a location's code here lies, that with most of it first; -1: at its begin."""
        calls, gaps = self.calls[row], self.gaps[row]
        before = np.where(program.follows[calls], program.stretch_behind[calls - 1], -1)
        paths, of = np.unique(before, return_inverse=True)
        return paths[np.argsort(-np.bincount(of, weights=gaps), kind="stable")]


@once
def every_stretch(program: Program) -> tuple[Stretch, ...]:
    """Every one, by call path."""
    of: dict[int, list[tuple[int, Int64]]] = {}
    for location, calls in program.calls_of.items():
        paths = program.stretch[calls]
        for path in np.unique(paths[paths >= 0]).tolist():
            of.setdefault(path, []).append((location, calls[paths == path]))
    found = []
    for path, each in sorted(of.items()):
        locations, calls_of_each = zip(*each, strict=True)
        gaps = tuple(program.gap_ps[some] for some in calls_of_each)
        turn_of = tuple(_turn_of(program, one) for one in calls_of_each)
        found.append(Stretch(path, locations, calls_of_each, gaps, turn_of))
    return tuple(found)


@once
def stretches(program: Program) -> tuple[Stretch, ...]:
    """Those that two ranks or more run: only a rank that calls at a path has a share of the work before it.

    Which neighbors a rank has decides at which of several lines of a function it first calls an operation, behind the
    same work: where not all ranks that do so call it at one of them, these lines are one place, and each rank has its
    longest.
    """
    callers: dict[tuple[int, int], set[int]] = {}
    for one in every_stretch(program):
        callers.setdefault(program.sites[one.callpath], set()).update(one.locations)
    found, partly = [], dict[tuple[int, int], list[Stretch]]()
    for one in every_stretch(program):
        site = program.sites[one.callpath]
        if callers[site] == set(one.locations):
            found.append(one)
        else:
            partly.setdefault(site, []).append(one)
    found += map(_longest_of_each, partly.values())
    return tuple(one for one in found if len(one.locations) > 1)


def _longest_of_each(places: list[Stretch]) -> Stretch:
    """What each location computes longest there, in one, with the path of the longest of all."""
    rows = [one.at(location) for one in places for location in one.locations]
    rows.sort(key=lambda one: -one.totals[0])
    of = {one.locations[0]: one for one in reversed(rows)}
    each = [of[location] for location in sorted(of)]
    return Stretch(
        rows[0].callpath,
        tuple(sorted(of)),
        tuple(one.calls[0] for one in each),
        tuple(one.gaps[0] for one in each),
        tuple(one.turn_of[0] for one in each),
    )


def _turn_of(program: Program, calls: Int64) -> Int64:
    """By call of a stretch: how many before it end a turn."""
    ends = program.moves_data[calls].astype(np.int64)
    return np.cumsum(ends) - ends


def whole_code(program: Program) -> Stretch | None:
    """All code of every rank, at the place where the longest one has most beyond the others; None: there is none."""
    calls = program.calls_of
    gaps = tuple(program.gap_ps[some] for some in calls.values())
    slowest = max(program.code_ps, key=lambda location: program.code_ps[location])
    places = [one for one in stretches(program) if slowest in one.locations]
    beyond = [one.totals[one.locations.index(slowest)] - one.totals.mean() for one in places]
    if not places:
        return None
    path = places[int(np.argmax(beyond))].callpath
    turn_of = tuple(np.arange(len(some)) for some in gaps)
    return Stretch(path, tuple(calls), tuple(calls.values()), gaps, turn_of, in_all=True)
