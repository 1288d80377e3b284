"""What the screen and the sections of a report are laid out with."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from logpost.analyzer.report.data import PlacedFinding, Report
from logpost.analyzer.words.units import count_text, safe, shorten, time_text

BAR = 24
"""Cells of the longest bar."""


def bar(fraction: float, cells: int = BAR) -> str:
    """A bar of eighths of a cell; something that is not zero is never invisible."""
    eighths = round(max(0.0, min(1.0, fraction)) * cells * 8)
    if fraction > 0:
        eighths = max(1, eighths)
    return "█" * (eighths // 8) + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]


def section(title: str, *body: RenderableType) -> Group:
    """A title and what is below it, indented."""
    return Group(Text(title, style="bold"), *(Padding(part, (0, 0, 0, 2)) for part in body))


def table(*columns: tuple[str, bool]) -> Table:
    """A table without lines; of each column its heading, and whether it has numbers."""
    made = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name, right in columns:
        made.add_column(name, justify="right" if right else "left", overflow="fold", no_wrap=right)
    return made


def plain(value: str, style: str = "") -> Text:
    """A text that may have names of the trace in it."""
    return Text(safe(value), style=style)


def source_line(report: Report) -> str:
    """What was recorded: `a.otf2: 2 ranks on 1 node, 1.00 s, 20 events, 10 messages`."""
    what, count = report.counted
    placed = " ".join(part for part in (count_text(count, what), report.nodes_text) if part)
    return (
        f"{report.source}: {placed}, {time_text(report.wall_ps)}, {count_text(report.events, 'event')}, "
        f"{count_text(report.messages.count, 'message')}"
    )


def scope_line(report: Report) -> str:
    """What the figures are about, and what is outside of it."""
    outside = [
        f"{name} {time_text(time)}"
        for name, time in (
            ("start-up", report.start_up_ps),
            ("shut-down", report.shut_down_ps),
            ("other parts", report.outside_ps),
        )
        if time
    ]
    what = "region of interest" if report.outside_ps else "program"
    beyond = f"; outside of it {', '.join(outside)}" if outside else ""
    return f"{what} {time_text(report.program_ps)} (all figures are about it){beyond}"


def place_text(found: PlacedFinding, limit: int) -> str:
    """`ranks 3, 5-7, main / solve / MPI_Recv (cg.c:120)`; of a long call path the end."""
    place = shorten(found.path or found.region, limit) + (f" ({found.source})" if found.source else "")
    return ", ".join(part for part in (found.named_text, place) if part)
