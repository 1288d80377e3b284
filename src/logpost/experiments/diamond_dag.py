"""LOGPC Fig. 9 and (15): the Diamond DAG's makespan by message size for three mappings, and by the number of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from logpost.experiments.framework.context import Context
from logpost.experiments.framework.experiment import Experiment
from logpost.experiments.framework.needs import Need
from logpost.experiments.framework.result import Claim, Column, Difference, Figure, Number, Origin, Result, Table
from logpost.experiments.support.alewife import CYCLE_NS, MACHINE
from logpost.experiments.support.programs import Simulated, simulate, testbed_limits
from logpost.experiments.support.statistics import Mean, mean_of

BLOCKS = 64
MAPPINGS = ("perfect", "default", "random")
PRINTED = {"perfect": 1.0, "default": 1.31, "random": 1.56}
"""Makespan at 320 kB over that of the perfect mapping."""
LARGEST = 320_000
VALUE_BYTES = 8
"""The program's values are doubles; (15) as printed counts B = n/b bytes, one per value."""


@dataclass(frozen=True)
class Part:
    """What one half of the experiment says."""

    tables: tuple[Table, ...]
    figure: Figure
    claims: tuple[Claim, ...]
    said: str


def run(context: Context) -> Result:
    """Fig. 9 on the testbed and by (15), and the makespan over b by (15) in three readings and on the testbed."""
    from logpost.analyzer.reporting.build import build

    size, blocks = _by_size(context), _by_blocks(context)
    largest = _simulated(context, "random", BLOCKS, LARGEST, 1, "split-duplex")
    split = build(context.analyze(largest.archive, MACHINE, f"random-{LARGEST}B")).messages
    return Result(
        summary=f"{size.said} {blocks.said}",
        tables=size.tables + blocks.tables,
        figures=(size.figure, blocks.figure),
        claims=size.claims + blocks.claims,
        differences=(
            Difference(
                "The machine's own numbering has no contention here, where the paper measured +31 %.",
                "with row-major numbers, dimension-order routes and two channels per link no two messages of "
                "neighbouring stripes share a channel; where both directions share one, the way back from the end of a "
                "row meets the whole row. The paper's lies between the two. It prints neither the Alewife's numbering "
                "nor how much the two directions of a link disturb each other.",
            ),
            Difference(
                "The random mapping takes longer than the paper's 1.56, and contention shows at 16 kB already.",
                "the paper's permutation is not printed (here: the mean over several with its 95 % interval), and on "
                "the testbed messages sent at once share links from their first byte, however short they are.",
            ),
            Difference(
                "The bound of 5.2.1 is one only in the printed units.",
                "with a channel time consistent with G its C_n is that of random traffic in a steady state, while here "
                "the same pairs meet in every block.",
            ),
            Difference(
                "alpha, the cost of aggregating a value, is 0.",
                "it is not printed; the paper says only that it is more than half of the run time at b = 4.",
            ),
            Difference(
                "(15) as printed is too low for many blocks; with the interrupt of 129 cycles it fits.",
                "O_r of (15) omits the interrupt (Table 2 has it), and the program's values have 8 bytes, not one.",
            ),
        ),
        notes=(
            "Messages are sent synchronously (eager limit 0), as the Alewife's DMA blocks the sender until the data "
            "are out and the receiver until they are in: v = O_s + W + O_r of (15).",
            f"logpost's own split of the random mapping's messages at {LARGEST:,} B leaves "
            f"{100 * split.residual_share:.0f} % of their time unexplained: the links that they share, whose "
            "contention the split does not model for single messages.",
            testbed_limits(),
        ),
    )


def _makespan(
    context: Context, mapping: str, blocks: int, size: int, seed: int = 1, sharing: str = "split-duplex"
) -> float:
    """Makespan on the testbed, seconds."""
    return _simulated(context, mapping, blocks, size, seed, sharing).values["makespan_s"]


