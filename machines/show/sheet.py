"""Rows of values as text of a given width: `machines show`.

Sections are above their values over the whole width, so that the names keep their column even at 80 characters; so
does a name that is longer than its column. Other cells that are too long wrap inside theirs.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.text import Text

from logpost.machines.show.row import Row
from logpost.machines.values.quantity import NOT_STATED

GAP = 2
NAMES, SOURCES, SPANS = 18, 14, 12
"""Characters that the columns of names, sources and uncertainties keep when the terminal is narrow."""
MOST_NAMES = 26
"""Characters that the column of names keeps while sources can give way."""


@dataclass(frozen=True)
class Column:
    """A column: its heading, its cells, one per row, and the side of their alignment."""

    heading: str
    cells: tuple[str, ...]
    right: bool = False

    def width(self) -> int:
        """Characters of the longest cell, heading included."""
        return max(map(len, (self.heading, *self.cells)))


def sheet(title: str, rows: Sequence[Row], width: int) -> Text:
    """The rows under the names of their tables, with a legend of the remarks below. At most `width` characters wide."""
    names, remarks = _marked(rows)
    values = [i for i, row in enumerate(rows) if row.value]
    columns = _columns(rows, values, names)
    widths = _widths(columns, width)
    text = Text(f"{title}\n", "bold", no_wrap=True)
    if values:
        _line(text, [column.heading for column in columns], columns, widths, "dim")
    section = ""
    at = 0
    for i, row in enumerate(rows):
        if row.section != section:
            section = row.section
            text.append("\n".join(textwrap.wrap(section, width)) + "\n", "bold")
        if row.value:
            name, *cells = (column.cells[at] for column in columns)
            if len(name) > widths[0]:
                text.append(paragraph(names[i], width, "  ") + "\n")
                name = ""
            _line(text, [name, *cells], columns, widths)
            at += 1
        else:
            cited = f"  ({row.source})" if row.source else ""
            text.append(paragraph(f"{names[i]}{cited}", width, "  ", "    ") + "\n")
    for line in _legend([rows[i] for i in values], remarks):
        text.append(paragraph(line, width) + "\n")
    return text


def _marked(rows: Iterable[Row]) -> tuple[list[str], list[str]]:
    """The name of each row with the number of its remark, and the remarks."""
    names: list[str] = []
    remarks: list[str] = []
    for row in rows:
        # How far an interval is from ±5 % has its own column, so that remarks that differ in that alone are one.
        note = re.sub(r"(±5 % not reached): ±\S+( \S+)?$", r"\1", row.note)
        remark = ": ".join(part for part in (row.basis if row.basis != "printed" else "", note) if part)
        if remark and remark not in remarks:
            remarks.append(remark)
        names.append(f"{row.key} [{remarks.index(remark) + 1}]" if remark else row.key)
    return names, remarks


def _columns(rows: Sequence[Row], values: Sequence[int], names: Sequence[str]) -> list[Column]:
    found = [
        Column("value", tuple(rows[i].value for i in values), right=True),
        Column("unit", tuple(rows[i].unit for i in values)),
    ]
    stated = [rows[i].uncertainty for i in values if rows[i].uncertainty != NOT_STATED]
    if stated:
        # One confidence for all values is said once, in the heading.
        levels = {level.group() if (level := re.search(r" at \d+%$", text)) else "" for text in stated}
        common = levels.pop() if len(levels) == 1 else ""
        cells = tuple(
            "-" if rows[i].uncertainty == NOT_STATED else rows[i].uncertainty.removesuffix(common) for i in values
        )
        found.append(Column(f"uncertainty{common}", cells))
    found.append(Column("source", tuple(rows[i].source for i in values)))
    return [Column("", tuple(f"  {names[i]}" for i in values)), *found]


def _widths(columns: Sequence[Column], width: int) -> list[int]:
    """The names, then the sources give way, and the uncertainties last: an interval over two lines is hard to read."""
    widths = [column.width() for column in columns]
    over = sum(widths) + GAP * (len(columns) - 1) - width
    for i, least in ((0, MOST_NAMES), (len(columns) - 1, SOURCES), (0, NAMES), (3, SPANS), (0, SPANS)):
        if over > 0 and widths[i] > least:
            given = min(over, widths[i] - least)
            widths[i] -= given
            over -= given
    return widths


def _line(text: Text, cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int], style: str = "") -> None:
    """One row, as many lines high as its longest cell needs."""
    wrapped = [
        textwrap.wrap(cell, size, subsequent_indent="    " if i == 0 else "") or [""]
        for i, (cell, size) in enumerate(zip(cells, widths, strict=True))
    ]
    for k in range(max(map(len, wrapped))):
        parts = [
            (part[k] if k < len(part) else "").rjust(size)
            if column.right
            else (part[k] if k < len(part) else "").ljust(size)
            for part, size, column in zip(wrapped, widths, columns, strict=True)
        ]
        text.append((" " * GAP).join(parts).rstrip() + "\n", style)


def _legend(rows: Sequence[Row], remarks: Sequence[str]) -> list[str]:
    numbered = [f"[{i + 1}] {remark}" for i, remark in enumerate(remarks)]
    unstated = [row.uncertainty == NOT_STATED for row in rows]
    if unstated and all(unstated):
        return [f"Uncertainty: {NOT_STATED}.", *numbered]
    return [f"- : uncertainty {NOT_STATED}", *numbered] if any(unstated) else numbered


def paragraph(words: str, width: int, first: str = "", rest: str = "    ") -> str:
    """Words in lines of `width` characters, the first one indented by `first`, the others by `rest`."""
    return textwrap.fill(words, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
