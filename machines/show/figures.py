"""The piecewise lines that a machine file's values give, as plain data: times over message sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from logpost.machines.localities import LOCALITIES
from logpost.machines.schema import Machine, Range

FloatArray = npt.NDArray[np.float64]

SMALLEST, LARGEST = 1, 4 * 2**20
LARGEST_WITHOUT_G = 64
"""The largest size of lines of a class without G, which has no values for long messages."""

MOST_LINES = 8
"""The most lines of one figure that a reader can distinguish."""

WIRE, WIRE_WITHOUT_G = "L + (B-1) G", "L (no G is given)"


@dataclass(frozen=True)
class Line:
    """A curve of the terminal plot: times in picoseconds over message sizes in bytes."""

    label: str
    sizes: FloatArray
    times_ps: FloatArray


@dataclass(frozen=True)
class Figure:
    """Curves that belong together."""

    title: str
    lines: tuple[Line, ...]


def figures(machine: Machine) -> list[Figure]:
    """The piecewise lines that the file's values give: message cost per class, l_mw per stride, o(S, b) per burst.

    Cycles of unknown length are no times, so that a file with such values has no lines.
    """
    if machine.lacks_clock:
        return []
    found = [figure for name in LOCALITIES if (figure := _class_figure(machine, name)) is not None]
    if len(machine.log3p.point) > 1:
        found.append(Figure("log3P, contiguous: time over message size", tuple(_log3p_lines(machine))))
        found.append(_few("log3P: l_mw over message size", list(_stride_lines(machine))))
    if machine.overlap.o:
        found.append(_few("o(S, b) over message size", list(_burst_lines(machine))))
    if machine.overlap.G:
        found.append(_few("G(P, S, pattern): time per byte over message size", list(_gap_lines(machine))))
    return [figure for figure in found if figure.lines]


def _class_figure(machine: Machine, locality: str) -> Figure | None:
    table = machine.loggp.of(locality)
    if table is None:
        return None
    clock = machine.clock_hz
    parts: dict[str, list[tuple[float, float]]] = {"o_s": [], WIRE: [], WIRE_WITHOUT_G: [], "o_r": [], "sum": []}
    largest = LARGEST if any(r.G is not None for r in table.range) else LARGEST_WITHOUT_G
    for low, high, r in table.spans(SMALLEST, largest):
        sizes = np.unique(np.round(np.geomspace(low, high, 24)))
        pieces = _pieces(r, sizes, clock)
        for name, times in pieces.items():
            parts[name] += zip(sizes.tolist(), times.tolist(), strict=True)
    lines = [
        Line(name, np.array([s for s, _ in points]), np.array([t for _, t in points]))
        for name, points in parts.items()
        if points
    ]
    return Figure(f"{locality}: time over message size", tuple(lines)) if lines else None


def _pieces(r: Range, sizes: FloatArray, clock: float | None) -> dict[str, FloatArray]:
    """The parts of a message's time that the range gives; `sum` only when all of them are there."""
    found: dict[str, FloatArray] = {}
    for name, fixed, per_byte in (("o_s", r.o_s, r.o_s_per_byte), ("o_r", r.o_r, r.o_r_per_byte)):
        if fixed is not None:
            slope = per_byte.base(clock) if per_byte is not None else 0.0
            found[name] = fixed.base(clock) + slope * sizes
    latency = None
    if r.L is not None:
        latency = r.L.base(clock)
    elif r.round_trip_L is not None:
        latency = r.round_trip_L.base(clock) / 2
    if latency is not None:
        gap = r.G.base(clock) if r.G is not None else 0.0
        found[WIRE if r.G is not None else WIRE_WITHOUT_G] = latency + gap * np.maximum(sizes - 1, 0)
    if len(found) == 3:
        found["sum"] = np.sum(list(found.values()), axis=0)
    return found


def _few(title: str, lines: list[Line]) -> Figure:
    """At most `MOST_LINES` of the lines, the first and the last among them: each needs a separate symbol."""
    if len(lines) <= MOST_LINES:
        return Figure(title, tuple(lines))
    chosen = np.unique(np.round(np.linspace(0, len(lines) - 1, MOST_LINES)).astype(int))
    return Figure(f"{title} ({len(chosen)} of {len(lines)} lines)", tuple(lines[i] for i in chosen))


def _log3p_lines(machine: Machine) -> Iterator[Line]:
    clock = machine.clock_hz
    for name in ("o_mw", "o_net", "T_mem"):
        pairs = {p.size_bytes: q.base(clock) for p in machine.log3p.point if (q := getattr(p, name)) is not None}
        yield from _line(name, pairs)


def _stride_lines(machine: Machine) -> Iterator[Line]:
    clock = machine.clock_hz
    strided = [p for p in machine.log3p.point if p.stride_bytes is not None and p.l_mw is not None and not p.alone]
    several = len({p.block_bytes for p in strided}) > 1
    for block, stride in sorted({(p.block_bytes or 0, p.stride_bytes or 0) for p in strided}):
        points = [p for p in strided if (p.block_bytes or 0, p.stride_bytes) == (block, stride)]
        blocks = f"blocks of {block} B, " if several and block else ""
        times = {p.size_bytes: p.l_mw.base(clock) for p in points if p.l_mw}
        yield from _line(f"{blocks}stride {stride} B", times)


def _burst_lines(machine: Machine) -> Iterator[Line]:
    clock = machine.clock_hz
    for burst in sorted({p.burst for p in machine.overlap.o}):
        points = {p.size_bytes: p.o.base(clock) for p in machine.overlap.o if p.burst == burst}
        yield from _line(f"b = {burst}", points)


def _gap_lines(machine: Machine) -> Iterator[Line]:
    """A line of each pattern, number of processors and level; of levels with the same points (a single pair), one."""
    clock = machine.clock_hz
    for pattern, processors in sorted({(p.pattern, p.processors) for p in machine.overlap.G}):
        levels: dict[tuple[tuple[int, float], ...], list[str]] = {}
        mine = [p for p in machine.overlap.G if (p.pattern, p.processors) == (pattern, processors)]
        for level in sorted({p.level for p in mine}):
            points = tuple(sorted((p.size_bytes, p.G.base(clock)) for p in mine if p.level == level))
            levels.setdefault(points, []).append(level)
        for points, names in levels.items():
            yield from _line(f"{pattern}, P = {processors}, {' and '.join(names)} bandwidth", dict(points))


def _line(label: str, points: dict[int, float]) -> Iterator[Line]:
    if points:
        sizes = sorted(points)
        yield Line(label, np.array(sizes, dtype=np.float64), np.array([points[s] for s in sizes]))