def _simulated(context: Context, mapping: str, blocks: int, size: int, seed: int, sharing: str) -> Simulated:
    arguments = ["--mapping", mapping, "--blocks", str(blocks), "--bytes", str(size), "--seed", str(seed)]
    name = f"{mapping}-b{blocks}-{size}B-{seed}-{sharing}"
    settings = {"eager-limit": "0", "sharing": sharing}
    return simulate(context, "diamond", arguments, name, settings=settings, keep=seed == 1 and blocks == BLOCKS)


def _seconds(value: float, error: float | None = None) -> Number:
    """A makespan in seconds and in cycles."""
    return Number(value, "s", error, also=f"{value / (CYCLE_NS * 1e-9) / 1e6:,.3g} Mcycles")


def _by_size(context: Context) -> Part:
    """Fig. 9: three mappings over the size of a block's message."""
    from logpost.dashboards.figures.curves import Axis, Curve, curves
    from logpost.replay.models.papers.alewife import alewife_mesh, diamond

    sizes: Sequence[int] = context.size(
        full=(16_000, 32_000, 64_000, 128_000, 192_000, 256_000, 320_000), quick=(16_000, 320_000)
    )
    seeds = range(1, context.size(full=8, quick=2) + 1)
    cases = [(m, size, seed) for m in MAPPINGS for size in sizes for seed in (seeds if m == "random" else (1,))]
    spans = dict(
        zip(
            cases,
            context.each("mappings on the testbed", cases, lambda c: _makespan(context, c[0], BLOCKS, c[1], c[2])),
            strict=True,
        )
    )
    measured = {
        (m, size): mean_of([spans[case] for case in cases if case[:2] == (m, size)]) for m in MAPPINGS for size in sizes
    }
    last, first = sizes[-1], sizes[0]
    shared_seeds = [(m, seed) for m in MAPPINGS for seed in (list(seeds)[:3] if m == "random" else [1])]
    shared_spans = context.each(
        "shared links", shared_seeds, lambda c: _makespan(context, c[0], BLOCKS, last, c[1], "shared")
    )
    shared = {
        m: mean_of([span for (n, _), span in zip(shared_seeds, shared_spans, strict=True) if n == m]) for m in MAPPINGS
    }
    dag, cycle = diamond(), CYCLE_NS * 1e-9
    free = [float(dag.makespan(BLOCKS, size)) * cycle for size in sizes]
    bounds = {
        units: [
            float(dag.contended_makespan(BLOCKS, alewife_mesh(self_messages=False, consistent=consistent), size))
            * cycle
            for size in sizes
        ]
        for units, consistent in (("printed units", False), ("consistent units", True))
    }

    def slow_down(mapping: str, size: int) -> Mean:
        perfect = measured["perfect", size].value
        return Mean(measured[mapping, size].value / perfect, measured[mapping, size].error / perfect)

    spans_table = Table(
        f"Fig. 9: makespan, b = {BLOCKS}",
        (
            Column("bytes per block", Origin.SETTING),
            Column("communication / computation", Origin.FORMULA, MACHINE),
            Column("perfect mapping", Origin.TESTBED, MACHINE),
            Column("(15), no contention", Origin.FORMULA, MACHINE),
            Column("machine's numbering", Origin.TESTBED, MACHINE),
            Column("random mapping", Origin.TESTBED, MACHINE),
            *(Column(f"(15) + C_n, random, {units}", Origin.FORMULA, MACHINE) for units in bounds),
        ),
        tuple(
            (
                Number(size, "B"),
                Number(2 * size * 0.5 / float(dag.work(BLOCKS))),
                _seconds(measured["perfect", size].value),
                Number(free[i], "s"),
                Number(measured["default", size].value, "s"),
                Number(measured["random", size].value, "s", measured["random", size].error),
                *(Number(bound[i], "s") for bound in bounds.values()),
            )
            for i, size in enumerate(sizes)
        ),
        reference="perfect mapping",
        note="So the percentages of the other mappings are their slow-down.",
    )
    slow = Table(
        f"Slow-down over the perfect mapping at {last:,} bytes per block",
        (
            Column("mapping", Origin.SETTING),
            Column("printed", Origin.PAPER),
            Column("two channels per link", Origin.TESTBED, MACHINE),
            Column("one channel for both directions", Origin.TESTBED, MACHINE),
            *(Column(f"bound of 5.2.1, {units}", Origin.FORMULA, MACHINE) for units in bounds),
        ),
        tuple(
            (
                mapping,
                Number(PRINTED[mapping], "×"),
                Number(slow_down(mapping, last).value, "×", slow_down(mapping, last).error or None),
                Number(
                    shared[mapping].value / shared["perfect"].value,
                    "×",
                    shared[mapping].error / shared["perfect"].value or None,
                ),
                *(Number(bound[-1] / free[-1] if mapping == "random" else 1.0, "×") for bound in bounds.values()),
            )
            for mapping in MAPPINGS
        ),
        reference="printed",
        note="k_d of both ordered mappings is below 1, where (3) has no contention.",
    )
    names = {"perfect": "perfect mapping", "default": "machine's own numbering", "random": "random mapping"}
    chart = curves(
        [
            *(
                Curve(
                    f"{names[m]}, testbed",
                    sizes,
                    [measured[m, size].value for size in sizes],
                    "testbed",
                    hue,
                    low=[measured[m, size].value - measured[m, size].error for size in sizes],
                    high=[measured[m, size].value + measured[m, size].error for size in sizes],
                )
                for hue, m in enumerate(MAPPINGS)
            ),
            Curve("(15), no contention", sizes, free, "formula", 0),
            *(
                Curve(f"(15) + C_n, {units}", sizes, bound, "formula", hue)
                for hue, (units, bound) in zip((2, 3), bounds.items(), strict=True)
            ),
            *(
                Curve(
                    f"paper: {PRINTED[m]} × perfect",
                    [last],
                    [PRINTED[m] * measured["perfect", last].value],
                    "paper",
                    hue,
                )
                for hue, m in enumerate(MAPPINGS)
                if m != "perfect"
            ),
        ],
        Axis("message size per block (bytes)"),
        Axis("run time (s)"),
        f"Run time over message size for three mappings: at {last:,} bytes random takes "
        f"{slow_down('random', last).value:.2f} times the perfect mapping.",
        height=480,
    )
    random, default = slow_down("random", last), slow_down("default", last)
    early = {m: slow_down(m, first).value for m in ("default", "random")}
    worst = max(abs(f / measured["perfect", size].value - 1) for f, size in zip(free, sizes, strict=True))
    ratios = {
        u: [b / measured["random", s].value for b, s in zip(bound, sizes, strict=True)] for u, bound in bounds.items()
    }
    return Part(
        (slow, spans_table),
        Figure("Fig. 9: Diamond DAG, n = 1,024, b = 64, 100 cycles per task", chart),
        (
            Claim(
                f"At {last:,} bytes: perfect < the machine's numbering < random",
                "1 < 1.31 < 1.56",
                f"1 < {default.value:.2f} < {random.value:.2f} ± {random.error:.2f}",
                1.01 < default.value < random.value,
            ),
            Claim(
                f"At {first:,} bytes no contention is observed",
                "1.00",
                f"random {early['random']:.3f}, machine's numbering {early['default']:.3f}",
                max(early.values()) < 1.05,
            ),
            Claim(
                "Without contention (15) is accurate to within 3.14 percent",
                "3.14 %",
                f"{100 * worst:.2f} % for the perfect mapping, over all sizes",
                worst <= 0.0314,
            ),
            *(
                Claim(
                    f"The bound of 5.2.1 is an upper bound for the random mapping ({units})",
                    "upper bound",
                    f"bound over testbed: {min(r):.2f} to {max(r):.2f}",
                    min(r) >= 1,
                )
                for units, r in ratios.items()
            ),
        ),
        f"At {last / 1000:.0f} kB per block the random mapping takes {random.value:.2f} times as long as the perfect "
        f"one (paper: 1.56), the machine's own numbering {default.value:.2f} times (paper: 1.31); (15) without "
        f"contention is within {100 * worst:.1f} % of the testbed (paper: 3.14 %).",
    )


