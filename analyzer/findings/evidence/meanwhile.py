"""What a rank does while others wait for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.findings.evidence.overlap import Overlap
from logpost.analyzer.findings.evidence.tables import Evidence, in_order
from logpost.analyzer.run.undivided import UNDIVIDED, together
from logpost.analyzer.run.wide import exact_sum
from logpost.analyzer.words.categories import WAITING

Sums = npt.NDArray[np.float64]

LOOK_BACK = 16
"""Calls looked back over for one that tells where the code is."""

ROWS_AT_ONCE = 1 << 18
"""Calls whose columns are arrays at once, unless one location has more."""


@dataclass(frozen=True)
class Cause:
    """What keeps a late rank: computing in a region, working in a communication call, or waiting in one itself."""

    region: str
    doing: Literal["computing", "working", "waiting", "inside"]
    """`inside`: working or waiting; the machine does not tell which"""
    known_from: str


@dataclass(frozen=True)
class Meanwhile:
    """What a late rank does while others wait for it, as fractions of that time; causes and `late_sender` add up to
    1."""

    causes: dict[Cause, float]
    late_sender: float
    """waiting for late senders itself: the cause is found further up the chain"""
    total_ps: int
    """length of the intervals together"""
    late_sender_in: str
    """the call in which most of that waiting happens"""
    unexplained: dict[str, float]
    """Region to the fraction spent in its calls that no part of the model explains; part of the causes at work"""

    def share(self, doing: str) -> float:
        """Fraction of causes of one kind."""
        return sum(fraction for cause, fraction in self.causes.items() if cause.doing == doing)

    @property
    def waiting(self) -> float:
        """Fraction of waiting of any kind."""
        return self.late_sender + self.share("waiting")

    @property
    def waits(self) -> dict[str, float]:
        """Region to the fraction of waiting in it, of any kind."""
        found = {self.late_sender_in: self.late_sender}
        for cause, fraction in self.causes.items():
            if cause.doing == "waiting":
                found[cause.region] = found.get(cause.region, 0.0) + fraction
        return found


Near = Mapping[int, pl.DataFrame]
"""Location to its calls within some intervals, and the `LOOK_BACK` before each, in their order."""


def meanwhile_of(
    evidence: Evidence,
    intervals: pl.DataFrame,
    locations: list[int],
    by: tuple[str, ...] = ("location",),
    near: Near | None = None,
) -> dict[tuple[int, ...], Meanwhile]:
    """What each late rank does in the intervals in which others wait for it.

    Arguments:
        intervals: `location` that is late, `begin_ps` and `end_ps` of the waiting, `callpath` of the call that ends it;
            -1: none does.
        locations: the late ranks whose calls are read.
        by: columns of `intervals` that make the keys of the result.
        near: `calls_near` these intervals, among others, where that was read already.
    """
    if near is None:
        near = calls_near(evidence, (intervals, locations))
    found: dict[tuple[int, ...], Meanwhile] = {}
    for key, some in intervals.partition_by(list(by), as_dict=True).items():
        location = int(some["location"][0])
        if location in near and location in locations:
            found[tuple(int(part) for part in key)] = _of(evidence, location, some, near[location])
    return found


def calls_near(evidence: Evidence, *wanted: tuple[pl.DataFrame, list[int]]) -> Near:
    """The calls of some locations within their intervals, for several pairs of intervals and locations at once.

    The table may have 10^7 rows, of which the intervals touch few.
    """
    locations = sorted({location for _, some in wanted for location in some})
    intervals = pl.concat(
        intervals.filter(pl.col("location").is_in(some)).select("location", "begin_ps", "end_ps")
        for intervals, some in wanted
    )
    theirs = evidence.tables["calls"]
    if len(locations) < evidence.locations.height:
        theirs = theirs.filter(pl.col("location").is_in(locations))
    # Most calls are far from any interval: of these nothing but their times is read.
    every = theirs.select("call", "location", "enter_ps", "leave_ps").collect()
    by_location = {int(key): some for (key,), some in intervals.partition_by("location", as_dict=True).items()}
    kept = pl.concat(
        calls.filter(_within_reach(calls, by_location))
        for calls in (in_order(some, "location", "call") for some in _whole_locations(every))
    )
    waiting = [category for category in WAITING if category in evidence.occurring and category != "late_sender"]
    others = [pl.lit(0, dtype=pl.Int64), *(pl.col(f"{category}_ps") for category in waiting)]
    undivided = [category for category in evidence.undivided if category in evidence.occurring]
    spent = (
        together(theirs, undivided)
        .filter(pl.col("call").is_in(kept["call"].implode()))
        .select(
            "call",
            "callpath",
            "late_sender_ps",
            pl.sum_horizontal(others).alias("waiting_ps"),
            "residual_ps",
            f"{UNDIVIDED}_ps",
        )
        .collect()
    )
    near = kept.join(spent, on="call", maintain_order="left").drop("call")
    parts = near.partition_by("location", as_dict=True)
    return {int(location): calls for (location,), calls in parts.items()}


def _whole_locations(calls: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The calls in parts that no location is divided among: a part has few rows, of which arrays are cheap to make."""
    stretches = calls["location"].rle().struct.unnest()
    if not stretches["value"].is_sorted():
        yield calls
        return
    begin = end = 0
    for length in stretches["len"]:
        if end > begin and end + length - begin > ROWS_AT_ONCE:
            yield calls[begin:end]
            begin = end
        end += length
    yield calls[begin:]


