"""Measured tables as functions: linear in size, linear in log2 of a second axis. The native core reads them.

LOG3P tabulates o and l over (size, stride), OVL o over (size, burst) and G over (processors, size). Between points the
value is interpolated; beyond the largest size the last segment continues (costs per byte persist), below the smallest
and outside of the second axis the nearest point holds. A last segment that falls does not continue: by noise, or by a
cost per byte that levels off, larger messages would cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from logpost.replay import _native
from logpost.replay.cost.arrays import ModelError, Number, NumberLike, scalar_or_array, values


@dataclass(frozen=True, eq=False)
class Line:
    """y(x), piecewise linear through measured points."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    extrapolate: bool = True
    native: _native.Curve = field(init=False, repr=False)

    def __post_init__(self) -> None:
        x, y = (np.ascontiguousarray(column, dtype=np.float64) for column in (self.x, self.y))
        object.__setattr__(self, "native", _native.Curve(x, y, self.extrapolate))

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
        return self.read(x)[0]

    def read(self, x: NumberLike) -> tuple[Number, NDArray[np.bool_]]:
        """The values, and where x lies beyond the largest size."""
        at = np.asarray(values("size", x))
        found, beyond = self.native.at(np.ascontiguousarray(at.ravel(), dtype=np.float64))
        return scalar_or_array(found.reshape(at.shape)), beyond.astype(bool).reshape(at.shape)


@dataclass(frozen=True, eq=False)
class Surface:
    """y(x, z): one Line per tabulated z, linear in log2 z between them."""

    z: NDArray[np.float64]
    lines: tuple[Line, ...]
    native: _native.Surface = field(init=False, repr=False)

    def __post_init__(self) -> None:
        z = np.ascontiguousarray(self.z, dtype=np.float64)
        object.__setattr__(self, "native", _native.Surface(z, [line.native for line in self.lines]))

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
        return self.read(x, z)[0]

    def read(self, x: NumberLike, z: NumberLike) -> tuple[Number, NDArray[np.bool_]]:
        """The values, and where x or z lies beyond the largest point."""
        at = np.broadcast_arrays(values("size", x), values("second axis", z, above=0.0))
        flat = [np.ascontiguousarray(column.ravel(), dtype=np.float64) for column in at]
        found, beyond = self.native.at(*flat)
        return scalar_or_array(found.reshape(at[0].shape)), beyond.astype(bool).reshape(at[0].shape)


NO_LINE = _native.Curve(np.empty(0), np.empty(0), True)
NO_SURFACE = _native.Surface(np.empty(0), [])
