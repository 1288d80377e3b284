"""Figures of `show` as text: a character grid with a logarithmic size axis and a logarithmic time axis.

Every line has its own symbol, so that the figure says the same without colours, in a file or in a mail.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from rich.text import Text

from logpost.machines.show.figures import Figure, Line
from logpost.machines.values.text import size_text, time_text

SYMBOLS = "○△□◆●▲■◇+x"
STYLES = ("cyan", "green", "yellow", "bold", "magenta", "blue", "red")
MARGIN = 10
"""Characters for the labels of the time axis."""

LEAST, MOST = 1e-150, 1e150
"""Sizes in bytes and times in picoseconds that are drawn; the ratio of any two of them is a double."""


def figure_text(figure: Figure, *, width: int = 90, height: int = 16) -> Text:
    """The figure as rich text, `width` characters wide, with title, both axes with units, and a legend.

    A line without a point that logarithmic axes can hold is named in the legend, with the reason.
    """
    drawn = [cut for line in figure.lines if (cut := drawable(line)).sizes.size]
    text = Text(f"{figure.title}\n", no_wrap=True)
    if drawn:
        low, high = time_span(drawn)
        sizes = size_span(drawn)
        columns = max(width - MARGIN - 2, 20)
        grid = character_grid(drawn, sizes, (low, high), columns, height)
        for i in range(height):
            label = time_text(_row_value(i, low, high, height)) if i % 3 == 0 else ""
            text.append(f"{label:>{MARGIN}} ┤")
            for k in grid[i]:
                text.append(" " if k < 0 else SYMBOLS[k % len(SYMBOLS)], "" if k < 0 else STYLES[k % len(STYLES)])
            text.append("\n")
        text.append(" " * (MARGIN + 1) + "└" + "─" * columns + "\n")
        text.append(" " * (MARGIN + 2) + _size_labels(sizes, columns) + "\n")
        text.append(" " * (MARGIN + 2) + "message size\n")
    for k, line in enumerate(drawn):
        text.append(" " * (MARGIN + 2))
        text.append(SYMBOLS[k % len(SYMBOLS)], STYLES[k % len(STYLES)])
        text.append(f" {line.label}\n")
    for line in figure.lines:
        if not drawable(line).sizes.size:
            reason = "has no point that can be drawn" if (line.times_ps > 0).any() else "is zero throughout"
            text.append(" " * (MARGIN + 2) + f"{line.label} {reason}\n")
    return text


def drawable(line: Line) -> Line:
    """The line's points whose size and time lie between `LEAST` and `MOST`."""
    keep = np.logical_and.reduce([(LEAST <= v) & (v <= MOST) for v in (line.sizes, line.times_ps)])
    return Line(line.label, line.sizes[keep], line.times_ps[keep])


def character_grid(
    lines: list[Line], sizes: tuple[float, float], times: tuple[float, float], columns: int, rows: int
) -> npt.NDArray[np.int64]:
    """Index of the line in each cell, -1 for none; row 0 is the longest time, column 0 the smallest message.

    A line is interpolated on the logarithmic axes at each column between its first and last size.
    """
    grid = np.full((rows, columns), -1, dtype=np.int64)
    at = np.geomspace(sizes[0], sizes[1], columns)
    span = np.log(times[1] / times[0])
    for k, line in enumerate(lines):
        points = drawable(line)
        known, values = points.sizes, points.times_ps
        inside = (at >= known[0] * (1 - 1e-12)) & (at <= known[-1] * (1 + 1e-12))
        where = np.flatnonzero(inside) if inside.any() else np.array([np.abs(at - known[0]).argmin()])
        height = np.interp(np.log(at[where]), np.log(known), np.log(values / times[0])) / span
        grid[rows - 1 - np.clip(np.round(height * (rows - 1)), 0, rows - 1).astype(int), where] = k
    return grid


def time_span(lines: list[Line]) -> tuple[float, float]:
    """Smallest and largest positive time in picoseconds, at least a factor of 10 apart."""
    values = np.concatenate([line.times_ps[line.times_ps > 0] for line in lines])
    low, high = float(values.min()), float(values.max())
    return (low, high) if high >= 10 * low else (high / 10**0.75, high * 10**0.25)


def size_span(lines: list[Line]) -> tuple[float, float]:
    """Smallest positive and largest size in bytes, at least a factor of 2 apart."""
    values = np.concatenate([line.sizes[line.sizes > 0] for line in lines])
    return float(values.min()), max(float(values.max()), 2 * float(values.min()))


def _row_value(row: int, low: float, high: float, rows: int) -> float:
    return float(low * (high / low) ** ((rows - 1 - row) / (rows - 1)))


def _size_labels(sizes: tuple[float, float], columns: int) -> str:
    labels = [" "] * columns
    free = 0
    for exponent in range(int(np.ceil(np.log2(sizes[0]))), int(np.floor(np.log2(sizes[1]))) + 1):
        label = size_text(2.0**exponent)
        place = round((columns - 1) * np.log(2.0**exponent / sizes[0]) / np.log(sizes[1] / sizes[0]))
        start = min(place, columns - len(label))
        if start >= free:
            labels[start : start + len(label)] = label
            free = start + len(label) + 2
    return "".join(labels).rstrip()
