"""LOGPC (15): the makespan over the number of blocks b, when a message has just its n/b values.

The testbed is compared with three readings of (15): as printed, with values of eight bytes, and with the interrupt too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from logpost.dashboards.figures.curves import Axis, Curve, curves
from logpost.experiments.diamond_dag.program import CYCLE_S, makespan, seconds_number
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Cells, Claim, Figure, Number, Part, Table, formula, setting, testbed
from logpost.experiments.support.alewife import MACHINE, TASK_CYCLES

if TYPE_CHECKING:
    from logpost.replay.models.diamond_dag import DiamondDAG

N = 1024
"""Values of a row; the paper's."""
VALUE_BYTES = 8
"""The program's values are doubles; (15) as printed counts B = n/b bytes, one per value."""
INTERRUPT = 129
"""Cycles of a long message's arrival (LOGPC Table 2), which O_r of (15) omits."""
FEW, RANKS = 4, 32
"""b for which the paper prints the share of aggregation, and the stripes (5.2.2)."""
LINE, LINE_CYCLES = 16, 60
"""Bytes of a cache line, and cycles for gathering and scattering one at the most (SENS 3.2)."""
AS_PRINTED = "(15) as printed"
WITH_BYTES = f"(15), {VALUE_BYTES} bytes per value"
COMPLETE = f"{WITH_BYTES}, interrupt {INTERRUPT}"
TESTBED = "diamond, perfect mapping"


def blocks_part(context: Context) -> Part:
    """Makespans by all readings and on the testbed, and the best b of each."""
    blocks: Sequence[int] = context.size(full=(4, 8, 16, 32, 64, 128, 256, 512, 1024), quick=(8, 128, 1024))
    spans = context.each(
        "blocks on the testbed", blocks, lambda b: makespan(context, "perfect", b, N // b * VALUE_BYTES)
    )
    readings = {
        AS_PRINTED: _reading(0, 1, as_printed=True),
        WITH_BYTES: _reading(0, VALUE_BYTES, as_printed=False),
        COMPLETE: _reading(INTERRUPT, VALUE_BYTES, as_printed=False),
    }
    predicted = {name: [float(dag.makespan(b)) * CYCLE_S for b in blocks] for name, dag in readings.items()}
    best = min(zip(spans, blocks, strict=True))[1]
    worst = max(abs(p / s - 1) for p, s in zip(predicted[COMPLETE], spans, strict=True))
    return Part(
        said=f"Over b, (15) with the interrupt and 8 bytes per value is within {100 * worst:.1f} %; the testbed's best "
        f"b of those simulated is {best}.",
        tables=(_best_table(readings, best), _table(blocks, spans, predicted)),
        figures=(_figure(blocks, spans, predicted, best),),
        claims=(_aggregation(),),
    )


def _aggregation() -> Claim:
    """alpha n/b of W at b = 4, by what gathering and scattering cost on the machine elsewhere."""
    tasks, values = N * N / (RANKS * FEW), N / FEW
    alpha = LINE_CYCLES * VALUE_BYTES / LINE
    work = tasks * TASK_CYCLES
    return Claim(
        f"Message aggregation and unpacking cost more than half of the run time at b = {FEW}",
        "> 50 %",
        f"{100 * values * alpha / (work + values * alpha):.1f} % of W with alpha = {alpha:g} cycles a value, the "
        f"{LINE_CYCLES} cycles per line of {LINE} B that SENS 3.2 gives as the most",
        values * alpha > work,
        reason=f"alpha is not printed, and half of W would need {work / values:,.0f} cycles for each of {values:g} "
        f"values: a block has {tasks:,.0f} tasks of the {TASK_CYCLES:g} cycles that Fig. 9 prints for another "
        "version of the program",
    )


def _reading(interrupt: float, value_bytes: float, *, as_printed: bool) -> DiamondDAG:
    """(15) with the Alewife's values for long messages, in cycles."""
    from logpost.replay.models.diamond_dag import DiamondDAG
    from logpost.replay.models.papers.alewife import ALEWIFE_LONG

    return DiamondDAG(
        n=N,
        P=RANKS,
        task=TASK_CYCLES,
        L=ALEWIFE_LONG.L,
        o_s=ALEWIFE_LONG.o_sl,
        G=ALEWIFE_LONG.G,
        a=ALEWIFE_LONG.a,
        o_rl=interrupt,
        bytes_per_value=value_bytes,
        as_printed=as_printed,
        unit=ALEWIFE_LONG.unit,
    )


def _table(blocks: Sequence[int], spans: Sequence[float], predicted: dict[str, list[float]]) -> Table:
    def modelled(name: str) -> Cells[int]:
        return formula(name, MACHINE, lambda i: Number(predicted[name][i], "s"))

    return Table.of(
        "Makespan over the number of blocks b, messages of n/b values, no contention",
        range(len(blocks)),
        setting("b", lambda i: Number(blocks[i])),
        testbed(TESTBED, MACHINE, lambda i: seconds_number(spans[i])),
        *(modelled(name) for name in predicted),
        reference=TESTBED,
    )


def _best_table(readings: dict[str, DiamondDAG], best: int) -> Table:
    return Table.of(
        "The best b",
        readings.items(),
        setting("reading", lambda reading: reading[0]),
        formula("best whole b of 1..n", MACHINE, lambda reading: Number(int(reading[1].best_blocks()))),
        formula("b* where dM/db = 0", MACHINE, lambda one: Number(float(one[1].stationary_blocks()), digits=5)),
        testbed("best b of the simulated ones", MACHINE, lambda _reading: Number(best)),
    )


def _figure(blocks: Sequence[int], spans: Sequence[float], predicted: dict[str, list[float]], best: int) -> Figure:
    chart = curves(
        [
            Curve("testbed, perfect mapping", blocks, spans, "testbed", 0),
            *(Curve(name, blocks, values, "formula", hue) for hue, (name, values) in enumerate(predicted.items(), 1)),
        ],
        Axis("blocks per stripe, b", log=True, ticks=blocks),
        Axis("run time (s)", log=True, ticks=(0.15, 0.2, 0.3, 0.5, 0.8, 1.2)),
        f"Run time over b: the shortest simulated one is at b = {best}.",
    )
    return Figure("Eq. 15: makespan over the number of blocks", chart)
