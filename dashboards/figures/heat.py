"""What the heat maps of magnitudes share: a colour scale that is logarithmic where values span decades."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from logpost.dashboards.figures.chart import rounded

LOGARITHMIC_FROM = 100.0
"""From this ratio of the largest to the smallest value on, a linear scale would show only its top."""

MOST_TICKS = 6
"""Of a colour bar: labels of 16 pixels and as much between them."""
HEIGHT_OF_BAR = 16 * (MOST_TICKS + 1)
"""Pixels of a plot whose colour bar has room for its ticks."""
LEAST_SPREAD = 0.01
"""Of a scale of differences, as a share of its smallest value."""


@dataclass(frozen=True)
class Measure:
    """What a heat map shows: its name on the switch, title of the colour bar, how a value reads, and the base in
    which round numbers are round (2 for bytes). `largest`: only the largest values matter, so no logarithms.
    `differences`: what is compared is by how much values differ, so that the scale begins at the smallest."""

    label: str
    title: str
    say: Callable[[float], str]
    base: int = 10
    largest: bool = False
    differences: bool = False


def heat(values: np.ndarray, measure: Measure, where: Callable[[int, int], str]) -> dict[str, Any]:
    """Trace attributes of one measure: colours, a colour bar that names the unit, and hover texts.

    Args:
        values: shape (rows, columns); 0 and NaN stay empty, because "nothing" is not a small amount.
        measure: what the values are.
        where: (row, column) -> what the hover calls the cell; safe for plotly.
    """
    positive = np.where(values > 0, values, np.nan)
    there = positive[~np.isnan(positive)]
    low, high = (float(there.min()), float(there.max())) if there.size else (0.0, 1.0)
    logarithmic = not (measure.largest or measure.differences) and there.size > 0 and high / low >= LOGARITHMIC_FROM
    if logarithmic:
        ticks = round_powers(low, high, measure.base)
        z, zmin, zmax, places = np.log10(positive), math.log10(low), math.log10(high), [math.log10(t) for t in ticks]
    elif measure.differences:
        # Values that hardly differ are not drawn as if they did, nor written as if they did not.
        zmax = max(high, low * (1 + LEAST_SPREAD))
        ticks = places = _distinct(between(low, zmax, measure.base), measure.say)
        z, zmin = positive, low
    else:
        ticks = places = with_top(round_steps(high, measure.base), high)
        z, zmin, zmax = positive, 0.0, high
    return {
        "z": rounded(z),
        "zmin": zmin,
        "zmax": zmax,
        "colorbar": {
            "title": {"text": measure.title, "side": "right"},
            "thickness": 12,
            "outlinewidth": 0,
            "tickmode": "array",
            "tickvals": places,
            "ticktext": written(ticks, measure.say),
        },
        "text": [
            ["" if v != v else f"{where(i, j)}<br>{measure.say(v)}" for j, v in enumerate(row)]
            for i, row in enumerate(positive.tolist())
        ],
        "meta": {"scale": "magnitude"},
    }


def round_powers(low: float, high: float, base: int) -> list[float]:
    """Powers of the base within [low, high], at most `MOST_TICKS`, equally spaced; high / low >= 100 holds one."""
    first, last = math.ceil(math.log(low, base) - 1e-9), math.floor(math.log(high, base) + 1e-9)
    step = max(1, -(-(last - first + 1) // MOST_TICKS))
    return [float(base) ** k for k in range(first, last + 1, step)]


def between(low: float, high: float, base: int) -> list[float]:
    """Both ends, and the multiples of a round step that differ visibly from them; one where the ends are the same."""
    if high <= low:
        return [low]
    step = round_steps(high - low, base)[1]
    inside = [k * step for k in range(math.ceil(low / step), int(high / step) + 1)]
    return [low, *(tick for tick in inside if min(tick - low, high - tick) > 0.5 * step), high]


def _distinct(ticks: list[float], say: Callable[[float], str]) -> list[float]:
    """Those that read otherwise than the one before."""
    return [tick for i, tick in enumerate(ticks) if i == 0 or say(tick) != say(ticks[i - 1])]


def written(ticks: Sequence[float], say: Callable[[float], str]) -> list[str]:
    """The ticks' texts; zero has the unit of the tick above it, so that no 0 s is among nanoseconds."""
    texts = [say(tick) for tick in ticks]
    if len(ticks) > 1 and ticks[0] == 0 and " " in texts[1]:
        number, unit = texts[0].partition(" ")[0], texts[1].rpartition(" ")[2]
        texts[0] = f"{number} {unit}"
    return texts


def with_top(steps: list[float], high: float) -> list[float]:
    """The steps and the largest value, where that is far enough from the last of them to be written."""
    return [*steps, high] if len(steps) > 1 and high - steps[-1] > 0.5 * steps[1] else steps


def round_steps(high: float, base: int) -> list[float]:
    """Multiples of a round step from 0 to `high`, at most `MOST_TICKS` + 1: 1, 2, 5 times a power of ten, or powers
    of two."""
    if high <= 0:
        return [0.0]
    least = high / MOST_TICKS
    power = float(base) ** math.floor(math.log(least, base) + 1e-9)
    step = next(power * m for m in ((1, 2) if base == 2 else (1, 2, 5, 10)) if power * m >= least * (1 - 1e-9))
    return [k * step for k in range(int(high / step + 1e-9) + 1)]
