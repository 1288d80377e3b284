"""Render a program's growth as text for a terminal, with rich; nothing is computed here."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from logpost.analyzer.predict.scale import CategoryGrowth, Scaling
from logpost.analyzer.predict.scale.scaling import Point
from logpost.analyzer.run.undivided import title
from logpost.analyzer.words.units import PS, percent_text, plain_text, safe, time_text

IN_FULL = ("most", "error")
"""Columns for a page, not for a terminal."""


def print_scaling(found: Scaling, console: Console) -> None:
    """Write the categories, what dominates, and what was taken for granted."""
    console.print(Text(conclusion(found), style="bold"))
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    names = headings(found)
    shown = [i for i, name in enumerate(names) if name not in IN_FULL]
    for i in shown:
        table.add_column(names[i], justify="left" if i in (0, len(names) - 2) else "right", overflow="fold")
    for row in [*(cells(one) for one in found.categories), total_cells(found)]:
        table.add_row(*(row[i] for i in shown))
    console.print(table)
    for line in [*structure_lines(found), *dominating_lines(found)]:
        console.print(Text(safe(line)))
    for note in found.notes:
        console.print(Text(f"! {safe(note)}", style="dim"))


def headings(found: Scaling) -> list[str]:
    """Of the columns: the mean of a rank on each run, and at the target."""
    sizes = [f"{size:,}" for size in found.sizes]
    return ["mean of a rank", *sizes, f"{found.target:,}", "interval", "most", "grows like", "error"]


def cells(one: CategoryGrowth) -> list[str]:
    """A category's row."""
    there = one.there
    return [
        title(one.name),
        *(time_text(spread.mean) for spread in one.measured),
        time_text(there.mean),
        _span(there),
        time_text(there.most),
        one.growth.best.text,
        percent_text(one.growth.error),
    ]


def total_cells(found: Scaling) -> list[str]:
    """The row of all categories."""
    there = found.total[-1]
    sums = [sum(one.measured[i].mean for one in found.categories) for i in range(len(found.sizes))]
    return ["all", *map(time_text, sums), time_text(there.mean), _span(there), "", "", ""]


def _span(point: Point) -> str:
    """Both ends of an interval in one unit, that of the upper one."""
    high, unit = time_text(point.high).rsplit(" ", 1)
    return f"{plain_text(point.low / PS[unit], 3)}-{high} {unit}"


def conclusion(found: Scaling) -> str:
    """One sentence: how long, and what most of it will be."""
    there, first = found.total[-1], found.categories[0]
    sure = f"; it may also be {title(found.runner_up.name)}" if found.runner_up is not None else ""
    return (
        f"On {found.target:,} ranks: {time_text(there.mean)} ({_span(there)}), "
        f"most of it {title(first.name)} ({percent_text(first.there.mean / there.mean)}){sure}"
    )


def structure_lines(found: Scaling) -> list[str]:
    """What the traces show of the communication."""
    lines = [f"replayed at other sizes: {found.pattern}"] if found.pattern else []
    counts = [
        f"{one.name} {' / '.join(f'{value:,.0f}' for value in one.values)} ({one.term})"
        for one in found.structure.counts
    ]
    return [*lines, f"of the busiest rank: {', '.join(counts)}"] if counts else lines


def dominating_lines(found: Scaling) -> list[str]:
    """Which category has most of the time, from which size on."""
    parts = [f"{title(one.category)} from {one.ranks:,} ranks on" for one in found.dominating]
    return [f"most time: {'; '.join(parts)}"]
