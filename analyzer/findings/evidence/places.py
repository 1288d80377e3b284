"""Where a call path stands: in the call tree, and in the source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from logpost.analyzer.labels import folded, folded_path


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
    """The call itself stands there; else it is where its region is defined."""

    @property
    def source(self) -> str:
        """`cg.c:120`; `defined at cg.c:100`; empty where unknown."""
        if not self.file:
            return ""
        name = self.file.rsplit("/", 1)[-1] + (f":{self.line}" if self.line > 0 else "")
        return name if self.is_site else f"defined at {name}"

    @property
    def named(self) -> str:
        """`MPI_Recv at cg.c:120`, or the region alone where the call's line is unknown."""
        return f"{self.region} at {self.source}" if self.is_site and self.region else self.region


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
        "path",
        "name",
        file=pl.when(pl.col("file") != "").then("file").otherwise(pl.col("defined_in").fill_null("")),
        line=pl.when(pl.col("file") != "").then("line").otherwise(pl.col("defined_at").fill_null(0)),
        is_site=pl.col("file") != "",
    )
    return {
        callpath: Place(folded_path(path), folded(name or ""), file, int(line), bool(is_site))
        for callpath, path, name, file, line, is_site in rows.collect().iter_rows()
    }
