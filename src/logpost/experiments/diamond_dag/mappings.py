"""LOGPC Fig. 9: the makespan of three mappings over the size of a block's message, by (15) and on the testbed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from logpost.dashboards.figures.curves import Axis, Curve, curves
from logpost.experiments.diamond_dag.program import BLOCKS, CYCLE_S, SHARED, makespan, seconds_number
from logpost.experiments.diamond_dag.wormhole_stripes import makespan_s
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Claim, Figure, Number, Part, Table, formula, paper, setting, testbed
from logpost.experiments.support.alewife import ACCURACY, MACHINE, O_S_LONG, G
from logpost.experiments.support.statistics import Mean, mean_of

MAPPINGS = {"perfect": "perfect mapping", "default": "machine's own numbering", "random": "random mapping"}
"""The program's name -> what people read."""
PRINTED = {"perfect": 1.0, "default": 1.31, "random": 1.56}
"""Makespan at 320 kB over that of the perfect mapping (5.2.2)."""
LARGEST = 320_000
"""Bytes of a block's message (5.2.2)."""
PAPERS_ERROR = 0.0314
"""Of (15) without contention (5.2)."""
HALF_DIGIT = 0.005
"""Of the last of the printed ratios."""
BEGINS = 32_000
"""Bytes of a block's message from which the random mapping has contention (5.2.2)."""
SHARE = 0.30
"""Of the run time: "up to 30 percent of the Diamond DAG" (7)."""


_STEPS = "every task costs the same 100 cycles, so that the stripes' messages keep in step"

_UP_TO = (
    f"“up to” is the mean of random mappings; {_STEPS}; “45 percent” (2.2) is of the time of a DMA transfer while both "
    "engines of a node work"
)


@dataclass(frozen=True)
class Spans:
    """Makespans in seconds."""

    sizes: Sequence[int]
    """Bytes of a block's message."""
    measured: Mapping[tuple[str, int], Mean]
    """(mapping, size) on the testbed; random: of several permutations."""
    worms: Mapping[tuple[str, int], Mean]
    """The same on a wormhole network."""
    shared: Mapping[str, Mean]
    """Of the largest size where both directions share a link's channel."""
    free: Sequence[float]
    """(15), no contention."""
    ratios: Sequence[float]
    """Communication over computation of a block."""
    bounds: Mapping[str, Sequence[float]]
    """Units -> (15) + C_n of 5.2.1, random mapping."""

    def slow_down(self, mapping: str, size: int) -> Mean:
        """Over the perfect mapping."""
        return _over(self.measured[mapping, size], self.measured["perfect", size])

    def slow_down_worms(self, mapping: str, size: int) -> Mean:
        """Over the perfect mapping on the wormhole network."""
        return _over(self.worms[mapping, size], self.worms["perfect", size])

    def slow_down_shared(self, mapping: str) -> Mean:
        """Over the perfect mapping on the same links."""
        return _over(self.shared[mapping], self.shared["perfect"])


def _over(one: Mean, perfect: Mean) -> Mean:
    return Mean(one.value / perfect.value, one.error / perfect.value)