def _by_blocks(context: Context) -> Part:
    """The makespan over b when a message has just its n/b values."""
    from logpost.dashboards.figures.curves import Axis, Curve, curves
    from logpost.replay.models.diamond_dag import DiamondDAG
    from logpost.replay.models.papers.alewife import CYCLE

    blocks: Sequence[int] = context.size(full=(4, 8, 16, 32, 64, 128, 256, 512, 1024), quick=(8, 128, 1024))
    spans = context.each(
        "blocks on the testbed", blocks, lambda b: _makespan(context, "perfect", b, 1024 // b * VALUE_BYTES)
    )

    def reading(interrupt: float, value_bytes: float, *, as_printed: bool) -> DiamondDAG:
        return DiamondDAG(
            n=1024,
            P=32,
            task=100,
            L=8,
            o_s=25,
            G=0.5,
            a=8,
            o_rl=interrupt,
            bytes_per_value=value_bytes,
            as_printed=as_printed,
            unit=CYCLE,
        )

    readings = {
        "(15) as printed": reading(0, 1, as_printed=True),
        "(15), 8 bytes per value": reading(0, VALUE_BYTES, as_printed=False),
        "(15), 8 bytes per value, interrupt 129": reading(129, VALUE_BYTES, as_printed=False),
    }
    cycle = CYCLE_NS * 1e-9
    predicted = {name: [float(dag.makespan(b)) * cycle for b in blocks] for name, dag in readings.items()}
    table = Table(
        "Makespan over the number of blocks b, messages of n/b values, no contention",
        (
            Column("b", Origin.SETTING),
            Column("diamond, perfect mapping", Origin.TESTBED, MACHINE),
            *(Column(name, Origin.FORMULA, MACHINE) for name in readings),
        ),
        tuple(
            (Number(b), _seconds(spans[i]), *(Number(values[i], "s") for values in predicted.values()))
            for i, b in enumerate(blocks)
        ),
        reference="diamond, perfect mapping",
    )
    best = Table(
        "The best b",
        (
            Column("reading", Origin.SETTING),
            Column("best whole b of 1..n", Origin.FORMULA, MACHINE),
            Column("b* where dM/db = 0", Origin.FORMULA, MACHINE),
            Column("best b of the simulated ones", Origin.TESTBED, MACHINE),
        ),
        tuple(
            (name, Number(dag.best_blocks()), Number(dag.stationary_blocks(), digits=5), Number(_best(blocks, spans)))
            for name, dag in readings.items()
        ),
    )
    chart = curves(
        [
            Curve("testbed, perfect mapping", blocks, spans, "testbed", 0),
            *(Curve(name, blocks, values, "formula", hue) for hue, (name, values) in enumerate(predicted.items(), 1)),
        ],
        Axis("blocks per stripe, b", log=True, ticks=blocks),
        Axis("run time (s)", log=True, ticks=(0.15, 0.2, 0.3, 0.5, 0.8, 1.2)),
        f"Run time over b: the least of the simulated ones is at b = {_best(blocks, spans)}.",
    )
    full = predicted["(15), 8 bytes per value, interrupt 129"]
    worst = max(abs(p / s - 1) for p, s in zip(full, spans, strict=True))
    return Part(
        (best, table),
        Figure("Eq. 15: makespan over the number of blocks", chart),
        (),
        f"Over b, (15) with the interrupt and 8 bytes per value is within {100 * worst:.1f} %; the testbed's best b of "
        f"those simulated is {_best(blocks, spans)}.",
    )


def _best(blocks: Sequence[int], spans: Sequence[float]) -> int:
    """The b with the least makespan."""
    return min(zip(spans, blocks, strict=True))[1]


EXPERIMENT = Experiment(
    name="diamond-dag",
    title="Diamond DAG: three mappings over message size, and the number of blocks, by (15) and on the testbed",
    paper="LOGPC",
    where="Fig. 9, eq. 15, section 5.2",
    needs=(Need.TESTBED,),
    run=run,
    order=3,
)
