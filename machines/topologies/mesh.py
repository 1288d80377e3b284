"""Mesh: a grid without end-around links (MIT Alewife, Intel Paragon)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from logpost.machines.topologies.cartesian import Cartesian


class Mesh(Cartesian):
    """`dims` nodes along each dimension, bidirectional links, no end-around; k_d = (k - 1/k)/3 per dimension."""

    kind: Literal["mesh"]
    dims: list[Annotated[int, Field(ge=1)]] = Field(min_length=1)

    def shape(self) -> tuple[int, ...]:
        """The dimensions."""
        return tuple(self.dims)

    def wraps(self) -> tuple[bool, ...]:
        """Never."""
        return (False,) * len(self.dims)
