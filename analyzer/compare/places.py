"""Which user region of one version of a program is which of another: by name, by line, or by its place in the code.

1. A name that both versions have is one region.
2. Names that hold a line (Score-P's OpenMP regions: `!$omp parallel @jacobi.c:84`) are one region without the line;
   several of a file are taken in the order of their lines, where both versions have as many.
3. A C++ function whose arguments changed is the one of the same name without them, if there is only one.
4. What remains is matched by place: the same callers and the same callees, or the same source file, and no second
   candidate that fits as well.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from logpost.analyzer.run.directory import Run
from logpost.analyzer.words.labels import folded

_LINE = re.compile(r"^(.*@.*):(\d+)$")
_ENOUGH = 0.5
"""Of callers and of callees that both versions share (Jaccard's index)."""


@dataclass(frozen=True)
class Surroundings:
    """Where a region is: its source file (empty: not known), and the names around it in the calling context."""

    file: str
    callers: frozenset[str]
    callees: frozenset[str]


def surroundings(run: Run) -> dict[str, Surroundings]:
    """User region name to its surroundings."""
    nodes = (
        run.facts("callpaths")
        .join(run.facts("regions").select("region", "name", "kind", home="file"), on="region", how="left")
        .select("callpath", "parent", "name", "kind", "home")
        .collect()
    )
    names = dict(nodes.select("callpath", "name").iter_rows())
    callers, callees = defaultdict(set), defaultdict(set)
    for parent, name in nodes.select("parent", "name").iter_rows():
        callers[name].add(names.get(parent, ""))
        callees[names.get(parent, "")].add(name)
    own = nodes.filter(pl.col("kind") == "user", pl.col("name").is_not_null()).unique("name", maintain_order=True)
    return {
        name: Surroundings(home or "", frozenset(callers[name]), frozenset(callees[name]))
        for name, home in own.select("name", "home").iter_rows()
    }


def renamed(before: Mapping[str, Surroundings], after: Mapping[str, Surroundings]) -> dict[str, str]:
    """Names of `before` that are called otherwise in `after`, each with its name there."""
    found = _moved_lines(before, after)
    found |= _alone(before, after, found)
    while new := _by_place(before, after, found):
        found |= new
    return {name: other for name, other in found.items() if name != other}


def _moved_lines(before: Mapping[str, Surroundings], after: Mapping[str, Surroundings]) -> dict[str, str]:
    """Names that hold a line, in the order of their lines."""
    sides: tuple[dict[str, list[tuple[int, str]]], ...] = (defaultdict(list), defaultdict(list))
    for names, side in zip((before, after), sides, strict=True):
        for name in names:
            if match := _LINE.match(name):
                side[match[1]].append((int(match[2]), name))
    found: dict[str, str] = {}
    for key, lines in sides[0].items():
        if len(lines) == len(sides[1].get(key, ())):
            pairs = zip(sorted(lines), sorted(sides[1][key]), strict=True)
            found |= {old: new for (_, old), (_, new) in pairs}
    return found


def _left(
    before: Mapping[str, Surroundings], after: Mapping[str, Surroundings], found: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Names without a partner."""
    taken = set(found.values())
    return (
        [name for name in before if name not in after and name not in found],
        [name for name in after if name not in before and name not in taken],
    )


def _alone(
    before: Mapping[str, Surroundings], after: Mapping[str, Surroundings], found: Mapping[str, str]
) -> dict[str, str]:
    """Those whose folded name only one has on either side."""
    sides: tuple[dict[str, list[str]], ...] = (defaultdict(list), defaultdict(list))
    for names, side in zip(_left(before, after, found), sides, strict=True):
        for name in names:
            side[folded(name)].append(name)
    return {
        names[0]: sides[1][key][0]
        for key, names in sides[0].items()
        if len(names) == 1 and len(sides[1].get(key, ())) == 1
    }


def _by_place(
    before: Mapping[str, Surroundings], after: Mapping[str, Surroundings], found: Mapping[str, str]
) -> dict[str, str]:
    """Those whose surroundings fit one other best, and that fit it best."""
    olds, news = _left(before, after, found)
    fits = {(old, new): _fit(before[old], after[new], found) for old in olds for new in news}
    best_new = {old: _best({new: fits[old, new] for new in news}) for old in olds}
    best_old = {new: _best({old: fits[old, new] for old in olds}) for new in news}
    return {old: new for old, new in best_new.items() if new is not None and best_old[new] == old}


def _fit(old: Surroundings, new: Surroundings, found: Mapping[str, str]) -> float:
    """How well two places agree; 0: not the same place."""
    callers = _shared({found.get(name, name) for name in old.callers}, new.callers)
    callees = _shared({found.get(name, name) for name in old.callees}, new.callees)
    same_file = old.file != "" and old.file == new.file
    if callers < _ENOUGH or not (callees >= _ENOUGH or (same_file and not old.callees and not new.callees)):
        return 0.0
    return callers + callees + same_file


def _shared(a: set[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a and b else 0.0


def _best(fits: Mapping[str, float]) -> str | None:
    """The one that fits best; None if none fits, or two alike."""
    top = max(fits.values(), default=0.0)
    best = [name for name, fit in fits.items() if fit == top]
    return best[0] if top > 0 and len(best) == 1 else None
