"""Checks that the native code includes only what is below it.

A native tree is a folder of rooms, and a room includes files of itself and of rooms below it (`TREES`). A room called
`python` holds the bindings: only it includes nanobind or Python.h, and only another tree's bindings include it.

`packaging/includes.txt` lists the includes that break the order today. Every other one is an error, and so is a listed
one that the code no longer has.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LISTED = Path("packaging") / "includes.txt"
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
        ("graph",),
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


def wrong(root: Path) -> Iterator[tuple[str, str]]:
    """Each include that breaks the order: the file, and what it includes."""
    for tree in TREES:
        for file in sorted((root / tree).rglob("*.[ch]pp")):
            path = file.relative_to(root).as_posix()
            here = place_of(path)
            assert here is not None
            if not here[1]:
                yield path, "(is in no room)"
                continue
            for name in INCLUDE.findall(file.read_text(encoding="utf-8")):
                there = place_of(name)
                python = PYTHON.fullmatch(name) is not None and here[1] != "python"
                if python or (there is not None and there[1] and not is_below(there, here)):
                    yield path, name


def listed(root: Path) -> set[tuple[str, str]]:
    lines = (root / LISTED).read_text(encoding="utf-8").splitlines()
    pairs = (line.split(" -> ") for line in lines if line and not line.startswith("#"))
    return {(file, name) for file, name in pairs}


def faults(root: Path) -> list[str]:
    """What to correct, one line each."""
    found, allowed = set(wrong(root)), listed(root)
    new = [f"{file} includes {name}, which is not below it (packaging/includes.py)" for file, name in found - allowed]
    gone = [f"{LISTED}: the code no longer has `{file} -> {name}`; delete the line" for file, name in allowed - found]
    return sorted(new) + sorted(gone)


def main(arguments: list[str]) -> int:
    listing = arguments == ["--list"]
    lines = sorted(f"{file} -> {name}" for file, name in wrong(ROOT)) if listing else faults(ROOT)
    for line in lines:
        print(line)
    return 1 if lines and not listing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
