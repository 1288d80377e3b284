"""Ring: one dimension with end-around links (KSR-2)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from logpost.machines.topologies.cartesian import Cartesian


class Ring(Cartesian):
    """`nodes` in a circle; `bidirectional` or one-way."""

    kind: Literal["ring"]
    nodes: Annotated[int, Field(ge=1)]
    bidirectional: bool = True

    def shape(self) -> tuple[int, ...]:
        """One dimension."""
        return (self.nodes,)

    def wraps(self) -> tuple[bool, ...]:
        """Always."""
        return (True,)

    def both_ways(self) -> bool:
        """Whether channels run both ways."""
        return self.bidirectional
