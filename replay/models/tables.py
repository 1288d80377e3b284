"""Measured tables as functions: piecewise linear in size, linear in log2 of a second axis.

LOG3P tabulates o and l over (size, stride), OVL o over (size, burst) and G over (processors, size). Between
points the value is interpolated; beyond the largest size the last segment is continued (costs per byte
persist), below the smallest and outside the second axis the nearest point holds. A last segment that falls is not
continued: by noise, or by a cost per byte that levels off, and larger messages would come to cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from logpost.replay.models.arrays import ModelError, Number, NumberLike, scalar_or_array, values


@dataclass(frozen=True, eq=False)
class Line:
    """y(x), piecewise linear through measured points."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    extrapolate: bool = True

    @classmethod
    def through(cls, points: Iterable[tuple[float, float]], *, what: str, extrapolate: bool = True) -> Line:
        """From (x, y) pairs in any order. Raises ModelError when empty, doubled or negative."""
        pairs = sorted(points)
        if not pairs:
            raise ModelError(f"{what}: the table has no points")
        x, y = (np.asarray(column, dtype=np.float64) for column in zip(*pairs, strict=True))
        if (np.diff(x) == 0.0).any():
            raise ModelError(f"{what}: two values for the same size {float(x[:-1][np.diff(x) == 0.0][0]):g}")
        values(what, y)
        return cls(x, y, extrapolate)

    def __call__(self, x: NumberLike) -> Number:
        at = np.asarray(values("size", x))
        result = np.interp(at, self.x, self.y)
        if self.extrapolate and len(self.x) > 1:
            slope = max((self.y[-1] - self.y[-2]) / (self.x[-1] - self.x[-2]), 0.0)
            result = np.where(at > self.x[-1], self.y[-1] + slope * (at - self.x[-1]), result)
        return scalar_or_array(result)


@dataclass(frozen=True, eq=False)
class Surface:
    """y(x, z): one Line per tabulated z, linear in log2 z between them."""

    z: NDArray[np.float64]
    lines: tuple[Line, ...]

    @classmethod
    def through(cls, points: Iterable[tuple[float, float, float]], *, what: str, extrapolate: bool = True) -> Surface:
        """From (x, z, y) triples; z must be positive."""
        families: dict[float, list[tuple[float, float]]] = {}
        for x, z, y in points:
            if not z > 0.0:
                raise ModelError(f"{what}: the second axis must be positive, not {z:g}")
            families.setdefault(float(z), []).append((x, y))
        if not families:
            raise ModelError(f"{what}: the table has no points")
        order = sorted(families)
        lines = tuple(Line.through(families[z], what=what, extrapolate=extrapolate) for z in order)
        return cls(np.asarray(order), lines)

    def __call__(self, x: NumberLike, z: NumberLike) -> Number:
        at_x, at_z = np.broadcast_arrays(values("size", x), values("second axis", z, above=0.0))
        rows = np.stack([np.asarray(line(at_x)) for line in self.lines])
        axis = np.log2(self.z)
        position = np.interp(np.log2(at_z), axis, np.arange(len(axis), dtype=np.float64))
        below = np.floor(position).astype(np.int64)
        above = np.minimum(below + 1, len(axis) - 1)
        share = position - below
        low = np.take_along_axis(rows, below[None], axis=0)[0]
        high = np.take_along_axis(rows, above[None], axis=0)[0]
        return scalar_or_array(low + share * (high - low))
