"""LOGPC Fig. 11: run time and stall time over the span, and what the improved order of communication saves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.curves import Axis, Curve, curves
from logpost.experiments.em3d_order.runs import IMPROVED, ORDERS, ORIGINAL, PAPERS_ITERATIONS, Runs
from logpost.experiments.framework.result import (
    Claim,
    Figure,
    Number,
    Part,
    Table,
    derived,
    formula,
    paper,
    setting,
    testbed,
)
from logpost.experiments.support.alewife import ACCURACY, EDGE_CYCLES, MACHINE, TASK_CYCLES, TASK_FLOP

PRINTED_STALL, PRINTED_TOTAL = 0.70, 0.20
"""Reductions by the improved order (LOGPC 5.3.1)."""
PRINTED_SHARE = 0.30
"""Of the run time, by contention (7)."""

_ASSUMED = (
    f"an edge costs {EDGE_CYCLES} cycles, two flop at {TASK_CYCLES:g} for {TASK_FLOP} (5.2.2); other costs are in the "
    "table by the work per edge"
)


def savings(runs: Runs) -> Part:
    """Tables, charts and claims."""
    total = {order: runs.times(order, "total_s") for order in ORDERS}
    stall = {order: runs.times(order, "stall_s") for order in ORDERS}
    logp = runs.logp()
    total_cut, stall_cut = _cut(total), _cut(stall)
    largest = runs.largest
    return Part(
        said=f"At span {largest} the improved order stalls {100 * stall_cut[-1]:.0f} % less (paper: 70 %) and "
        f"takes {100 * total_cut[-1]:.0f} % less time (paper: 20 %).",
        tables=(_spans_table(runs.spans, total, stall, logp), _work_table(runs)),
        figures=(
            Figure(
                "Fig. 11: EM3D, original and improved order of communication",
                _chart(
                    runs.spans,
                    total,
                    PRINTED_TOTAL,
                    f"run time of {PAPERS_ITERATIONS} iterations (s)",
                    f"Run time over span: the improved order takes {100 * total_cut[-1]:.0f} % less at span {largest}.",
                    logp,
                ),
            ),
            Figure(
                "Stall time of the same runs",
                _chart(
                    runs.spans,
                    stall,
                    PRINTED_STALL,
                    f"stall time per rank, {PAPERS_ITERATIONS} iterations (s)",
                    f"Stall time over span: the improved order stalls {100 * stall_cut[-1]:.0f} % less at span "
                    f"{largest}.",
                ),
            ),
        ),
        claims=(
            Claim(
                "The uniform (random) order stalls 70 % less (judged to within 12 % of it)",
                "−70 %",
                f"−{100 * stall_cut[-1]:.0f} % at span {largest}, "
                f"−{100 * sum(stall_cut) / len(stall_cut):.0f} % on average over the spans",
                abs(stall_cut[-1] / PRINTED_STALL - 1) <= ACCURACY,
                assumption=_ASSUMED,
                reason="the paper does not print the span to which its number belongs, nor the capacity of a send "
                "queue (two messages here)",
            ),
            Claim(
                "It improves the run time by 20 % (same tolerance)",
                "−20 %",
                f"at span {largest}: "
                + ", ".join(
                    f"−{100 * runs.saved(work, 'total_s'):.0f} % with {work} cycles per edge" for work in runs.works
                ),
                _over_band(runs),
                reason="the paper does not print the work per edge, on which the saving depends: two flop at its "
                f"{TASK_CYCLES:g} cycles for {TASK_FLOP} (5.2.2) give "
                f"−{100 * total_cut[-1]:.0f} %, and the band from {min(runs.works)} to {max(runs.works)} cycles has "
                f"−{100 * max(runs.saved(work, 'total_s') for work in runs.works):.0f} to "
                f"−{100 * min(runs.saved(work, 'total_s') for work in runs.works):.0f} %",
            ),
            Claim(
                "LogP, equal to LoGPC, predicts the improved order better than the original",
                "Fig. 11",
                f"prediction {100 * (logp[-1] / total[IMPROVED][-1]):.0f} % of the improved, "
                f"{100 * (logp[-1] / total[ORIGINAL][-1]):.0f} % of the original run time",
                logp[-1] < total[IMPROVED][-1] < total[ORIGINAL][-1],
                assumption=_ASSUMED,
            ),
            _share(runs),
        ),
    )


def _share(runs: Runs) -> Claim:
    """Time in stalled sends over the run time of the original order, at the largest span, by the work per edge."""
    shares = {work: runs.share(ORIGINAL, work) for work in runs.works}
    return Claim(
        "Contention is up to 30 percent of the run time (same tolerance)",
        f"{100 * PRINTED_SHARE:.0f} %",
        f"at span {runs.largest}: "
        + ", ".join(f"{100 * share:.0f} % with {work} cycles per edge" for work, share in shares.items()),
        None if len(shares) == 1 else all(abs(share / PRINTED_SHARE - 1) <= ACCURACY for share in shares.values()),
        reason="the paper does not print the work per edge, on which the share depends",
    )


def _over_band(runs: Runs) -> bool | None:
    """Whether the run time's saving is reproduced whatever an edge costs; None: only one cost was simulated."""
    if len(runs.works) == 1:
        return None
    return all(abs(runs.saved(work, "total_s") / PRINTED_TOTAL - 1) <= ACCURACY for work in runs.works)


