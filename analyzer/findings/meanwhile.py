"""What a late sender does while others wait for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.findings.evidence import WAITING, Evidence

Sums = npt.NDArray[np.float64]

LOOK_BACK = 16
"""Calls looked back over for one that tells where the code is."""


@dataclass(frozen=True)
class Cause:
    """What keeps a late sender: computing in a region, or working in a communication call."""

    region: str
    computing: bool
    known_from: str

    @property
    def text(self) -> str:
        """`relax`, or `work in MPI_Waitall`."""
        return self.region if self.computing else f"work in {self.region}"


@dataclass(frozen=True)
class Meanwhile:
    """What a late sender does while others wait for it, as fractions of that time that add up to 1."""

    causes: dict[Cause, float]
    waiting: float

    @property
    def computing(self) -> float:
        """Fraction outside communication."""
        return sum(fraction for cause, fraction in self.causes.items() if cause.computing)

    @property
    def working(self) -> float:
        """Fraction in communication calls without waiting."""
        return sum(fraction for cause, fraction in self.causes.items() if not cause.computing)


def meanwhile_of(evidence: Evidence, largest: pl.DataFrame, senders: list[int]) -> dict[int, Meanwhile]:
    """Late sender to what it does while others wait for it."""
    calls = _calls_near(evidence, largest, senders)
    parts = calls.partition_by("location", as_dict=True)
    found: dict[int, Meanwhile] = {}
    for key, intervals in largest.partition_by("send_location", as_dict=True).items():
        sender = int(key[0])
        if (sender,) in parts:
            found[sender] = _of_sender(evidence, sender, intervals, parts[(sender,)])
    return found


def _calls_near(evidence: Evidence, largest: pl.DataFrame, senders: list[int]) -> pl.DataFrame:
    """The calls of these locations within the intervals, and the `LOOK_BACK` before each; by location and time.

    The table may have 10^7 rows, of which the intervals touch few.
    """
    columns = ["location", "enter_ps", "leave_ps", "callpath"]
    waiting = pl.sum_horizontal([pl.col(f"{category}_ps") for category in WAITING]).alias("waiting")
    every = evidence.tables["calls"].filter(pl.col("location").is_in(senders)).select(*columns, waiting).collect()
    keep = np.zeros(every.height, dtype=np.bool_)
    location = every["location"].to_numpy()
    edges = np.flatnonzero(np.diff(location)) + 1
    if len(edges) + 1 != len(np.unique(location)) or (every["enter_ps"].diff() < 0).sum() > len(edges):
        every = every.sort("location", "enter_ps")
        location = every["location"].to_numpy()
        edges = np.flatnonzero(np.diff(location)) + 1
    enter, leave = every["enter_ps"].to_numpy(), every["leave_ps"].to_numpy()
    by_sender = largest.partition_by("send_location", as_dict=True)
    for start, stop in zip([0, *edges.tolist()], [*edges.tolist(), every.height], strict=True):
        if stop == start or (int(location[start]),) not in by_sender:
            continue
        intervals = by_sender[(int(location[start]),)]
        end = intervals["send_enter_ps"].to_numpy()
        first = np.searchsorted(leave[start:stop], end - intervals["late_sender_ps"].to_numpy(), side="right")
        past = np.searchsorted(enter[start:stop], end, side="left")
        # +1 where a kept stretch begins and -1 behind its end: what sums to more than 0 is kept.
        steps = np.zeros(stop - start + 1, dtype=np.int64)
        np.add.at(steps, np.maximum(np.minimum(first, past) - LOOK_BACK, 0), 1)
        np.add.at(steps, past, -1)
        keep[start:stop] = np.cumsum(steps[:-1]) > 0
    return every.filter(pl.Series(keep))


def _of_sender(evidence: Evidence, sender: int, intervals: pl.DataFrame, calls: pl.DataFrame) -> Meanwhile:
    end = intervals["send_enter_ps"].to_numpy()
    begin = end - intervals["late_sender_ps"].to_numpy()
    enter, leave = calls["enter_ps"].to_numpy(), calls["leave_ps"].to_numpy()
    callpath = calls["callpath"].to_numpy()
    waits = calls["waiting"].to_numpy() / np.maximum(leave - enter, 1)
    first = np.searchsorted(leave, begin, side="right")
    past = np.searchsorted(enter, end, side="left")
    total = max(1, int((end - begin).sum()))

    def share(density: Sums) -> float:
        return float(_overlaps(density, enter, leave, first, past, begin, end).sum()) / total

    inside = _overlaps(np.ones(len(enter)), enter, leave, first, past, begin, end)
    causes = {_computing(evidence, sender, intervals, calls, (end - begin) - inside, past): 1 - inside.sum() / total}
    for one in np.unique(callpath):
        working = share(np.where(callpath == one, 1 - waits, 0.0))
        if working > 0:
            cause = Cause(evidence.region(int(one)), False, "the call it is in")
            causes[cause] = causes.get(cause, 0.0) + working
    return Meanwhile({cause: float(fraction) for cause, fraction in causes.items()}, share(waits))


def _computing(
    evidence: Evidence,
    sender: int,
    intervals: pl.DataFrame,
    calls: pl.DataFrame,
    computing: Sums,
    past: npt.NDArray[np.int64],
) -> Cause:
    """Where the sender computes: the user region that delays its send, else the code between the calls around it."""
    per_place: dict[int, float] = {}
    for place, time in zip(intervals["send_callpath"].to_list(), computing.tolist(), strict=True):
        per_place[place] = per_place.get(place, 0.0) + time
    callpath = max(per_place, key=lambda place: per_place[place])
    region = evidence.delaying_region(sender, callpath)
    if region:
        return Cause(region, True, "user regions of the profile")
    here = (intervals["send_callpath"].to_numpy() == callpath) & (past > 0)
    longest = int(np.argmax(np.where(here, computing, -1)))
    before, after = int(past[longest]) - 1, evidence.region(int(callpath))
    # MPI_Wtime and the like tell nobody where the code is: the call before that moved data or waited does.
    telling = evidence.moves_data[calls["callpath"].to_numpy()[max(0, before - LOOK_BACK) : before + 1]]
    if telling.any():
        before -= len(telling) - 1 - int(np.flatnonzero(telling)[-1])
    region = evidence.code_before(int(callpath))
    if here[longest]:
        region = f"code between {evidence.region(int(calls['callpath'][before]))} and {after}"
    return Cause(region, True, "the calls around it, since no user region inside the program was recorded")


def _overlaps(
    density: Sums,
    enter: npt.NDArray[np.int64],
    leave: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
    past: npt.NDArray[np.int64],
    begin: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
) -> Sums:
    """Integral of `density` of the calls first..past-1 (successive, not overlapping) over [begin, end], per
    interval."""
    running = np.concatenate([[0.0], np.cumsum(density * (leave - enter))])
    some = past > first
    whole = running[np.maximum(past, first)] - running[first]
    head, tail = np.minimum(first, len(enter) - 1), np.maximum(past - 1, 0)
    cut_head = np.where(some, np.maximum(0, begin - enter[head]) * density[head], 0.0)
    cut_tail = np.where(some, np.maximum(0, leave[tail] - end) * density[tail], 0.0)
    return np.maximum(np.asarray(whole - cut_head - cut_tail, dtype=np.float64), 0.0)
