"""What the traces show of how communication grows, and which terms each category's time may therefore have.

Counts are exact: messages, bytes and partners of the rank with the most, and the collective operations by their
algorithms. Transport and overheads grow like what is sent; collective operations like the rounds or messages of their
algorithms. Waits may also grow like the work that ranks wait for and like chains of ranks (P, P^1/2). Computation is
divided among the ranks (1/P and the surface of a rank's part, P^-2/3, P^-1/2), or done by each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from logpost.analyzer.predict.scale.growth import CONSTANT, TERMS, UNKNOWN, counted
from logpost.analyzer.predict.scale.observed import Observed
from logpost.analyzer.run.undivided import UNDIVIDED
from logpost.analyzer.words.categories import WAITING as WAITS

COMPUTE = frozenset({CONSTANT, "1/P", "P^-2/3", "P^-1/2", "P"})
CHAINS = frozenset({"log P", "P^1/2", "P"})
ROUNDS = frozenset({"log P"})
LINEAR = ("Alltoall", "Allgather", "Gather", "Scatter", "Reduce_scatter", "Scan", "Exscan")
"""Collective operations whose bytes or messages grow with the ranks; begins of their names."""
UNSHOWN = ("mpi_other", "residual", UNDIVIDED)
"""Categories whose growth follows from no count, besides waits."""
SENT = ("messages", "bytes", "partners")


@dataclass(frozen=True)
class Count:
    """A count of the rank with the most, by size, and the term by which it grows ("?": none)."""

    name: str
    values: tuple[float, ...]
    term: str


@dataclass(frozen=True)
class Structure:
    """Counts over the number of ranks, and which collective operations there are."""

    counts: tuple[Count, ...]
    operations: tuple[str, ...]

    def terms(self, category: str) -> frozenset[str]:
        """The terms that a category's time may have, in addition to a constant."""
        if category == "compute":
            return COMPUTE
        found = self.shown(category)
        return found | CHAINS | COMPUTE if category in WAITS or category in UNSHOWN else found

    def shown(self, category: str) -> frozenset[str]:
        """Those of them that counts show."""
        if category == "compute":
            return frozenset({CONSTANT, "1/P"})
        known = {one.term for one in self.counts if one.name in SENT}
        found = frozenset(TERMS) - {"P^2"} if UNKNOWN in known else frozenset(known)
        if self.operations:
            # Libraries switch algorithms: every operation may also be done by a root that talks to all.
            found |= ROUNDS | {"P"}
        if any(one.startswith(LINEAR) for one in self.operations):
            found |= {"P log P"}
        return found | {CONSTANT}


def structure(runs: Sequence[Observed]) -> Structure:
    """Of runs in the order of their ranks."""
    sizes = [float(one.ranks) for one in runs]
    counts = []
    for name in runs[0].counts:
        values = [one.counts[name].most for one in runs]
        if any(values):
            counts.append(Count(name, tuple(values), counted(sizes, values)))
    return Structure(tuple(counts), tuple(sorted({name for one in runs for name in one.operations})))
