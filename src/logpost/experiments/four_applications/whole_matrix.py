"""ICCG's prefetching on a matrix as large as the paper's, over the band of what a prefetch costs.

What prefetching gains depends on the share of a processor's data that is remote, and so on the size of the matrix; what
it loses, on an instruction's cost, also where the data are local. The paper prints the former and not the latter.
"""

from __future__ import annotations

from dataclasses import dataclass

from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Column, Number, Origin, Table
from logpost.experiments.framework.words import change_text
from logpost.experiments.support.alewife import MACHINE
from logpost.experiments.support.sens import PREFETCH, SHARED, kcycles, run_mechanism, sized, workloads_of

WHOLE_BRICK = 21
"""Nodes along an edge: 9 (3 · 21 − 2)³ = 2.04 million elements, of the paper's "2-million element" matrix (4.3); each
of the 21³ nodes and each of its 26 neighbours is a block of 3 x 3."""
CYCLES = (2, 22)
"""Of an edge's "two write prefetches" (4.3): from an instruction each to a local miss each, 11 cycles (Fig. 3)."""


def rows_of(brick: int) -> int:
    """Of the matrix: three displacements of each node."""
    return 3 * brick**3


@dataclass(frozen=True)
class Gains:
    """Run times, s."""

    without: dict[int, float]
    """Brick -> without prefetching."""
    ahead: dict[tuple[int, int], float]
    """(brick, CYCLES) -> with prefetching."""

    @property
    def largest(self) -> int:
        """The largest brick, by which claims are judged."""
        return max(self.without)

    def change(self, brick: int, cycles: int) -> float:
        """Run time with prefetching over that without, minus one."""
        return self.ahead[brick, cycles] / self.without[brick] - 1.0

    @property
    def judged(self) -> list[float]:
        """The change over the band."""
        return [self.change(self.largest, cycles) for cycles in CYCLES]

    @property
    def said(self) -> str:
        """Both ends, and the size."""
        low, high = (change_text(change) for change in self.judged)
        return f"{low} to {high} with {rows_of(self.largest):,} rows"


def prefetching(context: Context) -> Gains:
    """Simulate ICCG with shared memory, with and without prefetching."""
    bricks = context.size((8, WHOLE_BRICK), (4,))

    def one(case: tuple[int, int]) -> float:
        brick, cycles = case
        [_, _, iccg, _] = workloads_of(nodes=0, mesh=0, brick=brick, cells=0)
        mechanism = PREFETCH if cycles else SHARED
        workload = sized(iccg, {"prefetch-cycles": cycles}, "")
        name = f"iccg-{mechanism.file}-{brick}-{cycles}"
        return run_mechanism(context, workload, mechanism, name, keep=False).values["total_s"]

    found = context.found("ICCG by its size", [(brick, cycles) for brick in bricks for cycles in (0, *CYCLES)], one)
    return Gains(
        {brick: found[brick, 0] for brick in bricks},
        {(brick, cycles): found[brick, cycles] for brick in bricks for cycles in CYCLES},
    )


def prefetching_table(gains: Gains) -> Table:
    """A row for each size."""
    return Table(
        "ICCG: prefetching by the size of the matrix and the cost of a prefetch",
        (
            Column("rows of the matrix", Origin.SETTING),
            Column(SHARED.name, Origin.TESTBED, MACHINE),
            *(Column(f"{PREFETCH.name}, {cycles // 2} cycles each", Origin.TESTBED, MACHINE) for cycles in CYCLES),
            Column("change", Origin.DERIVED),
        ),
        tuple(
            (
                Number(rows_of(brick)),
                kcycles(without),
                *(kcycles(gains.ahead[brick, cycles]) for cycles in CYCLES),
                " to ".join(change_text(gains.change(brick, cycles), 1) for cycles in CYCLES),
            )
            for brick, without in gains.without.items()
        ),
        note=f"{rows_of(WHOLE_BRICK):,} rows have the 2 million elements of the paper's matrix.",
    )
