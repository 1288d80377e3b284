"""A printed number of a paper beside the model call that gives logpost's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from logpost.replay.models.arrays import Number


@dataclass(frozen=True)
class Claim:
    """A printed number, or (``printed=None``) one that follows from the paper without being printed.

    ``tolerance`` is half a unit of the last printed digit, or the paper's own "about".
    """

    where: str
    what: str
    printed: float | None
    unit: str
    tolerance: float
    compute: Callable[[], Number]
    assumption: str
    reproduces: bool = True
    """What the tests expect; a wrong entry fails them."""
    at_most: bool = False
    """The paper prints a bound ("within 12 percent")."""
    fitted: bool = False
    """An unprinted parameter was chosen so that the number comes out: no reproduction."""

    def value(self) -> float:
        return float(np.asarray(self.compute()))

    def holds(self) -> bool:
        """Whether logpost's number rounds to the printed one, or keeps within the printed bound."""
        if self.printed is None:
            return True
        if self.at_most:
            return abs(self.value()) <= self.printed + self.tolerance
        return abs(self.value() - self.printed) <= self.tolerance * (1.0 + 1e-9)


@dataclass(frozen=True)
class Paper:
    """A paper's claims, what cannot be computed from its text, and where it contradicts itself (spec numbering)."""

    key: str
    title: str
    claims: tuple[Claim, ...]
    not_computed: tuple[str, ...]
    contradictions: tuple[tuple[int, str], ...]
    redo: tuple[tuple[str, str], ...] = ()
    """Commands that redo rows from the shell, each with what to look for."""
