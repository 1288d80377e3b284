"""Strided messages of a calibration against what models say of them, at points that these were not given.

    log3P, held out: T01(s) + l_mw(s, d), l_mw interpolated in the table without the row s and the column d
    log3P, to oneself: T01(s) + T00(s, d) - T00(s), the paper's way: no strided message to another process is used
    LogGP: T01(s), which knows no stride

Points at the edge of the table are not held out, nor those whose row or column the table needs because times jump
there: sizes next to a change of protocol, and strides that are or neighbour a large power of two, where blocks collide
in the caches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from logpost.machines.calibration.compose import Calibration
from logpost.machines.calibration.estimate import Estimate
from logpost.machines.calibration.layouts import CONFLICTS
from logpost.machines.calibration.locality import estimate
from logpost.replay.cost.tables import Surface


@dataclass(frozen=True)
class StridedPoint:
    """One measured half round trip, in seconds, and what the models say; None where one does not apply."""

    size: int
    stride: int
    measured: Estimate
    held_out: float | None
    to_self: float | None
    contiguous: float | None


def strided_points(found: Calibration) -> list[StridedPoint]:
    """Every layout that was sent with a datatype to another process, by size and stride."""
    points = [
        s for s in found.samples.of("layout", transfer="remote", form="datatype") if s.locality == found.tables_of
    ]
    dense = {s.bytes: s.time.median_s for s in found.samples.of("layout", transfer="remote", form="contiguous")}
    rows = {(r.layout.size, r.layout.stride): r for r in found.log3p.strided if r.remote}
    gaps = {key: r.l_mw.value for key, r in rows.items() if r.l_mw is not None}
    jumps = _next_to_the_switch(sorted({size for size, _ in gaps}), found)
    shown: list[StridedPoint] = []
    for s in sorted(points, key=lambda p: (p.bytes, int(p["stride_bytes"]))):
        key = (s.bytes, int(s["stride_bytes"]))
        base = dense.get(s.bytes)
        row = rows.get(key)
        to_self = None if row is None or row.to_self is None or base is None else base + row.to_self.value
        special = s.bytes in jumps or key[1] >= CONFLICTS - int(s["block_bytes"])
        gap = None if special else _without(gaps, *key)
        held_out = None if base is None or gap is None else base + gap
        shown.append(StridedPoint(*key, estimate(s), held_out, to_self, base))
    return shown


def mean_error(points: Sequence[StridedPoint], model: str) -> tuple[float, float, int]:
    """Mean and median of |model/measured - 1| and how many points it is over; NaN without any."""
    errors = [
        abs(predicted / p.measured.value - 1.0)
        for p in points
        if (predicted := getattr(p, model)) is not None and p.measured.value > 0.0
    ]
    return (float(np.mean(errors)), float(np.median(errors)), len(errors)) if errors else (np.nan, np.nan, 0)


def _without(gaps: dict[tuple[int, int], float], size: int, stride: int) -> float | None:
    sizes, strides = {n for n, _ in gaps}, {d for _, d in gaps}
    inside = min(sizes, default=size) < size < max(sizes, default=size)
    if not inside or not min(strides) < stride < max(strides):
        return None
    rest = [(float(n), float(d), l_mw) for (n, d), l_mw in gaps.items() if n != size and d != stride]
    return float(Surface.through(rest, what="l_mw")(float(size), float(stride))) if rest else None


def _next_to_the_switch(sizes: list[int], found: Calibration) -> set[int]:
    """The sizes next to the eager limit, on both sides."""
    here = found.localities.get(found.tables_of or "")
    if here is None or here.switch is None:
        return set()
    limit = here.switch.low
    return {*[n for n in sizes if n <= limit][-1:], *[n for n in sizes if n > limit][:1]}
