"""The table of all cures that were replayed, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from logpost.analyzer.findings.prose import WORDS
from logpost.analyzer.findings.tried import Tried
from logpost.analyzer.words.units import percent_text, safe


def print_cures(found: Sequence[Tried], console: Console) -> None:
    """A row a cure and place."""
    if not found:
        console.print("No cure applies to this program: no place loses what one of them could save.")
        return
    table = Table(title="Cures that were replayed", title_justify="left")
    for name in ("saves", "cure", "place", "ranks", "outcome"):
        table.add_column(name, justify="right" if name == "saves" else "left")
    for one in found:
        cells = (WORDS[one.kind].cure or one.kind.replace("_", " "), safe(one.place), one.ranks, one.outcome)
        saves = percent_text(one.gain) if one.gain >= 0 else f"-{percent_text(-one.gain)}"
        table.add_row(saves, *map(Text, cells))
    console.print(table)


def as_json(found: Sequence[Tried]) -> dict[str, Any]:
    """The same as what `json.dumps` takes; gains are fractions of the longest program."""
    return {"cures": [asdict(one) for one in found]}