def _cut(times: Mapping[str, Sequence[float]]) -> list[float]:
    """What the improved order saves, as a fraction, over the span."""
    return [1 - after / before for before, after in zip(times[ORIGINAL], times[IMPROVED], strict=True)]


def _spans_table(
    spans: Sequence[int],
    total: Mapping[str, Sequence[float]],
    stall: Mapping[str, Sequence[float]],
    logp: Sequence[float],
) -> Table:
    def seconds(values: Sequence[float]) -> Callable[[int], Number]:
        return lambda span: Number(values[spans.index(span)], "s")

    def saved(times: Mapping[str, Sequence[float]]) -> Callable[[int], Number]:
        return lambda span: Number(100 * _cut(times)[spans.index(span)], "%")

    return Table.of(
        f"Fig. 11: run time and stall time of {PAPERS_ITERATIONS} iterations",
        spans,
        setting("span", lambda span: Number(span)),
        *(testbed(order, MACHINE, seconds(total[order])) for order in ORDERS),
        derived("run time saved", saved(total)),
        formula("LogP = LoGPC, no stalls", MACHINE, seconds(logp)),
        *(testbed(f"stall, {order}", MACHINE, seconds(stall[order])) for order in ORDERS),
        derived("stall saved", saved(stall)),
        note="Stall: mean of the ranks, time in which a send found its queue full.",
    )


def _work_table(runs: Runs) -> Table:
    def percent(fraction: float) -> Number:
        return Number(100 * fraction, "%")

    return Table.of(
        f"What the improved order saves at span {runs.largest}, by the work per edge",
        runs.works,
        setting("cycles per edge", lambda work: Number(work)),
        testbed("run time saved", MACHINE, lambda work: percent(runs.saved(work, "total_s"))),
        paper("printed: run time", lambda _work: percent(PRINTED_TOTAL)),
        testbed("stall saved", MACHINE, lambda work: percent(runs.saved(work, "stall_s"))),
        paper("printed: stall", lambda _work: percent(PRINTED_STALL)),
        note=f"{EDGE_CYCLES} cycles: two flop at {TASK_CYCLES:g} cycles for {TASK_FLOP}, a task of the Diamond DAG on "
        "the same machine (5.2.2). The paper does not print the span to which its two numbers belong.",
    )


def _chart(
    spans: Sequence[int],
    times: Mapping[str, Sequence[float]],
    printed: float,
    axis: str,
    summary: str,
    logp: Sequence[float] = (),
) -> Chart:
    """Both orders over the span, LogP's prediction where there is one, and what the paper prints."""
    return curves(
        [
            Curve("original, testbed", spans, times[ORIGINAL], "testbed", 1),
            Curve("improved, testbed", spans, times[IMPROVED], "testbed", 0),
            *([Curve("LogP = LoGPC", spans, logp, "formula", 0)] if logp else []),
            Curve(
                f"paper: {100 * printed:.0f} % below the original",
                [spans[-1]],
                [(1 - printed) * times[ORIGINAL][-1]],
                "paper",
                0,
            ),
        ],
        Axis("span", ticks=spans),
        Axis(axis),
        summary,
    )
