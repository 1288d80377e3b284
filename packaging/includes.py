"""Checks that the native code includes only what is below it.

A native tree is a folder of rooms, and a room includes files of itself and of rooms below it (`TREES`). A room called
`python` holds the bindings: only it includes nanobind or Python.h, and only another tree's bindings include it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TREES = {
    "analyzer/archive/native": (
        ("python",),
        ("read", "export"),
        ("events",),
        ("match",),
        ("definitions",),
        ("clocks",),
        ("trace",),
    ),
    "replay/native": (
        ("python",),
        ("graph", "goal"),
        ("split",),
        ("waits",),
        ("servers", "collectives"),
        ("cost",),
        ("program",),
        ("memory",),
    ),
}
"""The trees, each above those that follow it, with their rooms from top to bottom. Those of one row are independent."""

INCLUDE = re.compile(r'^#include [<"]([^>"]+)[>"]', re.MULTILINE)
PYTHON = re.compile(r"nanobind/.*|Python\.h")


def place_of(path: str) -> tuple[str, str] | None:
    """The tree and the room of a file; the room is empty for a file that is in none. None: no file of a tree."""
    for tree, rows in TREES.items():
        if path.startswith(f"{tree}/"):
            room = path.removeprefix(f"{tree}/").split("/")[0]
            return tree, room if any(room in row for row in rows) else ""
    return None


def is_below(lower: tuple[str, str], upper: tuple[str, str]) -> bool:
    """Whether a file at `upper` may include one at `lower`."""
    if lower == upper:
        return True
    if lower[1] == "python":
        return upper[1] == "python" and lower[0] != upper[0]
    trees = list(TREES)
    if lower[0] != upper[0]:
        return trees.index(lower[0]) > trees.index(upper[0])
    row = {room: number for number, rooms in enumerate(TREES[lower[0]]) for room in rooms}
    return row[lower[1]] > row[upper[1]]


def faults(root: Path) -> Iterator[str]:
    """A line for each include that breaks the order."""
    for tree in TREES:
        for file in sorted((root / tree).rglob("*.[ch]pp")):
            path = file.relative_to(root).as_posix()
            here = place_of(path)
            assert here is not None
            if not here[1]:
                yield f"{path} is in no room (packaging/includes.py)"
                continue
            for name in INCLUDE.findall(file.read_text(encoding="utf-8")):
                there = place_of(name)
                python = PYTHON.fullmatch(name) is not None and here[1] != "python"
                if python or (there is not None and there[1] and not is_below(there, here)):
                    yield f"{path} includes {name}, which is not below it (packaging/includes.py)"


def main() -> int:
    """Exit status: 1 where an include breaks the order."""
    lines = list(faults(ROOT))
    print(*lines, sep="\n", end="\n" if lines else "")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
