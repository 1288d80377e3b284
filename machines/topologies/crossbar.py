"""Crossbar: every node on one non-blocking switch."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from logpost.machines.topologies.base import IntArray, Topology


class Crossbar(Topology):
    """`nodes` on one switch: two hops (up and down) between any two of them."""

    kind: Literal["crossbar"]
    nodes: Annotated[int, Field(ge=1)]

    @property
    def n_nodes(self) -> int:
        """As the file says."""
        return self.nodes

    @property
    def n_vertices(self) -> int:
        """The nodes and the switch."""
        return self.nodes + 1

    @property
    def dimension_names(self) -> tuple[str, ...]:
        """One: the switch."""
        return ("switch",)

    def hops_per_dimension(self, a: npt.ArrayLike, b: npt.ArrayLike) -> IntArray:
        """2 between different nodes, 0 to oneself."""
        return np.asarray(np.where(self._checked(a) == self._checked(b), 0, 2), dtype=np.int64)[..., None]

    def k_d(self, *, include_self: bool = True) -> tuple[float, ...]:
        """2 (P - 1)/P with the sender among the destinations, 2 without."""
        return self._mean([2 * (self.nodes - 1) / self.nodes], include_self)

    def diameter(self) -> int:
        """2, or 0 for a single node."""
        return 2 if self.nodes > 1 else 0

    def route(self, a: int, b: int) -> list[int]:
        """Through the switch, whose vertex number is `nodes`."""
        self._checked([a, b])
        return [a] if a == b else [a, self.nodes, b]

    def links(self) -> list[tuple[int, int]]:
        """Up and down link of each node."""
        return sorted([(i, self.nodes) for i in range(self.nodes)] + [(self.nodes, i) for i in range(self.nodes)])

    def describe(self) -> str:
        """With the number of nodes."""
        return f"crossbar of {self.nodes}"
