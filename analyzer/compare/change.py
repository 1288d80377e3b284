"""One quantity of a run before and after a change."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Change:
    """One quantity in both runs. Times in ps; efficiencies as fractions, None where not computed."""

    name: str
    before: float | None
    after: float | None

    @property
    def difference(self) -> float | None:
        """B - A; None where either is unknown."""
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def relative(self) -> float | None:
        """(B - A) / A: 0 for nothing to nothing, infinite for nothing to something; None where either is unknown."""
        difference = self.difference
        if difference is None or self.before is None:
            return None
        if self.before == 0:
            return 0.0 if difference == 0 else math.copysign(math.inf, difference)
        return difference / self.before
