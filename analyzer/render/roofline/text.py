"""Render a roofline as text for a terminal, with rich; nothing is computed here."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from logpost.analyzer.predict.roofline import Roof, Roofline
from logpost.analyzer.words.labels import folded_path
from logpost.analyzer.words.units import bytes_text, safe, shorten, time_text


def print_roofline(found: Roofline, console: Console, top: int | None = None) -> None:
    """Write the regions, at most `top`."""
    console.print(
        Text(f"Messages against the limits of {safe(found.machine)}; times of the busiest rank", style="bold")
    )
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for i, name in enumerate(
        ("region", "where", "messages", "mean size", "rate/rank", "time", "roof", "limit", "distance")
    ):
        at_left = i in (0, 1, 7)
        table.add_column(
            name, justify="left" if at_left else "right", overflow="fold", no_wrap=i > 0, min_width=16 * (i == 0)
        )
    for roof in found.roofs[:top]:
        table.add_row(*cells(roof))
    console.print(table)
    for note in found.notes:
        console.print(Text(f"! {note}", style="dim"))


def cells(roof: Roof) -> tuple[str, ...]:
    """A row as text: region, where, messages, mean size, rate, time, roof, limit, distance."""
    return (
        shorten(safe(folded_path(roof.region)), 48),
        roof.where,
        f"{roof.messages:,}",
        bytes_text(roof.mean_bytes),
        f"{bytes_text(roof.achieved_bytes_per_s)}/s" if roof.time_ps else "-",
        time_text(roof.time_ps),
        time_text(roof.roof_ps),
        roof.limit,
        _distance(roof),
    )


def _distance(roof: Roof) -> str:
    if not roof.roof_ps:
        return "-"
    return f"{roof.distance:,.0f} x" if roof.distance >= 100 else f"{roof.distance:.3g} x"
