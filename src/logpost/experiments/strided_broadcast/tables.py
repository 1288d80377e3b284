"""Tables and figures of the broadcasts' times, and the errors of their predictions next to the paper's."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from logpost.experiments.framework.result import Cell, Column, Figure, Number, Origin, Table
from logpost.experiments.strided_broadcast.cases import ALGORITHMS, MODELS, Case
from logpost.experiments.support.grouped_bars import Bars, grouped
from logpost.experiments.support.this_machine import NAME

PRINTED = {
    ("linear", "LogGP"): (20.3, 54.0),
    ("linear", "log3P"): (3.0, 11.0),
    ("tree", "LogGP"): (46.0, 72.0),
    ("tree", "log3P"): (6.0, 18.0),
}
"""Mean and largest relative error, per cent (4.3.3)."""


def errors_table(within: Sequence[Case], crowded: Sequence[Case]) -> Table:
    """Of broadcasts with a core for each rank, and of those with more ranks than cores."""
    rows: list[tuple[Cell, ...]] = []
    for algorithm in ALGORITHMS:
        for model in MODELS:
            mean, largest = PRINTED[algorithm, model]
            here: list[Cell] = []
            for chosen in (within, [one for one in crowded if one.algorithm == algorithm]):
                errors = [100.0 * abs(c.error(model)) for c in chosen]
                here += [
                    Number(statistics.fmean(errors), "%") if errors else None,
                    Number(max(errors), "%") if errors else None,
                ]
            rows.append((f"{algorithm}, {model}", Number(mean, "%"), Number(largest, "%"), *here))
    return Table(
        "Errors of prediction",
        (
            Column("broadcast and model", Origin.SETTING),
            Column("printed mean", Origin.PAPER),
            Column("printed largest", Origin.PAPER),
            Column("here, a core for each rank: mean", Origin.DERIVED),
            Column("largest", Origin.DERIVED),
            Column("here, more ranks than cores: mean", Origin.DERIVED),
            Column("largest there", Origin.DERIVED),
        ),
        tuple(rows),
        note="|predicted / measured − 1|. With two ranks linear and tree are the same single message.",
    )


def times_table(cases: Sequence[Case], algorithm: str) -> Table:
    """Of one of ALGORITHMS, a row per number of ranks, size and stride."""
    return Table(
        f"{'Fig. 10' if algorithm == 'linear' else 'Fig. 11'}: {algorithm} broadcast",
        (
            Column("ranks, size, stride", Origin.SETTING),
            Column("LogGP", Origin.FORMULA, NAME),
            Column("log3P", Origin.FORMULA, NAME),
            Column("measured", Origin.MEASURED),
            Column("median of launches", Origin.DERIVED),
        ),
        tuple(
            (
                f"P = {c.ranks}, {c.size // 1024} KB, {c.stride} B",
                Number(c.predicted["LogGP"], "us"),
                Number(c.predicted["log3P"], "us"),
                Number(c.measured.least, "us"),
                Number(c.measured.median, "us"),
            )
            for c in cases
            if c.algorithm == algorithm
        ),
        reference="measured",
    )


def figure(shown: Sequence[Case], algorithm: str, ranks: int, cores: int) -> Figure:
    """Bars over size and stride of one algorithm on some ranks."""
    name = "One message (linear = tree)" if ranks == 2 else f"{algorithm.capitalize()} broadcast"
    beyond = "" if ranks <= cores else ", on 1 core" if cores == 1 else f", on {cores} cores"
    chart = grouped(
        [f"{c.size // 1024} KB" for c in shown],
        [f"{c.stride} B" for c in shown],
        [
            Bars("LogGP", [c.predicted["LogGP"] for c in shown], 0),
            Bars("measured", [c.measured.least for c in shown], 6),
            Bars("log3P", [c.predicted["log3P"] for c in shown], 1),
        ],
        "time (us)",
        f"{name}, {ranks} ranks{beyond}: LogGP is the same for every stride; measured, "
        f"{shown[-1].size // 1024} KB take {shown[-1].measured.least:.3g} us at a stride of {shown[-1].stride} B.",
        log=True,
    )
    number = "Fig. 10" if algorithm == "linear" else "Fig. 11"
    return Figure(f"{number}: {name}, {ranks} ranks{beyond}", chart, "Stride below the bars, message size below that.")