def mappings_part(context: Context) -> Part:
    """Simulate, compute (15) and its bounds, compare."""
    spans = _spans(context)
    first, last = spans.sizes[0], spans.sizes[-1]
    random, default = spans.slow_down_worms("random", last), spans.slow_down_worms("default", last)
    flows = spans.slow_down("random", last).value
    lost = 1 - 1 / random.value
    early = {mapping: spans.slow_down_worms(mapping, first) for mapping in ("default", "random")}
    worst = max(
        abs(free / spans.measured["perfect", size].value - 1)
        for free, size in zip(spans.free, spans.sizes, strict=True)
    )
    over_worms = {
        units: [b / spans.worms["random", size].value for b, size in zip(bound, spans.sizes, strict=True)]
        for units, bound in spans.bounds.items()
    }
    return Part(
        said=f"At {last / 1000:.0f} kB per block the random mapping takes {random.value:.2f} times as long as the "
        f"perfect one on a wormhole network ({flows:.2f} times on the testbed; paper: 1.56), the machine's own "
        f"numbering {default.value:.2f} times (paper: 1.31); (15) without contention is within {100 * worst:.1f} % of "
        "the testbed (paper: 3.14 %).",
        tables=(_slow_downs_table(spans), _spans_table(spans)),
        figures=(_figure(spans),),
        claims=(
            Claim(
                f"At {last:,} bytes: perfect < the machine's numbering < random",
                "1 < 1.31 < 1.56",
                f"1 < {default.value:.2f} < {random.value:.2f} ± {random.error:.2f} on a wormhole network",
                1 + HALF_DIGIT < default.value < random.value,
                contradiction="“node i sends to node i + 1” in the numbering of (12) (2 k_dl = 1.875), over "
                "“bidirectional channels implemented as two physical channels”, x before y (3): no two of these "
                "messages share a channel, and (3) has no contention for its k_dl = 0.94, below 1",
            ),
            Claim(
                f"At {last:,} bytes the random mapping takes 56 percent longer (judged to within 12 % of the time)",
                f"{PRINTED['random']:.2f}",
                f"{random.value:.2f} ± {random.error:.2f} on a wormhole network, {flows:.2f} on the testbed",
                abs(random.value / PRINTED["random"] - 1) <= ACCURACY,
                assumption=_UP_TO,
                reason=f"{_STEPS}: some messages meet in every step",
            ),
            Claim(
                "Contention is up to 30 percent of the run time (judged to within 12 % of it)",
                f"{100 * SHARE:.0f} %",
                f"{100 * lost:.0f} % with the random mapping at {last:,} B on a wormhole network",
                abs(lost / SHARE - 1) <= ACCURACY,
                assumption=_UP_TO,
                contradiction=f"a random mapping that takes “56 percent” longer (5.2.2) has "
                f"{100 * (1 - 1 / PRINTED['random']):.0f} % of its run time by contention, not 30",
            ),
            *_begins(spans),
            Claim(
                f"At {first:,} bytes no contention is observed (judged: less than the 3.14 % of the model without)",
                "1.00",
                f"random {early['random'].value:.3f} ± {early['random'].error:.3f}, machine's numbering "
                f"{early['default'].value:.3f}",
                max(one.value for one in early.values()) < 1 + PAPERS_ERROR,
                reason=f"{_STEPS}; a random mapping sends some of them through the same channels in every step",
            ),
            Claim(
                "Without contention (15) is accurate to within 3.14 percent",
                "3.14 %",
                f"{100 * worst:.2f} % for the perfect mapping, over all sizes",
                worst <= PAPERS_ERROR,
                given="the testbed moves a message that shares no link by LogGP's parameters, as (15) does",
            ),
            *(
                Claim(
                    f"The bound of 5.2.1 is an upper bound for the random mapping ({units})",
                    "upper bound",
                    f"bound over wormhole network: {min(ratios):.2f} to {max(ratios):.2f}",
                    min(ratios) >= 1,
                    contradiction=_below_measured(spans, units),
                )
                for units, ratios in over_worms.items()
            ),
        ),
    )


def _begins(spans: Spans) -> tuple[Claim, ...]:
    """Where that size was played."""
    if BEGINS not in spans.sizes:
        return ()
    over = {size: spans.slow_down_worms("random", size) for size in spans.sizes if size <= BEGINS}
    return (
        Claim(
            f"Contention begins to affect the random mapping at {BEGINS:,} bytes (judged: the first size at which it "
            "costs more than the 3.14 % of the model without)",
            f"{BEGINS:,} B",
            ", ".join(f"{one.value:.3f} at {size:,} B" for size, one in over.items()),
            [size for size, one in over.items() if one.value > 1 + PAPERS_ERROR] == [BEGINS],
            assumption=_STEPS,
            reason=f"{_STEPS}: some messages of a random mapping meet in every step, whatever their size",
        ),
    )


def _below_measured(spans: Spans, units: str) -> str:
    """Why a bound is none by the paper's own measurement; "" where it is one."""
    bound = spans.bounds[units][-1] / spans.free[-1]
    if bound >= PRINTED["random"]:
        return ""
    return f"at {spans.sizes[-1]:,} B this bound is {bound:.2f}, below the {PRINTED['random']} that the paper measured"


def _spans(context: Context) -> Spans:
    from logpost.replay.models.papers.alewife import alewife_mesh, diamond

    sizes: Sequence[int] = context.size(
        full=(16_000, 32_000, 64_000, 128_000, 192_000, 256_000, LARGEST), quick=(16_000, LARGEST)
    )
    seeds = range(1, context.size(full=8, quick=2) + 1)
    cases = [(m, size, seed) for m in MAPPINGS for size in sizes for seed in (seeds if m == "random" else (1,))]
    found = context.found("mappings on the testbed", cases, lambda case: makespan(context, case[0], BLOCKS, *case[1:]))
    shared_cases = [(m, seed) for m in MAPPINGS for seed in (seeds[:3] if m == "random" else (1,))]
    found_shared = context.found(
        "shared links", shared_cases, lambda case: makespan(context, case[0], BLOCKS, sizes[-1], case[1], SHARED)
    )
    dag = diamond()
    work = float(dag.work(BLOCKS))
    permutations = range(1, context.size(full=24, quick=2) + 1)
    worm_cases = [(m, size, i) for m in MAPPINGS for size in sizes for i in (permutations if m == "random" else (1,))]
    found_worms = context.found(
        "mappings on the wormhole network",
        worm_cases,
        lambda case: makespan_s(case[0], BLOCKS, case[1], work, O_S_LONG, case[2]),
    )
    meshes = {
        "printed units": alewife_mesh(self_messages=False, consistent=False),
        "consistent units": alewife_mesh(self_messages=False, consistent=True),
    }
    return Spans(
        sizes=sizes,
        measured={(m, size): mean_of([found[case] for case in cases if case[:2] == (m, size)]) for m, size, _ in cases},
        worms={
            (m, size): mean_of([found_worms[case] for case in worm_cases if case[:2] == (m, size)])
            for m, size, _ in worm_cases
        },
        shared={m: mean_of([found_shared[case] for case in shared_cases if case[0] == m]) for m in MAPPINGS},
        free=[float(dag.makespan(BLOCKS, size)) * CYCLE_S for size in sizes],
        ratios=[2 * size * G / float(dag.work(BLOCKS)) for size in sizes],
        bounds={
            units: [float(dag.contended_makespan(BLOCKS, mesh, size)) * CYCLE_S for size in sizes]
            for units, mesh in meshes.items()
        },
    )


