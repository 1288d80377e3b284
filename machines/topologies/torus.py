"""Torus: a grid with end-around links in all, or some, dimensions (Cray T3D and T3E; Tofu's mesh/torus)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from logpost.machines.topologies.cartesian import Cartesian


class Torus(Cartesian):
    """`dims` nodes along each dimension; `wrap` says which have end-around links (all when absent).

    k_d of a ring of k: k/4 (k even) or (k - 1/k)/4 (k odd); one-way channels (k - 1)/2.
    """

    kind: Literal["torus"]
    dims: list[Annotated[int, Field(ge=1)]] = Field(min_length=1)
    wrap: list[bool] | None = None
    bidirectional: bool = True

    @model_validator(mode="after")
    def _matching(self) -> Torus:
        if self.wrap is not None and len(self.wrap) != len(self.dims):
            raise ValueError(f"wrap has {len(self.wrap)} entries for {len(self.dims)} dimensions; give one each")
        if self.wrap is not None and not self.bidirectional and not all(self.wrap):
            raise ValueError("one-way channels need end-around links in every dimension; set bidirectional = true")
        return self

    def shape(self) -> tuple[int, ...]:
        """The dimensions."""
        return tuple(self.dims)

    def wraps(self) -> tuple[bool, ...]:
        """As the file says; all when it does not."""
        return tuple(self.wrap) if self.wrap is not None else (True,) * len(self.dims)

    def both_ways(self) -> bool:
        """Whether channels run both ways."""
        return self.bidirectional
