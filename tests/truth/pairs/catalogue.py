"""The pairs: `pairs.toml` has an entry each, written from the program and not from what a report says of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.real_network import Link
from tests.truth.expected import CURES, Expected

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"


@dataclass(frozen=True)
class Pair:
    """A program whose variants differ by one loss."""

    source: Path
    ranks: int
    what: str
    """The loss and its cure in one sentence, for the page."""
    expected: Expected
    network: Link | None = None
    """Between nodes of one rank each; None: all ranks are on this machine's one node"""

    @property
    def name(self) -> str:
        """That of the source."""
        return self.source.stem

    @property
    def language(self) -> str:
        """That of the source."""
        return {".c": "C", ".F90": "Fortran", ".py": "Python"}[self.source.suffix]


def pairs(names: Sequence[str] = ()) -> list[Pair]:
    """All pairs, or the named ones."""
    with open(HERE / "pairs.toml", "rb") as file:
        entries = tomllib.load(file)
    found = []
    for name in names or entries:
        if name not in entries:
            raise SystemExit(f"{name}: no such pair; there are {', '.join(entries)}")
        entry = entries[name]
        source = PROGRAMS / entry["source"]
        unknown = sorted(set(entry["cures"]) - set(CURES))
        if unknown or source.stem != name:
            raise SystemExit(
                f"pairs.toml, {name}: {', '.join(unknown) or source.name} is not a known cure or its source"
            )
        expected = Expected(
            cause=tuple(entry["cause"]),
            place=tuple(entry["place"]),
            cures=tuple(entry["cures"]),
            ranks=frozenset(entry.get("culprits", ())),
        )
        network = Link(**entry["network"]) if "network" in entry else None
        found.append(Pair(source, entry["ranks"], entry["what"], expected, network))
    return found
