"""The accounting of a large run in cells finer than windows: a timeline of millions of calls that reads none of them.

The table `time_cells` has them at several levels of detail, each of half as many cells as the one before. A stretch of
time is drawn from the finest level of which the picture takes every cell: then a cell shows its shares, and no
iteration falls between two of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import CATEGORIES
from logpost.dashboards.figures.folding import Rows

Cube = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Cells:
    """What the table has, and how it is read."""

    table: pl.LazyFrame
    window_ps: int
    levels: int
    """0: the run has no cells."""
    group_of: pl.DataFrame
    """location, and the first one of its group."""
    members: int
    """Locations of a group; the last one may have fewer."""

    @classmethod
    def of(cls, run: Run, locations: pl.DataFrame) -> Cells:
        """The cells of a run, whose table `locations` is given; a run seen through a region of interest has none."""
        windows = run.manifest.windows
        some = windows.cells > 1 and run.manifest.region_of_interest is None
        table = run.facts("time_cells")
        found = table.select("members").head(1).collect() if some else pl.DataFrame()
        members = found.item() if found.height else 1
        accounted = locations.filter("accounted").sort("location")["location"]
        group_of = pl.DataFrame({"location": accounted, "first": accounted.gather(
            np.arange(len(accounted)) // members * members)})  # fmt: skip
        return cls(table, windows.width_ps, windows.cells.bit_length() - 1 if found.height else 0, group_of, members)

    def width_ps(self, level: int) -> int:
        """Of a cell."""
        return self.window_ps >> (self.levels - level)

    def finest(self, begin_ps: int, end_ps: int, most: int) -> tuple[int, int, int] | None:
        """Level, first cell and number of cells of the finest level with at most `most` cells over a stretch of time;
        None: even the coarsest has more."""
        for level in range(self.levels):
            width = self.width_ps(level)
            first = begin_ps // width
            count = -(-end_ps // width) - first
            if count <= most:
                return level, first, count
        return None

    def whole(self, begin_ps: int, end_ps: int) -> tuple[int, int, int] | None:
        """Likewise, of the coarsest level of which the stretch is whole cells; None: of no level."""
        for level in reversed(range(self.levels)):
            width = self.width_ps(level)
            if begin_ps % width == 0 and end_ps % width == 0:
                return level, begin_ps // width, (end_ps - begin_ps) // width
        return None

    def cube(self, on: Rows, level: int, first: int, count: int) -> Cube | None:
        """Time by (row, cell, category) in ps, categories in the order of `CATEGORIES`; None where a group of locations
        is in no single row, or not as a whole."""
        placed = self.group_of.join(on.of, on="location", how="left")
        groups = placed.group_by("first").agg(
            row=pl.col("row").first(), apart=pl.col("row").n_unique() > 1, left_out=pl.col("row").is_null().any()
        )
        if self.members > 1 and groups.filter(pl.col("apart")).height:
            return None
        rows = groups.filter(~pl.col("left_out")).select("row", location="first")
        found = (
            self.table.filter(pl.col("level") == level, pl.col("cell").is_between(first, first + count - 1))
            .join(rows.lazy(), on="location")
            .select("row", "cell", pl.col("category").to_physical(), "exposed_ps")
            .collect()
        )
        row, cell, category, exposed = (found[name].to_numpy() for name in found.columns)
        at = (row.astype(np.int64) * count + (cell - first)) * len(CATEGORIES) + category
        sums: Cube = np.bincount(at, exposed.astype(np.float64), on.count * count * len(CATEGORIES)).astype(np.float64)
        return sums.reshape(on.count, count, len(CATEGORIES))
