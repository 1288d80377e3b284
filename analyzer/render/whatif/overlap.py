"""Overlap advice as text for a terminal, and as JSON; nothing is computed here."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from logpost.analyzer.predict.whatif.overlap import OverlapAdvice
from logpost.analyzer.words.labels import folded_path
from logpost.analyzer.words.units import bytes_text, percent_text, safe, shorten, time_text


def print_overlap(found: list[OverlapAdvice], console: Console, top: int | None = None) -> None:
    """Write a table of the regions, at most `top`, and a sentence for each."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for i, name in enumerate(("exchanges in", "calls", "V", "wait", "work behind", "S", "b", "gain")):
        table.add_column(name, justify="left" if i == 0 else "right", overflow="fold", no_wrap=i > 0)
    for one in found[:top]:
        table.add_row(*_cells(one))
    console.print(table)
    for one in found[:top]:
        console.print(Text(sentence(one)))


def sentence(one: OverlapAdvice) -> str:
    """The advice in words."""
    where = safe(folded_path(one.region))
    if one.reason:
        return f"{where}: leave messages whole: {safe(one.reason)}."
    at_a_time = "one at a time" if one.burst == 1 else f"{one.burst} at a time"
    return (
        f"{where}: part each message of {bytes_text(one.bytes)} into {one.pieces} of {bytes_text(one.size)}, started "
        f"{at_a_time}, and work on each piece as it arrives: {_gain(one)} less time by replay, as far as the work on a "
        "piece needs no other."
    )


def as_json(found: list[OverlapAdvice]) -> dict[str, Any]:
    """The object that `logpost whatif RUN --overlap --json` prints; its keys are a promise to scripts."""
    return {
        "overlap": [
            {
                "region": one.region,
                "exchanges": one.exchanges,
                "message_bytes": one.bytes,
                "wait_ps": one.wait_ps,
                "work_behind_ps": one.work_ps,
                "pieces": one.pieces,
                "S_bytes": one.size,
                "b": one.burst,
                "gain": list(one.gain),
                "reason": one.reason,
            }
            for one in found
        ]
    }


def _cells(one: OverlapAdvice) -> list[str]:
    advised = ["-", "-", "-"] if one.reason else [bytes_text(one.size), str(one.burst), _gain(one)]
    return [
        shorten(safe(folded_path(one.region)), 40),
        f"{one.exchanges:,}",
        bytes_text(one.bytes),
        time_text(one.wait_ps),
        time_text(one.work_ps),
        *advised,
    ]


def _gain(one: OverlapAdvice) -> str:
    low, high = (percent_text(end) for end in one.gain)
    return low if low == high else f"{low} to {high}"
