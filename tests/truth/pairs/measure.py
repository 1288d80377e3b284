"""The gain of a pair, measured: both variants run alternately, the median of the gains of neighbours, its interval."""

from __future__ import annotations

import math
import os
import re
import statistics
import subprocess
from collections.abc import Mapping, Sequence

from tests.truth.expected import Span

COVERAGE = 0.9
"""Probability that the interval of a median holds the true one, if so many runs can give it."""
RUN_S = 300.0
"""A run of a second or two that lasts longer hangs."""


def seconds(command: Sequence[str], variables: Mapping[str, str]) -> float:
    """How long the program lasted, as its rank 0 says."""
    env = {**os.environ, **variables}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=RUN_S, check=False)
    said = re.search(r"^seconds ([0-9.]+)$", done.stdout, re.MULTILINE)
    if done.returncode or said is None:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return float(said[1])


def gain(lossy: Sequence[str], fixed: Sequence[str], variables: Mapping[str, str], runs: int) -> Span:
    """1 - time without the loss / time with it."""
    gains = []
    for _ in range(runs):
        before = seconds(lossy, variables)
        gains.append(1 - seconds(fixed, variables) / before)
    return median_span(gains)


def median_span(values: Sequence[float]) -> Span:
    """The median and the narrowest interval of order statistics that holds the true median with `COVERAGE`, or all
    values where they are too few. The j smallest of n and the j largest are outside with 2 P(Bin(n, 1/2) < j)."""
    ordered, n = sorted(values), len(values)
    outside, below = 0, 0.0
    while outside < (n - 1) // 2:
        below += math.comb(n, outside) / 2**n
        if 1 - 2 * (below + math.comb(n, outside + 1) / 2**n) < COVERAGE:
            break
        outside += 1
    return Span(ordered[outside], statistics.median(ordered), ordered[n - 1 - outside])
