"""What meshes, tori, k-ary n-cubes, rings and hypercubes share: nodes on an integer grid.

The first dimension varies fastest: on dims = [8, 4], node 9 is (x, y) = (1, 1). Routing is dimension order, first
dimension first, each dimension the shorter way (the increasing way on a tie and on unidirectional rings).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from logpost.errors import InputError
from logpost.machines.topologies.base import IntArray, Topology

NAMES = "xyzabcuvw"


class Cartesian(Topology):
    """A grid of `shape()` nodes with end-around links in the dimensions where `wraps()` is true."""

    def shape(self) -> tuple[int, ...]:
        """Nodes along each dimension."""
        raise NotImplementedError

    def wraps(self) -> tuple[bool, ...]:
        """Whether each dimension has end-around links."""
        raise NotImplementedError

    def both_ways(self) -> bool:
        """Whether links carry messages in both directions (two physical channels)."""
        return True

    @property
    def n_nodes(self) -> int:
        """Product of the dimensions."""
        return math.prod(self.shape())

    @property
    def dimension_names(self) -> tuple[str, ...]:
        """x, y, z, ... or d0, d1, ... when there are more than nine."""
        count = len(self.shape())
        return tuple(NAMES[:count]) if count <= len(NAMES) else tuple(f"d{i}" for i in range(count))

    def coordinates(self, node: npt.ArrayLike) -> IntArray:
        """Grid coordinates of nodes, first dimension fastest; shape (..., dimensions)."""
        rest = self._checked(node)
        columns = []
        for size in self.shape():
            columns.append(rest % size)
            rest = rest // size
        return np.stack(columns, axis=-1)

    def node(self, coordinates: npt.ArrayLike) -> IntArray:
        """Node numbers of grid coordinates: the inverse of `coordinates`."""
        places = np.asarray(coordinates, dtype=np.int64)
        shape = self.shape()
        if places.shape[-1:] != (len(shape),):
            raise InputError(f"coordinates need {len(shape)} numbers on this {self.kind}, not {places.shape[-1:]}")
        if ((places < 0) | (places >= np.asarray(shape))).any():
            raise InputError(f"coordinates {places.tolist()} lie outside the {self.kind} {self.describe_shape()}")
        strides = np.cumprod((1, *shape[:-1]))
        return np.asarray((places * strides).sum(axis=-1), dtype=np.int64)

    def hops_per_dimension(self, a: npt.ArrayLike, b: npt.ArrayLike) -> IntArray:
        """|difference| in a line; the shorter way round a ring, or the increasing way on a one-way ring."""
        step = self.coordinates(b) - self.coordinates(a)
        columns = []
        for i, (size, wrap) in enumerate(zip(self.shape(), self.wraps(), strict=True)):
            ahead = step[..., i] % size
            if not wrap:
                columns.append(np.abs(step[..., i]))
            elif self.both_ways():
                columns.append(np.minimum(ahead, size - ahead))
            else:
                columns.append(ahead)
        return np.stack(columns, axis=-1)

    def k_d(self, *, include_self: bool = True) -> tuple[float, ...]:
        """Closed forms for uniform traffic: mesh (k - 1/k)/3 (LOGPC eq. 11); two-way ring k/4 (k even) or
        (k - 1/k)/4 (k odd); one-way ring (k - 1)/2 (LOGPC section 3.4, Agarwal).
        """
        means = []
        for size, wrap in zip(self.shape(), self.wraps(), strict=True):
            if not wrap:
                means.append((size - 1 / size) / 3)
            elif not self.both_ways():
                means.append((size - 1) / 2)
            elif size % 2 == 0:
                means.append(size / 4)
            else:
                means.append((size - 1 / size) / 4)
        return self._mean(means, include_self)

    def diameter(self) -> int:
        """Sum over the dimensions of the longest way in each."""
        longest = 0
        for size, wrap in zip(self.shape(), self.wraps(), strict=True):
            longest += size // 2 if wrap and self.both_ways() else size - 1
        return longest

    def route(self, a: int, b: int) -> list[int]:
        """Dimension-order route, first dimension first."""
        place = [int(c) for c in self.coordinates(a)]
        goal = [int(c) for c in self.coordinates(b)]
        path = [int(a)]
        for i, (size, wrap) in enumerate(zip(self.shape(), self.wraps(), strict=True)):
            ahead = (goal[i] - place[i]) % size
            if not wrap:
                step = 1 if goal[i] >= place[i] else -1
            else:
                step = 1 if not self.both_ways() or ahead <= size - ahead else -1
            while place[i] != goal[i]:
                place[i] = (place[i] + step) % size
                path.append(int(self.node(place)))
        return path

    def links(self) -> list[tuple[int, int]]:
        """One directed link per neighbour and direction; a ring of two nodes has one link each way, not two."""
        found: set[tuple[int, int]] = set()
        places = self.coordinates(np.arange(self.n_nodes))
        for i, (size, wrap) in enumerate(zip(self.shape(), self.wraps(), strict=True)):
            if size == 1:
                continue
            ahead = places.copy()
            ahead[:, i] = (ahead[:, i] + 1) % size
            inside = np.ones(len(places), dtype=bool) if wrap else places[:, i] < size - 1
            starts = np.arange(self.n_nodes)[inside]
            for u, v in zip(starts.tolist(), self.node(ahead[inside]).tolist(), strict=True):
                found.add((u, v))
                if self.both_ways():
                    found.add((v, u))
        return sorted(found)

    def bisection_channels(self) -> int:
        """Directed channels that cross the middle of the longest dimension (both directions together)."""
        size, wrap = max(zip(self.shape(), self.wraps(), strict=True))
        rows = self.n_nodes // size
        cuts = 2 if wrap and size > 2 else 1
        return rows * cuts * (2 if self.both_ways() else 1)

    def describe_shape(self) -> str:
        """The dimensions as "8 x 4"."""
        return " x ".join(str(size) for size in self.shape())

    def describe(self) -> str:
        """Kind and dimensions."""
        return f"{self.kind} {self.describe_shape()}"