def _spans_table(spans: Spans) -> Table:
    def measured(mapping: str, of: Mapping[tuple[str, int], Mean]) -> Callable[[int], Number]:
        return lambda size: Number(of[mapping, size].value, "s", of[mapping, size].error or None)

    def by_size(values: Sequence[float]) -> Callable[[int], Number]:
        return lambda size: Number(values[spans.sizes.index(size)], "s")

    return Table.of(
        f"Fig. 9: makespan, b = {BLOCKS}",
        spans.sizes,
        setting("bytes per block", lambda size: Number(size, "B")),
        formula("communication / computation", MACHINE, lambda size: Number(spans.ratios[spans.sizes.index(size)])),
        testbed("perfect mapping", MACHINE, lambda size: seconds_number(spans.measured["perfect", size].value)),
        formula("(15), no contention", MACHINE, by_size(spans.free)),
        testbed("machine's numbering", MACHINE, measured("default", spans.measured)),
        testbed("random mapping", MACHINE, measured("random", spans.measured)),
        testbed("random mapping, wormhole network", MACHINE, measured("random", spans.worms)),
        *(formula(f"(15) + C_n, random, {units}", MACHINE, by_size(bound)) for units, bound in spans.bounds.items()),
        reference="perfect mapping",
        note="So the percentages of the other mappings are their slow-down.",
    )


def _slow_downs_table(spans: Spans) -> Table:
    last = spans.sizes[-1]

    def times(slow_down: Mean) -> Number:
        return Number(slow_down.value, "×", slow_down.error or None)

    def bounded(bound: Sequence[float]) -> Callable[[tuple[str, float]], Number]:
        return lambda row: Number(bound[-1] / spans.free[-1] if row[0] == "random" else 1.0, "×")

    return Table.of(
        f"Slow-down over the perfect mapping at {last:,} bytes per block",
        PRINTED.items(),
        setting("mapping", lambda row: row[0]),
        paper("printed", lambda row: Number(row[1], "×")),
        testbed("wormhole network, two channels per link", MACHINE, lambda m: times(spans.slow_down_worms(m[0], last))),
        testbed("two channels per link", MACHINE, lambda row: times(spans.slow_down(row[0], last))),
        testbed("one channel for both directions", MACHINE, lambda row: times(spans.slow_down_shared(row[0]))),
        *(formula(f"bound of 5.2.1, {units}", MACHINE, bounded(bound)) for units, bound in spans.bounds.items()),
        reference="printed",
        note="k_d of both ordered mappings is below 1, where (3) has no contention.",
    )


def _figure(spans: Spans) -> Figure:
    sizes, last = spans.sizes, spans.sizes[-1]
    testbed, printed = [], []
    for hue, (mapping, name) in enumerate(MAPPINGS.items()):
        here = [spans.measured[mapping, size] for size in sizes]
        testbed.append(
            Curve(
                f"{name}, testbed",
                sizes,
                [mean.value for mean in here],
                "testbed",
                hue,
                low=[mean.value - mean.error for mean in here],
                high=[mean.value + mean.error for mean in here],
            )
        )
        if mapping != "perfect":
            value = PRINTED[mapping] * spans.measured["perfect", last].value
            printed.append(Curve(f"paper: {PRINTED[mapping]} × perfect", [last], [value], "paper", hue))
    worms = [spans.worms["random", size].value for size in sizes]
    testbed.append(Curve("random mapping, wormhole network", sizes, worms, "testbed", 3))
    formulas = [Curve("(15), no contention", sizes, spans.free, "formula", 0)]
    for hue, (units, bound) in enumerate(spans.bounds.items(), len(MAPPINGS) + 1):
        formulas.append(Curve(f"(15) + C_n, {units}", sizes, bound, "formula", hue))
    chart = curves(
        testbed + formulas + printed,
        Axis("message size per block (bytes)"),
        Axis("run time (s)"),
        f"Run time over message size for three mappings: at {last:,} bytes random takes "
        f"{spans.slow_down('random', last).value:.2f} times the perfect mapping on the testbed, "
        f"{spans.slow_down_worms('random', last).value:.2f} times on a wormhole network.",
        height=480,
    )
    return Figure("Fig. 9: Diamond DAG, n = 1,024, b = 64, 100 cycles per task", chart)
