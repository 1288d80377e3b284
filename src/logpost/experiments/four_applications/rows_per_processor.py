"""ICCG's prefetching with as many rows on a processor as the paper's matrix has there, on fewer processors.

What prefetching gains depends on how much of a processor's data is remote, and that on how many rows it has: BCSSTK32's
on 32 processors are 1,296 each. All of them on 32 simulated processors last hours, as each looks at memory every few
cycles while it waits; 1,296 rows on each of 4 last a minute.
"""

from __future__ import annotations

from dataclasses import dataclass

from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Column, Number, Origin, Table
from logpost.experiments.framework.words import change_text
from logpost.experiments.support.alewife import MACHINE
from logpost.experiments.support.sens import PREFETCH, SHARED, Mechanism, kcycles, run_mechanism, workloads_of

PROCESSORS = 4
FULL_BRICK = 12
"""Elements along an edge: 3 x 12^3 = 5,184 rows, 1,296 on each of 4, as 41,472 on 32."""


@dataclass(frozen=True)
class Gains:
    """What prefetching changes, by the rows of a processor."""

    seconds: dict[int, tuple[float, float]]
    """Rows of a processor -> run time without and with prefetching, s."""

    @property
    def rows(self) -> int:
        """The most that were simulated."""
        return max(self.seconds)

    def change(self, rows: int) -> float:
        """Run time with prefetching over that without, minus one."""
        without, ahead = self.seconds[rows]
        return ahead / without - 1.0

    @property
    def said(self) -> str:
        """For each number of rows."""
        return ", ".join(f"{change_text(self.change(rows))} with {rows:,} rows a processor" for rows in self.seconds)


def prefetching(context: Context) -> Gains:
    """Simulate ICCG with shared memory, with and without prefetching."""
    bricks = context.size((6, 9, FULL_BRICK), (4,))
    cases = [(brick, mechanism) for brick in bricks for mechanism in (SHARED, PREFETCH)]

    def one(case: tuple[int, Mechanism]) -> float:
        brick, mechanism = case
        [_, _, iccg, _] = workloads_of(nodes=0, mesh=0, brick=brick, cells=0)
        name = f"iccg-{mechanism.file}-{brick}-rows"
        return run_mechanism(context, iccg, mechanism, name, ranks=PROCESSORS, keep=False).values["total_s"]

    found = dict(zip(cases, context.each("ICCG by its rows per processor", cases, one), strict=True))
    return Gains({3 * brick**3 // PROCESSORS: (found[brick, SHARED], found[brick, PREFETCH]) for brick in bricks})


def prefetching_table(gains: Gains) -> Table:
    """A row for each size."""
    return Table(
        f"ICCG on {PROCESSORS} processors: prefetching by the rows of a processor",
        (
            Column("rows of a processor (1,296 of 41,472 on 32)", Origin.SETTING),
            Column(SHARED.name, Origin.TESTBED, MACHINE),
            Column(PREFETCH.name, Origin.TESTBED, MACHINE),
            Column("change", Origin.DERIVED),
        ),
        tuple(
            (Number(rows), kcycles(without), kcycles(ahead), change_text(gains.change(rows), 1))
            for rows, (without, ahead) in gains.seconds.items()
        ),
    )
