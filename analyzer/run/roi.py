"""The region of interest: the part of a program that shares, efficiencies and findings cover."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RegionOfInterest:
    """What the user named; the parts that are given all have to hold.

    Attributes:
        from_ps: not before this time of the trace.
        to_ps: not after this time of the trace.
        region: on each location, from the first enter to the last leave of the region of this name.
        pcontrol: on each location, from the first call of MPI_Pcontrol(level) to where the last one of them is followed
            by another call of MPI_Pcontrol, or to the end.
    """

    from_ps: int | None = None
    to_ps: int | None = None
    region: str | None = None
    pcontrol: int | None = None

    @property
    def text(self) -> str:
        """What is named, as people read it: "region solve, from 1.5 s"."""
        named = (
            (f"region {self.region}", self.region),
            (f"level {self.pcontrol} of MPI_Pcontrol", self.pcontrol),
            (f"from {(self.from_ps or 0) * 1e-12:.9g} s", self.from_ps),
            (f"to {(self.to_ps or 0) * 1e-12:.9g} s", self.to_ps),
        )
        return ", ".join(words for words, given in named if given is not None)

    @property
    def everything(self) -> bool:
        """Whether nothing is named."""
        return self == RegionOfInterest()
