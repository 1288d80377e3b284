"""Hypercube: two nodes in each of n dimensions (SGI Origin)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from logpost.machines.topologies.cartesian import Cartesian


class Hypercube(Cartesian):
    """2**`n` nodes; the distance is the number of differing bits, k_d = 1/2 per dimension."""

    kind: Literal["hypercube"]
    n: Annotated[int, Field(ge=0, le=30)]

    def shape(self) -> tuple[int, ...]:
        """2, n times; a single node for n = 0."""
        return (2,) * self.n or (1,)

    def wraps(self) -> tuple[bool, ...]:
        """Never: between two nodes there is one link."""
        return (False,) * len(self.shape())

    @property
    def dimension_names(self) -> tuple[str, ...]:
        """bit 0, bit 1, ..."""
        return tuple(f"bit {i}" for i in range(len(self.shape())))

    def describe(self) -> str:
        """With the number of nodes."""
        return f"hypercube of {self.n_nodes}"
