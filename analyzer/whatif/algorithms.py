"""By which algorithms a run's collective operations were carried out, as their measured ends tell."""

from __future__ import annotations

from logpost.analyzer.reporting.collectives import is_tied
from logpost.analyzer.run import Run
from logpost.replay._native import Program, algorithms, operations


def tell_algorithms(program: Program, run: Run) -> None:
    """Tells a program of a run the algorithms that the run's table `collective_kinds` has."""
    codes = {name: code for code, name in enumerate(algorithms())}
    of_operation = {name: code for code, name in enumerate(operations())}
    for row in run.table("collective_kinds").collect().iter_rows(named=True):
        instead = row["second"] if is_tied(row) else "not_known"
        program.carry_out(
            of_operation[row["operation"]], row["comm"], row["most_bytes"], codes[row["algorithm"]], codes[instead]
        )
