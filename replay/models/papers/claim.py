"""A printed number of a paper, and the model call that gives logpost's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from logpost.replay.cost.arrays import Number


@dataclass(frozen=True)
class Claim:
    """A printed number, or (``printed=None``) one that follows from the paper without being printed."""

    where: str
    what: str
    printed: str | None
    """With the digits that the paper prints: they state how near logpost's number must be. Per cent are fractions."""
    unit: str
    compute: Callable[[], Number]
    assumption: str
    reproduces: bool = True
    """What the tests expect; a wrong entry fails them."""
    at_most: bool = False
    """The paper prints a bound ("within 12 percent")."""
    fitted: bool = False
    """An unprinted parameter was chosen so that the number comes out: no reproduction."""

    @property
    def number(self) -> float:
        """The printed number."""
        assert self.printed is not None, f"{self.what} is not printed"
        return float(self.printed)

    @property
    def tolerance(self) -> float:
        """Half a unit of the last printed digit."""
        return 0.5 * 10.0 ** -len((self.printed or "").partition(".")[2])

    def value(self) -> float:
        return float(np.asarray(self.compute()))

    def holds(self) -> bool:
        """Whether logpost's number rounds to the printed one, or keeps within the printed bound."""
        if self.printed is None:
            return True
        if self.at_most:
            return abs(self.value()) <= self.number + self.tolerance
        return abs(self.value() - self.number) <= self.tolerance * (1.0 + 1e-9)


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
