"""The place of a call path: in the call tree, and in the source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

import polars as pl

from logpost.analyzer.words.labels import folded, folded_path


@dataclass(frozen=True)
class Place:
    """A call path as people see it."""

    path: str
    """Region names from the root, their arguments folded."""
    region: str
    file: str
    """Source file; empty: unknown."""
    line: int
    is_site: bool
    """It is the place of the call itself; else that of its region's definition."""
    caller: str = ""
    """`solve.c:40`: the nearest call above by which it differs from other call paths that end in the same call of the
    same line; empty where there is no other one, or no such call is known."""

    @property
    def source(self) -> str:
        """`cg.c:120`; `defined at cg.c:100`; empty where unknown."""
        if not self.file:
            return ""
        name = _short(self.file, self.line)
        return name if self.is_site else f"defined at {name}"

    @property
    def named(self) -> str:
        """`MPI_Recv at cg.c:120`, or the region alone where the call's line is unknown; `MPI_Recv at cg.c:120 (called
        from solve.c:40)` where calls of that line are more than one."""
        if not (self.is_site and self.region):
            return self.region
        return f"{self.region} at {self.source}" + (f" (called from {self.caller})" if self.caller else "")


Places = Mapping[int, Place]
NOWHERE = Place("", "", "", 0, False)


def places_of(tables: Mapping[str, pl.LazyFrame]) -> Places:
    """Call path to its place: the call's own file and line, else those of its region's definition."""
    paths, regions = (
        tables["callpaths"],
        tables["regions"].select("region", "name", defined_in="file", defined_at="line"),
    )
    if "file" not in paths.collect_schema():
        paths = paths.with_columns(file=pl.lit(""), line=pl.lit(0))
    rows = paths.join(regions, on="region", how="left").select(
        "callpath",
        "parent",
        "path",
        "name",
        file=pl.when(pl.col("file") != "").then("file").otherwise(pl.col("defined_in").fill_null("")),
        line=pl.when(pl.col("file") != "").then("line").otherwise(pl.col("defined_at").fill_null(0)),
        is_site=pl.col("file") != "",
    )
    places, parents = {}, {}
    for callpath, parent, path, name, file, line, is_site in rows.collect().iter_rows():
        places[callpath] = Place(folded_path(path), folded(name or ""), file, int(line), bool(is_site))
        parents[callpath] = parent
    for callpath, caller in _callers(places, parents).items():
        places[callpath] = replace(places[callpath], caller=caller)
    return places


def _short(file: str, line: int) -> str:
    return file.rsplit("/", 1)[-1] + (f":{line}" if line > 0 else "")


def _callers(places: Places, parents: Mapping[int, int]) -> dict[int, str]:
    """By call path that shares its call and line with others: the nearest call above that distinguishes it."""
    alike: defaultdict[tuple[str, str, int], list[int]] = defaultdict(list)
    for callpath, place in places.items():
        if place.is_site:
            alike[place.region, place.file, place.line].append(callpath)
    found = {}
    together = [[(one, parents[one]) for one in group] for group in alike.values() if len(group) > 1]
    while together:
        by_call: defaultdict[Place, list[tuple[int, int]]] = defaultdict(list)
        for callpath, above in together.pop():
            if above in places:
                by_call[replace(places[above], path="")].append((callpath, parents[above]))
        for call, group in by_call.items():
            if len(group) > 1:
                together.append(group)
            elif call.is_site:
                found[group[0][0]] = _short(call.file, call.line)
    return found
