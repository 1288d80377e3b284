"""Rows and columns of a figure: ranks folded into blocks, time windows folded into bins.

A page stays small and legible whatever the run's size: at most so many rows and columns, and the figure says when a
row stands for several ranks.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from logpost.analyzer.run.manifest import Windows
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.undivided import SHOWN
from logpost.analyzer.words.location_names import LocationNames, Named
from logpost.analyzer.words.units import time_text
from logpost.dashboards.figures.labels import plotly_text, time_unit, visible


@dataclass(frozen=True)
class Rows:
    """Which row each accounted location belongs to, in the order of ranks."""

    of: pl.DataFrame
    """Columns location (Int32) and row (Int32)."""
    labels: tuple[str, ...]
    """Short, for an axis: the first location's of a block; safe for plotly."""
    titles: tuple[str, ...]
    """Long, for a hover; safe for plotly."""
    names: tuple[str, ...]
    """Long and as the trace says, for text that is escaped elsewhere; never for plotly."""
    sizes: np.ndarray
    """Locations per row."""
    what: str
    """"rank", or "thread" where threads of a rank communicate."""
    grouping: str = ""
    """How the locations of a row belong together, as a sentence; empty: they are consecutive."""

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.labels)

    @property
    def folded(self) -> bool:
        """Whether a row stands for several locations."""
        return bool((self.sizes > 1).any())

    @property
    def axis(self) -> str:
        """What the labels of an axis name."""
        what = "rank" if self.what == "rank" else "rank.thread"
        if self.grouping:
            return f"first {what} of a group, and how many more"
        return f"first {what} of a block" if self.folded else what

    @property
    def note(self) -> str:
        """What a reader must know about the folding; empty without it."""
        if self.grouping:
            return self.grouping
        if not self.folded:
            return ""
        total, block = int(self.sizes.sum()), int(self.sizes.max())
        return f"{total:,} {self.what}s are shown as {self.count} blocks of up to {block} consecutive {self.what}s."


@dataclass(frozen=True)
class Columns:
    """Equal bins of time, whole windows each: bin b covers [b, b + 1) * width_ps from begin_ps on."""

    count: int
    per_bin: int
    """Windows in a bin."""
    width_ps: int
    first_window: int = 0
    since_ps: int | None = None
    """When the first bin begins, where that is not with a window; then no table by window can be binned."""

    @property
    def begin_ps(self) -> int:
        """When the first bin begins; ps from the trace's start."""
        if self.since_ps is not None:
            return self.since_ps
        return self.first_window * (self.width_ps // self.per_bin)

    @property
    def length_ps(self) -> int:
        """All bins together."""
        return self.count * self.width_ps

    def binned(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """The rows of a table by window that lie within the bins, with the column bin."""
        number = (pl.col("window") - self.first_window) // self.per_bin
        return table.with_columns(bin=number).filter(pl.col("bin").is_between(0, self.count - 1))

    @functools.cached_property
    def spans(self) -> list[str]:
        """From when to when each bin is, e.g. '1.20–1.25 ms'."""
        factor, unit = time_unit(max(self.begin_ps + self.length_ps, 1))
        places = max(0, 1 - math.floor(math.log10(self.width_ps / factor))) if self.width_ps else 0
        edges = [f"{(self.begin_ps + edge * self.width_ps) / factor:.{places}f}" for edge in range(self.count + 1)]
        return [f"{low}–{high} {unit}" for low, high in itertools.pairwise(edges)]

    @property
    def note(self) -> str:
        """How long a bin is."""
        return f"One column is {time_text(self.width_ps)}."


def rows(locations: pl.DataFrame, cap: int) -> Rows:
    """Fold the accounted locations into at most `cap` rows of equally many consecutive ones.

    Args:
        locations: the run's table of that name.
        cap: the most rows to make.
    """
    known = LocationNames(locations)
    named = {location: known.one(location) for location in locations.filter("accounted")["location"]}
    order = sorted(named, key=lambda location: (named[location].order, location))
    chosen = pl.DataFrame({"location": pl.Series(order, dtype=pl.Int32)}).join(
        locations.select("location", "host"), on="location", how="left", maintain_order="left"
    )
    n = chosen.height
    block = max(1, -(-n // cap))
    row_of = np.arange(n, dtype=np.int32) // block
    hosts = chosen["host"].to_list()
    plain = all(one.thread is None for one in named.values())
    ranked = all(one.rank is not None for one in named.values())
    starts = range(0, n, block)
    ends = [min(n, s + block) - 1 for s in starts]

    def titled(clean: Callable[[str, int], str]) -> tuple[str, ...]:
        places = {host: f" on {clean(host, 40)}" if host else "" for host in set(hosts)}
        return tuple(
            f"{named[order[s]].text}{places[hosts[s]]}" if s == e else _span(named[order[s]], named[order[e]])
            for s, e in zip(starts, ends, strict=True)
        )

    labels = tuple(named[order[s]].short if ranked else named[order[s]].text for s in starts)
    return Rows(
        of=pl.DataFrame({"location": chosen["location"], "row": pl.Series(row_of, dtype=pl.Int32)}),
        labels=labels,
        titles=titled(plotly_text),
        names=titled(visible),
        sizes=np.bincount(row_of, minlength=len(labels)) if n else np.zeros(0, dtype=np.int64),
        what="rank" if plain else "thread",
    )


def _span(first: Named, last: Named) -> str:
    """`ranks 0–7`, `ranks 0.0–3.1`."""
    if first.rank is None or last.rank is None:
        return f"{first.text}–{last.text}"
    return f"ranks {first.short}–{last.short}"


def columns(windows: Windows, cap: int, span: tuple[int, int] | None = None) -> Columns:
    """Fold the run's time windows into at most `cap` bins.

    Args:
        windows: of the run.
        cap: the most bins to make.
        span: begin and end of the time to show, in ps, e.g. `program_span`; None: every window.
    """
    first, last = 0, windows.count - 1
    if span is not None and windows.width_ps:
        first = min(max(span[0] // windows.width_ps, 0), last)
        last = min(max((span[1] - 1) // windows.width_ps, first), last)
    some = last - first + 1
    per_bin = max(1, -(-some // cap))
    return Columns(-(-some // per_bin), per_bin, per_bin * windows.width_ps, first)


def program_span(locations: pl.DataFrame) -> tuple[int, int] | None:
    """When the first location's program begins and the last one's ends, in ps; None without any."""
    spans = locations.filter("accounted").select(pl.col("begin_ps").min(), pl.col("end_ps").max()).row(0)
    return None if spans[0] is None else spans


def time_cube(accounting: pl.LazyFrame, on: Rows, over: Columns) -> np.ndarray:
    """The program's time by (row, bin, category) in ps, float64; categories in the order of `SHOWN`."""
    codes = pl.Series("category", SHOWN, dtype=pl.Enum(list(SHOWN))).to_frame().with_row_index("code").lazy()
    cells = (
        over.binned(program(accounting))
        .with_columns(pl.col("category").cast(pl.Enum(list(SHOWN))))
        .join(on.of.lazy(), on="location")
        .group_by("row", "bin", "category")
        .agg(pl.col("exposed_ps").cast(pl.Float64).sum())
        .join(codes, on="category")
        .collect()
    )
    cube = np.zeros((on.count, over.count, len(SHOWN)))
    cube[cells["row"].to_numpy(), cells["bin"].to_numpy(), cells["code"].to_numpy()] = cells["exposed_ps"].to_numpy()
    return cube