def _within_reach(calls: pl.DataFrame, intervals: Mapping[int, pl.DataFrame]) -> pl.Series:
    """Which of the calls, in the order of location and time, touch an interval of their location, or are among the
    `LOOK_BACK` before one."""
    location, enter, leave = (calls[name].to_numpy() for name in ("location", "enter_ps", "leave_ps"))
    edges = (np.flatnonzero(location[1:] != location[:-1]) + 1).tolist()
    keep = np.zeros(calls.height, dtype=np.bool_)
    for start, stop in zip([0, *edges], [*edges, calls.height], strict=True):
        some = intervals.get(int(location[start])) if stop > start else None
        if some is None:
            continue
        first = np.searchsorted(leave[start:stop], some["begin_ps"].to_numpy(), side="right")
        past = np.searchsorted(enter[start:stop], some["end_ps"].to_numpy(), side="left")
        # +1 where a kept stretch begins and -1 behind its end: what sums to more than 0 is kept.
        steps = np.zeros(stop - start + 1, dtype=np.int32)
        np.add.at(steps, np.maximum(np.minimum(first, past) - LOOK_BACK, 0), 1)
        np.add.at(steps, past, -1)
        keep[start:stop] = np.cumsum(steps[:-1]) > 0
    return pl.Series(keep)


def _of(evidence: Evidence, location: int, intervals: pl.DataFrame, calls: pl.DataFrame) -> Meanwhile:
    begin, end = intervals["begin_ps"].to_numpy(), intervals["end_ps"].to_numpy()
    enter, leave = calls["enter_ps"].to_numpy(), calls["leave_ps"].to_numpy()
    callpath = calls["callpath"].to_numpy()
    length = np.maximum(leave - enter, 1)
    late, waits = calls["late_sender_ps"].to_numpy() / length, calls["waiting_ps"].to_numpy() / length
    residual = calls["residual_ps"].to_numpy() / length
    unknown = calls[f"{UNDIVIDED}_ps"].to_numpy() / length
    overlap = Overlap(enter, leave, begin, end)
    total = max(1, exact_sum(end - begin))

    inside = overlap.of_intervals()
    computing = _computing(evidence, location, intervals, calls, (end - begin) - inside, overlap.past)
    causes = {computing: 1 - float(inside.sum()) / total}
    late_in: dict[str, float] = {}
    unexplained: dict[str, float] = {}
    places, place_of = np.unique(callpath, return_inverse=True)
    covered = overlap.of_calls()

    def shares(density: Sums) -> list[float]:
        """Of the intervals' time, by place."""
        found: list[float] = (np.bincount(place_of, weights=density * covered, minlength=len(places)) / total).tolist()
        return found

    shares_of = (shares(late), shares(residual), shares(1 - waits - late - unknown), shares(waits), shares(unknown))
    for one, late_here, residual_here, works, waits_here, unknown_here in zip(places, *shares_of, strict=True):
        region = evidence.region(int(one))
        late_in[region] = late_in.get(region, 0.0) + max(0.0, late_here)
        unexplained[region] = unexplained.get(region, 0.0) + max(0.0, residual_here)
        for cause, fraction in (
            (Cause(region, "working", "the call it is in"), works),
            (Cause(region, "waiting", "the call it is in"), waits_here),
            (Cause(region, "inside", "the call it is in"), unknown_here),
        ):
            if fraction > 0:
                causes[cause] = causes.get(cause, 0.0) + fraction
    return Meanwhile(
        causes={cause: float(fraction) for cause, fraction in causes.items()},
        late_sender=sum(late_in.values()),
        total_ps=total,
        late_sender_in=max(late_in, key=lambda region: late_in[region], default=""),
        unexplained=unexplained,
    )


def _computing(
    evidence: Evidence,
    location: int,
    intervals: pl.DataFrame,
    calls: pl.DataFrame,
    computing: Sums,
    past: npt.NDArray[np.int64],
) -> Cause:
    """Where the rank computes: the user region that delays its next call, else the code between the calls around it."""
    per_place: dict[int, float] = {}
    for place, time in zip(intervals["callpath"].to_list(), computing.tolist(), strict=True):
        per_place[place] = per_place.get(place, 0.0) + time
    callpath = max(per_place, key=lambda place: per_place[place])
    region = evidence.delaying_region(location, callpath)
    if region:
        return Cause(region, "computing", "user regions of the profile")
    (here,) = np.nonzero((intervals["callpath"].to_numpy() == callpath) & (past > 0))
    region = evidence.code_before(int(callpath))
    if len(here):
        before = calls["callpath"].to_numpy()[_locating_before(evidence, calls, past[here] - 1)]
        places, of = np.unique(before, return_inverse=True)
        earlier = evidence.region(int(places[np.argmax(np.bincount(of, weights=computing[here]))]))
        after = evidence.region(int(callpath))
        region = f"code between {earlier} and {after}" if after else f"code after {earlier}"
    return Cause(region, "computing", "the surrounding calls, because no user region inside the program was recorded")


def _locating_before(evidence: Evidence, calls: pl.DataFrame, before: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The last call up to each of these, `LOOK_BACK` earlier at most, that moved data or waited: MPI_Wtime and the like
    do not locate code. Where there is none, the call itself."""
    rows = np.arange(calls.height)
    locating = np.maximum.accumulate(np.where(evidence.moves_data[calls["callpath"].to_numpy()], rows, -1))[before]
    return np.where((locating >= 0) & (locating >= before - LOOK_BACK), locating, before)
