"""k-ary n-cube: n dimensions of k nodes each, the network of Agarwal's model."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from logpost.machines.topologies.cartesian import Cartesian


class KaryNcube(Cartesian):
    """`k` nodes in each of `n` dimensions with end-around links; `bidirectional` or one-way channels."""

    kind: Literal["k-ary n-cube"]
    k: Annotated[int, Field(ge=2)]
    n: Annotated[int, Field(ge=1)]
    bidirectional: bool = True

    def shape(self) -> tuple[int, ...]:
        """k, n times."""
        return (self.k,) * self.n

    def wraps(self) -> tuple[bool, ...]:
        """Always."""
        return (True,) * self.n

    def both_ways(self) -> bool:
        """Whether channels run both ways."""
        return self.bidirectional

    def describe(self) -> str:
        """With k and n in the name."""
        return f"{self.k}-ary {self.n}-cube"
