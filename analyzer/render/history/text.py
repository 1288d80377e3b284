"""Render a history for a terminal, with rich; nothing is computed here but changes from run to run."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from logpost.analyzer.compare.history import COMPUTE, Entry
from logpost.analyzer.run.undivided import SHOWN, title
from logpost.analyzer.words.units import percent_text, safe, shorten, time_text

MOST_CATEGORIES = 4
"""Categories drawn: as many as a chart has lines that are distinguished at a glance."""
MOST_NAMED = 1
"""Categories of a row: as many as a terminal of 80 columns has room for."""
HEADINGS = ("label", "added", "slowest rank", "lost", "change", "mostly")
NUMERIC = frozenset({2, 3, 4})
"""Columns of numbers."""


def largest(found: Sequence[Entry], most: int = MOST_CATEGORIES) -> list[str]:
    """The categories with the largest share in any of the runs, the largest first."""
    shares = {name: max(one.share(name) for one in found) for name in SHOWN if name != COMPUTE}
    return sorted((name for name in shares if shares[name] > 0), key=lambda name: -shares[name])[:most]


def rows(found: Sequence[Entry]) -> list[tuple[str, ...]]:
    """The table's cells; `change` is of the lost share against the run before, in percentage points."""
    cells: list[tuple[str, ...]] = []
    for before, one in zip((None, *found), found, strict=False):
        cells.append(
            (
                shorten(safe(one.label), 16),
                f"{one.added:%Y-%m-%d}",
                time_text(one.program_ps),
                percent_text(one.lost),
                "" if before is None else f"{100 * (one.lost - before.lost):+.1f} pp",
                ", ".join(f"{title(name)} {percent_text(one.share(name))}" for name in largest([one], MOST_NAMED)),
            )
        )
    return cells


def print_history(found: Sequence[Entry], console: Console) -> None:
    """Write the table, and below it the first finding where another one than before is first."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for i, name in enumerate(HEADINGS):
        table.add_column(name, justify="right" if i in NUMERIC else "left", overflow="fold", no_wrap=name == "added")
    for row in rows(found):
        table.add_row(*map(Text, row))
    console.print(table)
    for before, one in zip(("", *(each.finding for each in found)), found, strict=False):
        if one.finding != before:
            gain = "" if one.gain is None else f", saves {percent_text(one.gain)}"
            console.print(Text(f"{safe(one.label)}: first finding: {safe(one.finding) or 'none'}{gain}"))
    for note in notes(found):
        console.print(Text(f"! {note}", style="dim"))


def notes(found: Sequence[Entry]) -> list[str]:
    """What makes the runs hard to compare."""
    differ = []
    for what, values in (("ranks", {str(one.ranks) for one in found}), ("machine", {one.machine for one in found})):
        if len(values) > 1:
            differ.append(f"the runs differ in their {what}: {', '.join(sorted(map(safe, values)))}")
    return differ
