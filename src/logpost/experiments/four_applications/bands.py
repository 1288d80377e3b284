"""What SENS bounds or does not print: run times at other places of each band."""

from __future__ import annotations

from collections.abc import Sequence

from logpost.experiments.four_applications.runs import Runs
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Column, Number, Origin, Table
from logpost.experiments.framework.words import change_text
from logpost.experiments.support.alewife import MACHINE
from logpost.experiments.support.sens import (
    BULK,
    MECHANISMS,
    POLLING,
    SHARED,
    Mechanism,
    Workload,
    kcycles,
    sized,
)
from logpost.experiments.support.sens_sweep import run_time

OTHER_ENDS: tuple[tuple[Mechanism, str, int, str], ...] = (
    (POLLING, "poll-cycles", 1, "a poll costs 11 cycles, a local miss (Fig. 3), or 1, an instruction"),
    (BULK, "line-cycles", 0, "copying 16 bytes costs 60 cycles, “as high as” (4), half on either side, or nothing"),
)
"""Mechanism, the program's option, the other end of its band, and what the band is."""
OTHER_WORK = (10, 30, 90)
"""Cycles of an edge of EM3D: a band around EDGE_CYCLES."""
DEGREES = (12,)
"""Neighbours of a node of UNSTRUC's mesh: 2 + 2 t by Euler's relation, with the five tetrahedra of a cube, the fewest;
the program has the 15.5 of a Delaunay mesh of random points (SENS prints none)."""
BUFFER = (BULK, "buffer", 8, "ICCG sends 64 edges in a bulk message, or 8, where fewer have to wait for others")
"""Of ICCG alone: "we buffer up multiple non-local edges" (4.3)."""


def bands_table(context: Context, workloads: Sequence[Workload], runs: Runs) -> Table:
    """Simulate the other ends; the first ones are among the runs."""
    cases = [
        (workload, *band)
        for workload in workloads
        for band in (*OTHER_ENDS, *([BUFFER] if workload.application == "ICCG" else []))
    ]

    def one(case: tuple[Workload, Mechanism, str, int, str]) -> float:
        workload, mechanism, option, value, _ = case
        return run_time(context, sized(workload, {option: value}, ""), mechanism, f"{option}-{value}")

    seconds = context.found("ends of the bands", cases, one)
    rows = []
    for (workload, mechanism, option, _, _), other_s in seconds.items():
        base_s = runs.of(workload.application, mechanism).clock_s
        rest = [m for m in MECHANISMS if m is not mechanism]
        fastest_s = min(runs.of(workload.application, m).clock_s for m in rest)
        rows.append(
            (
                f"{workload.application}, {mechanism.name} ({option})",
                kcycles(base_s),
                kcycles(other_s),
                change_text(other_s / base_s - 1.0, 1),
                f"{change_text(base_s / fastest_s - 1.0)} to {change_text(other_s / fastest_s - 1.0)}",
            )
        )
    return Table(
        "Costs that the paper bounds: run time at both ends of their bands",
        (
            Column("case", Origin.SETTING),
            Column("at the first end", Origin.TESTBED, MACHINE),
            Column("at the other end", Origin.TESTBED, MACHINE),
            Column("change", Origin.DERIVED),
            Column("over the fastest of the other mechanisms", Origin.DERIVED),
        ),
        tuple(rows),
        note="; ".join(f"{option}: {what}" for _, option, _, what in (*OTHER_ENDS, BUFFER))
        + ". All other tables and claims have the first ends.",
    )


def over_polling(
    context: Context, workload: Workload, runs: Runs, option: str, values: Sequence[int], said: str, note: str
) -> Table:
    """Shared memory over polling by an option of the program; the value that all other tables have is among the runs.

    Args:
        context: of the experiment.
        workload: the application.
        runs: all others.
        option: of the program.
        values: other ones than its own.
        said: the option as people read it.
        note: what the program has, and why.
    """
    pair = (SHARED, POLLING)

    def one(case: tuple[int, Mechanism]) -> float:
        value, mechanism = case
        return run_time(context, sized(workload, {option: value}, ""), mechanism, f"{option}-{value}")

    phase = f"{workload.application} by {said}"
    seconds = context.found(phase, [(value, mechanism) for value in values for mechanism in pair], one)
    rows = {"as in the other tables": [runs.of(workload.application, mechanism).clock_s for mechanism in pair]}
    rows |= {str(value): [seconds[value, mechanism] for mechanism in pair] for value in values}
    return Table(
        phase,
        (
            Column(said, Origin.SETTING),
            *(Column(mechanism.name, Origin.TESTBED, MACHINE) for mechanism in pair),
            Column("shared memory over messages", Origin.DERIVED),
        ),
        tuple((name, kcycles(one), kcycles(other), Number(one / other, "×")) for name, (one, other) in rows.items()),
        note=note,
    )
