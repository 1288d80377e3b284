"""The program with and without the cause of a finding, as text for a terminal and as plain values."""

from __future__ import annotations

from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table
from rich.text import Text

from logpost.analyzer.findings.cured import Cured, Execution
from logpost.analyzer.words.units import percent_text, safe, time_text

PATH = {"code": "code between calls", "work": "calls' own work", "wait": "on the way between ranks"}


def print_cured(found: Cured, number: int, console: Console) -> None:
    """Write the lengths, what the critical paths consist of, and what was removed."""
    console.print(Text(f"without finding {number}: {safe(found.title)}", style="bold"))
    if found.part:
        console.print(Text(f"! replayed: {found.part}", style="yellow"))
    way = "less" if found.saves >= 0 else "more"
    console.print(Text(f"recorded   {time_text(found.before.length_ps)}"))
    console.print(
        Text(
            f"without it {time_text(found.after.length_ps)}, {percent_text(abs(found.saves))} {way} time "
            f"(the finding states {percent_text(found.gain)})"
        )
    )
    table = Table(title="Critical path", title_justify="left")
    table.add_column("part")
    for name in ("before", "after"):
        table.add_column(name, justify="right")
    before, after = _path_ps(found.before), _path_ps(found.after)
    for what, text in PATH.items():
        table.add_row(text, time_text(before[what]), time_text(after[what]))
    console.print(table)


def as_json(found: Cured, number: int) -> dict[str, Any]:
    """The same as what `json.dumps` takes; times in picoseconds."""
    return {
        "finding": number,
        "title": found.title,
        "stated_gain": found.gain,
        "measured_ps": found.before.length_ps,
        "predicted_ps": found.after.length_ps,
        "saves": found.saves,
        "whole": not found.part,
        "part": found.part or None,
        "calls": found.calls,
        "before_path_ps": _path_ps(found.before),
        "after_path_ps": _path_ps(found.after),
    }


def _path_ps(execution: Execution) -> dict[str, int]:
    sums = dict(execution.path.group_by("what").agg((pl.col("end_ps") - pl.col("begin_ps")).sum()).iter_rows())
    return {what: sums.get(what, 0) for what in PATH}
