"""Where B became slower: the category that grew most, the region in which it did, and the rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from logpost.analyzer.compare.repeats.compare import Repeats
from logpost.analyzer.compare.two_runs import GROUPS, REGION_PREFIX, WAIT_STATE_PREFIX
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.program_profile import program_profile
from logpost.analyzer.run.schema import CATEGORIES, WAIT_STATES
from logpost.analyzer.run.undivided import UNDIVIDED, shown
from logpost.analyzer.run.wide import wide_sum
from logpost.analyzer.words.location_names import LocationNames


@dataclass(frozen=True)
class Slowdown:
    """A place that is slower in B; times are means over the runs, in ps."""

    category: str
    region: str
    rank: str
    """`rank 3`, `thread 1 of rank 3`"""
    before_ps: float
    after_ps: float


def slowdown(repeats: Repeats, name: str) -> Slowdown | None:
    """The place that adds most to a quantity of `Comparison.quantity`; None where nothing is slower in B."""
    renames = repeats.comparisons[0].renames
    grown = _growth(
        [_places(run, repeats.undivided, renames) for run in repeats.before],
        [_places(run, repeats.undivided, {}) for run in repeats.after],
    )
    if name.startswith(REGION_PREFIX):
        region = name.removeprefix(REGION_PREFIX)
        grown = grown.filter(pl.col("region") == renames.get(region, region))
    elif (parts := _categories(name)) is not None:
        grown = grown.filter(pl.col("category").is_in(parts))
    for column in ("category", "region"):
        sums = grown.group_by(column).agg(pl.col("growth").sum()).sort("growth", column, descending=[True, False])
        if sums.is_empty() or sums["growth"][0] <= 0:
            return None
        grown = grown.filter(pl.col(column) == sums[column][0])
    worst = grown.sort("growth", "rank", descending=[True, False]).row(0, named=True)
    return Slowdown(worst["category"], worst["region"], worst["rank"], worst["before"], worst["after"])


def _categories(name: str) -> list[str] | None:
    """The categories that a quantity consists of; None: all of a rank's time."""
    name = name.removeprefix(WAIT_STATE_PREFIX)
    if name in WAIT_STATES:
        return [name if name in CATEGORIES else "collective_wait"]
    members = GROUPS.get(name, (name,))
    return [*members, UNDIVIDED] if set(members) <= {*CATEGORIES, UNDIVIDED} else None


def _places(run: Run, undivided: Sequence[str], renames: Mapping[str, str]) -> pl.DataFrame:
    """(category, region, rank) and the time of the program there, own time of user regions as compute."""
    regions = run.facts("regions").select("region", pl.col("name").replace(dict(renames)), "kind")
    named = run.facts("callpaths").join(regions, on="region", how="left").select("callpath", region="name", kind="kind")
    every = run.facts("locations").collect()
    names = LocationNames(every)
    located = every.filter("accounted")["location"]
    ranks = pl.LazyFrame({"location": located, "rank": [names[location] for location in located]})
    calls = shown(program(run.table("exposure")), undivided).select("location", "callpath", "category", "exposed_ps")
    compute = (
        program_profile(run.table)
        .lazy()
        .select(
            "location",
            "callpath",
            pl.lit("compute").cast(calls.collect_schema()["category"]).alias("category"),
            exposed_ps="exclusive_ps",
        )
    )
    return (
        pl.concat([calls, compute])
        .join(named, on="callpath")
        .join(ranks, on="location")
        .group_by(pl.col("category").cast(pl.String), "region", "rank")
        .agg(wide_sum("exposed_ps"))
        .collect()
    )


def _growth(before: Sequence[pl.DataFrame], after: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """(category, region, rank) with the mean over the runs `before` and `after`, and the difference `growth`."""
    keys = ["category", "region", "rank"]
    means = [
        pl.concat(runs).group_by(keys).agg((wide_sum("exposed_ps") / len(runs)).alias(name))
        for runs, name in ((before, "before"), (after, "after"))
    ]
    both = means[0].join(means[1], on=keys, how="full", coalesce=True, nulls_equal=True)
    return both.with_columns(pl.col("before", "after").fill_null(0.0)).with_columns(
        growth=pl.col("after") - pl.col("before")
    )
