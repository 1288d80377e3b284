"""Which function code between calls is in, by samples: the innermost one that most of them are in.

A sample weighs as many periods w of the sampler as passed since the one before: the system's clock may be coarser, or
the signal have been held back. Of the periods in this code, a function and what it calls have the share p. Wilson's
interval of one standard error, (p + 1/2n ± sqrt(p (1 - p) / n + 1/4n²)) / (1 + 1/n), also holds where all samples
agree; n is Kish's effective number of samples, (Σ w)² / Σ w², which is their number where all weigh the same. From the
outermost function inward, each next one is taken whose share is above one half beyond chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import polars as pl

from logpost.analyzer.findings.finding import CERTAIN, MIN_SAMPLES, Number
from logpost.analyzer.findings.wording.facts import MAINLY
from logpost.replay.columns import Int64


@dataclass(frozen=True)
class Frame:
    """A call path of user code: its function, and where that is called."""

    parent: int
    region: str
    file: str
    """of the function"""
    site: int
    """line of the call in the parent; 0: not known"""


@dataclass(frozen=True)
class SampledCode:
    """A function with most of the samples of some code."""

    region: str
    file: str
    line: int
    """where in it most of its samples are; 0: not known"""
    share: float
    error: float
    samples: int
    """of all this code"""

    @property
    def text(self) -> str:
        """`relax at imb.c:6`."""
        place = self.file.rsplit("/", 1)[-1] + (f":{self.line}" if self.line else "")
        return f"{self.region} at {place}" if self.file else self.region

    @property
    def numbers(self) -> tuple[Number, ...]:
        """As evidence."""
        return (
            Number("samples", self.samples, "count"),
            Number("sampled_share", self.share, "1"),
            Number("sampled_share_error", self.error, "1"),
        )


def share_error(share: float, n: float) -> float:
    """One standard error of a share among n samples (Wilson)."""
    return sqrt(share * (1 - share) / n + 1 / (4 * n * n)) / (1 + 1 / n)


def effective_number(weights: Sequence[int]) -> float:
    """Of weighted samples (Kish)."""
    return sum(weights) ** 2 / max(1, sum(weight * weight for weight in weights))


def sampled_code(
    samples: pl.DataFrame, frames: Mapping[int, Frame], location: int, begins: Int64, ends: Int64
) -> SampledCode | None:
    """Which function a location's code in some stretches of time is in; None: too few samples, or no function has most.

    Arguments:
        samples: a run's table of them, sorted.
        frames: the call paths of user code.
        location: whose.
        begins: of the stretches, in order and without overlap.
        ends: of each.
    """
    taken = _inside(samples.filter(pl.col("location") == location), begins, ends)
    if effective_number(taken["periods"].to_list()) < MIN_SAMPLES:
        return None
    rows = taken.select("callpath", "line", "periods").iter_rows()
    return _innermost([(_stack(frames, callpath), int(line), int(periods)) for callpath, line, periods in rows])


def time_on_processor(
    samples: pl.DataFrame, sample_ps: int, location: int, begins: Int64, ends: Int64
) -> tuple[Number, ...]:
    """How long a location's code in some stretches of time had a processor, where that is less than half of it; empty:
    longer, or not known.

    Arguments:
        samples: a run's table of them.
        sample_ps: processor time from sample to sample; 0: not known.
        location: whose.
        begins: of the stretches, in order and without overlap.
        ends: of each.
    """
    rows = samples.filter(pl.col("location") == location)
    lasts = int((ends - begins).sum())
    if rows.is_empty() or sample_ps == 0 or lasts < MIN_SAMPLES * sample_ps:
        return ()
    time = int(_inside(rows, begins, ends)["periods"].sum()) * sample_ps
    return () if time > MAINLY * lasts else (Number("on_processor", time, "ps"), Number("of_code", lasts, "ps"))


def _inside(rows: pl.DataFrame, begins: Int64, ends: Int64) -> pl.DataFrame:
    """Samples of one location in these stretches."""
    at = rows["at_ps"].to_numpy()
    row = np.searchsorted(begins, at, side="right") - 1
    inside = (row >= 0) & (at <= ends[np.maximum(row, 0)]) if len(begins) else np.zeros(len(at), dtype=np.bool_)
    return rows.filter(pl.Series(inside, dtype=pl.Boolean))


Stack = Sequence[Frame]


def _stack(frames: Mapping[int, Frame], callpath: int) -> Stack:
    """From the outermost function to the innermost one."""
    found = []
    while callpath in frames:
        found.append(frames[callpath])
        callpath = frames[callpath].parent
    return found[::-1]


def _innermost(stacks: Sequence[tuple[Stack, int, int]]) -> SampledCode | None:
    samples, depth, found = len(stacks), 0, None
    weights = [weight for *_, weight in stacks]
    total, n = sum(weights), effective_number(weights)
    while True:
        stacks = [one for one in stacks if len(one[0]) > depth]
        named: Counter[tuple[str, str]] = Counter()
        for stack, _, weight in stacks:
            named[stack[depth].region, stack[depth].file] += weight
        if not named:
            return found
        (function, count), *_ = named.most_common(1)
        share = count / total
        error = share_error(share, n)
        if share - CERTAIN * error <= MAINLY:
            return found
        stacks = [one for one in stacks if (one[0][depth].region, one[0][depth].file) == function]
        lines: Counter[int] = Counter()
        depth += 1
        for stack, line, weight in stacks:
            lines[stack[depth].site if len(stack) > depth else line] += weight
        if depth > 1 or function[1]:  # an outermost one without a file is the whole program
            found = SampledCode(*function, lines.most_common(1)[0][0], share, error, samples)
