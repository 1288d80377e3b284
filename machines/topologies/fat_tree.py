"""Fat tree: levels of switches, wider towards the root (TMC CM-5, Meiko CS-2, InfiniBand clusters).

The extended generalised fat tree XGFT(h; m_1..m_h; w_1..w_h): a switch of level i has m_i children, and a vertex of
level i-1 has w_i parents. A k-ary fat tree of h levels has m_i = k; full bisection needs w_1 = 1, w_i = m_(i-1).
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from logpost.machines.topologies.base import IntArray, Topology


class FatTree(Topology):
    """`children` per switch and `parents` per vertex, level by level from the nodes to the root."""

    kind: Literal["fat tree"]
    children: list[Annotated[int, Field(ge=1)]] = Field(min_length=1)
    parents: list[Annotated[int, Field(ge=1)]] | None = None

    @model_validator(mode="after")
    def _matching(self) -> FatTree:
        if self.parents is not None and len(self.parents) != len(self.children):
            raise ValueError(
                f"parents has {len(self.parents)} levels but children has {len(self.children)}; give one number each"
            )
        return self

    def up(self) -> tuple[int, ...]:
        """Parents per vertex, level by level; one when the file does not say (a plain tree)."""
        return tuple(self.parents) if self.parents is not None else (1,) * len(self.children)

    @property
    def levels(self) -> int:
        """Levels of switches."""
        return len(self.children)

    @property
    def n_nodes(self) -> int:
        """Product of the children."""
        return math.prod(self.children)

    def _level_size(self, level: int) -> int:
        return math.prod(self.children[level:]) * math.prod(self.up()[:level])

    def _first(self, level: int) -> int:
        return sum(self._level_size(i) for i in range(level))

    @property
    def n_vertices(self) -> int:
        """Nodes and the switches of all levels."""
        return self._first(self.levels + 1)

    @property
    def dimension_names(self) -> tuple[str, ...]:
        """One per level: links between level i-1 and level i."""
        return tuple(f"level {i + 1}" for i in range(self.levels))

    def hops_per_dimension(self, a: npt.ArrayLike, b: npt.ArrayLike) -> IntArray:
        """Two hops (up and down) at each level below the lowest common switch."""
        here, there = np.broadcast_arrays(self._checked(a), self._checked(b))
        columns = []
        for level in range(self.levels):
            below = math.prod(self.children[:level])
            columns.append(np.where(here // below != there // below, 2, 0))
        return np.stack(columns, axis=-1).astype(np.int64)

    def k_d(self, *, include_self: bool = True) -> tuple[float, ...]:
        """2 (1 - m/P) at the level whose subtrees hold m nodes: the chance to leave one's own subtree."""
        means = [2 * (1 - math.prod(self.children[:level]) / self.n_nodes) for level in range(self.levels)]
        return self._mean(means, include_self)

    def diameter(self) -> int:
        """Up to the top level that branches, and down again."""
        return max((2 * (i + 1) for i, m in enumerate(self.children) if m > 1), default=0)

    def _vertex(self, level: int, subtree: int, turns: tuple[int, ...]) -> int:
        index = 0
        for turn, width in zip(turns, self.up(), strict=False):
            index = index * width + turn
        return self._first(level) + subtree * math.prod(self.up()[:level]) + index

    def route(self, a: int, b: int) -> list[int]:
        """Up by the destination's digits (D-mod-k, as InfiniBand's routing tables are filled), then down."""
        self._checked([a, b])
        top = int((self.hops_per_dimension(a, b) > 0).sum())
        turns: tuple[int, ...] = ()
        path = [a]
        spread = b
        for level in range(top):
            width = self.up()[level]
            turns = (*turns, spread % width)
            spread //= width
            path.append(self._vertex(level + 1, a // math.prod(self.children[: level + 1]), turns))
        for level in range(top - 1, -1, -1):
            path.append(self._vertex(level, b // math.prod(self.children[:level]), turns[:level]))
        return path

    def links(self) -> list[tuple[int, int]]:
        """Up and down link between each vertex and each of its parents."""
        found: list[tuple[int, int]] = []
        for level in range(self.levels):
            width = math.prod(self.up()[:level])
            for subtree in range(math.prod(self.children[level:])):
                for index in range(width):
                    low = self._first(level) + subtree * width + index
                    for turn in range(self.up()[level]):
                        parent = (subtree // self.children[level]) * width * self.up()[level]
                        high = self._first(level + 1) + parent + index * self.up()[level] + turn
                        found += [(low, high), (high, low)]
        return sorted(found)

    def describe(self) -> str:
        """With children per level."""
        if len(set(self.children)) == 1:
            return f"{self.children[0]}-ary fat tree, {self.levels} levels"
        return "fat tree " + " x ".join(str(m) for m in self.children)
