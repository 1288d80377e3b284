"""Which algorithms fit the measured ends of a run's collective operations, where no library profile selects one."""

from __future__ import annotations

from typing import Any

from logpost.analyzer.run.directory import Run
from logpost.replay._native import Program, algorithms, operations

TIE = 0.01
"""Two algorithms whose errors differ by less than this part of the measured time are not distinguished."""


def is_tied(row: dict[str, Any]) -> bool:
    """Whether a row of `collective_kinds` has another algorithm that explains the measured ends as well."""
    measured = row["measured_ps"] / max(1, row["operations"] * row["members"])
    return bool(row["second"] != "not_known" and row["second_error_ps"] - row["error_ps"] < TIE * measured)


def set_algorithms(program: Program, run: Run) -> None:
    """Sets in a program of a run the algorithms that the run's table `collective_kinds` has."""
    codes = {name: code for code, name in enumerate(algorithms())}
    of_operation = {name: code for code, name in enumerate(operations())}
    for row in run.facts("collective_kinds").collect().iter_rows(named=True):
        instead = row["second"] if is_tied(row) else "not_known"
        program.carry_out(
            of_operation[row["operation"]], row["comm"], row["most_bytes"], codes[row["algorithm"]], codes[instead]
        )
