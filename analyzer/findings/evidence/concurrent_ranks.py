"""How many ranks of a node run at once, by the times at which they certainly do.

A rank that enters and leaves calls, or computes between two of them, within less time than a scheduler gives to a
process at a time has a core during that time: these stretches are known to run. So is computation of up to a slice that
lasts hardly longer than the shortest of its rank at its place: there is no time in it in which another rank had the
core. T_k is the time in which exactly k ranks of the node do. With a core for each, a rank that runs would not keep
another one from running: with k of n running, the odds that one more does would not fall with k (they are equal where
ranks are independent, and rise where ranks do the same at the same time), so that

    T_{k+1} >= T_k x odds x (n - k) / (k + 1),    odds = T_k / T_{k-1} x k / (n - k + 1).

Where the time beyond k is hardly any of that, k ranks run at once at most. Data that is handed from rank to rank has
the same effect, so this alone proves no lack of cores. Times in ps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from logpost.analyzer.findings.cures.program import Program
from logpost.analyzer.findings.finding import MIN_SAMPLES, NOISE
from logpost.replay.columns import Int64

RUNNING_PS = 20_000_000
"""Two instants of a rank that are no longer apart: it has run in between. Schedulers take cores away for longer, by
0.1 to 10 ms."""
SLICE_PS = 4_000_000_000
"""Linux lets a process run for about so long at a time: for 3 ms on a node of eight cores (sched_min_granularity,
base_slice), which the scheduler's tick ends, every 4 ms. What computes for longer may lose its core each time, so that
the shortest time at its place says nothing."""
HARDLY = 2 * NOISE
"""Of the shortest time of computation at a place: what equal work differs by, from the shortest to the longest. By so
much of their time, stretches that seem to be at once may be one after the other."""
LOST_PS = 500_000_000
"""Of what differs by more a core may have been taken away: the shortest slices are 0.75 ms."""

Stretches = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""Their begins and their ends."""


@dataclass(frozen=True)
class Limit:
    """So many ranks run at once."""

    ranks: int
    time_ps: int
    """in which so many do"""
    beyond_ps: int
    """in which more do"""
    expected_ps: float
    """in which more would, had each a core"""


def limit_of(program: Program, locations: list[int]) -> Limit | None:
    """How many of these run at once, where fewer than all do."""
    shown = _running(program, locations)
    return _limit(program, shown, len(locations)) or _limit(
        program, _computing(program, locations, shown), len(locations)
    )


def beyond_shortest(program: Program) -> Int64:
    """By call: for how much longer than the shortest one of its rank at its place the code before it runs. A place is
    the call paths of the calls before and behind it."""
    before = np.where(program.follows, np.roll(program.callpath, 1), -1)
    places = np.column_stack([program.location, before, program.callpath])
    _, of = np.unique(places, axis=0, return_inverse=True)
    shortest = np.full(int(of.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(shortest, of.ravel(), program.gap_ps)
    return np.asarray(program.gap_ps - shortest[of.ravel()], dtype=np.int64)


def _limit(program: Program, running: Stretches, n: int) -> Limit | None:
    begins, ends = running
    if begins.size == 0:
        return None
    times = _times_of_counts(begins, ends, n, program.base.program_ps)
    stretch = float((ends - begins).mean())
    for k in range(1, n):
        if times[k] <= 0 or times[k - 1] <= 0:
            return None
        odds = times[k] / times[k - 1] * k / (n - k + 1)
        expected = float(times[k] * odds * (n - k) / (k + 1))
        beyond = int(times[k + 1 :].sum())
        if expected >= MIN_SAMPLES * stretch and beyond <= HARDLY * expected:
            return Limit(k, int(times[k]), beyond, expected)
    return None


def _computing(program: Program, locations: list[int], shown: Stretches) -> Stretches:
    """The same with computation that takes hardly longer than the shortest at its place."""
    beyond = beyond_shortest(program)
    shortest = program.gap_ps - beyond
    whole = (program.gap_ps > RUNNING_PS) & (program.gap_ps <= SLICE_PS) & program.follows
    whole &= (beyond <= HARDLY * shortest) & (beyond <= LOST_PS) & np.isin(program.location, locations)
    ends = program.enter_ps[whole]
    return np.append(shown[0], ends - program.gap_ps[whole]), np.append(shown[1], ends)


def _running(program: Program, locations: list[int]) -> Stretches:
    """Begins and ends of the stretches in which one of these runs."""
    begins, ends = [], []
    for location in locations:
        rows = program.calls_of[location]
        instants = np.column_stack([program.enter_ps[rows], program.leave_ps[rows]]).ravel()
        length = np.diff(instants)
        runs = (length > 0) & (length <= RUNNING_PS)
        begins.append(instants[:-1][runs])
        ends.append(instants[1:][runs])
    return np.concatenate(begins), np.concatenate(ends)


def _times_of_counts(
    begins: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], most: int, length_ps: int
) -> npt.NDArray[np.int64]:
    """By count, from none on: how long there are so many of the stretches."""
    at = np.concatenate([begins, ends])
    step = np.concatenate([np.ones(len(begins), dtype=np.int64), np.full(len(ends), -1, dtype=np.int64)])
    order = np.lexsort((step, at))  # what ends at an instant ends before what begins there
    count = np.cumsum(step[order])[:-1]
    found = np.zeros(most + 1, dtype=np.int64)
    np.add.at(found, count, np.diff(at[order]))
    found[0] = max(0, length_ps - int(found[1:].sum()))
    return found
