"""The own time of functions that samples were taken in, estimated; recorded regions have theirs in the profile.

The own time of a recorded user region on a location is divided among the functions in which its samples there are, and
itself, in proportion to their periods: k of n samples, each of one period, are k / n of the time, with a standard error
of sqrt(k (n - k) / n) / n. What rounding leaves belongs to the region, so all parts add up to its own time exactly.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl


def sampled_profile(table: Callable[[str], pl.LazyFrame]) -> pl.DataFrame:
    """(callpath, location, region_callpath, samples, exclusive_ps) of functions that no Enter was recorded of.

    Arguments:
        table: the tables of a run by name.

    `region_callpath` is that of the recorded region whose time it is a part of. Functions without a recorded region
    around them have no time to divide, and are left out.
    """
    taken = table("samples").group_by("location", "callpath").agg(pl.col("periods").sum(), samples=pl.len()).collect()
    if taken.is_empty():
        empty = {"callpath": pl.Int32(), "location": pl.Int32(), "region_callpath": pl.Int32()}
        return pl.DataFrame(schema={**empty, "samples": pl.UInt32(), "exclusive_ps": pl.Int64()})
    parents = dict(table("callpaths").select("callpath", "parent").collect().iter_rows())
    recorded = table("profile").select("callpath", "location", "exclusive_ps").collect()
    known = set(recorded.select("callpath", "location").iter_rows())
    around = []
    for location, callpath in taken.select("location", "callpath").iter_rows():
        at = callpath
        while at >= 0 and (at, location) not in known:
            at = parents[at]
        around.append(at)
    whole = recorded.rename({"callpath": "region_callpath", "exclusive_ps": "whole_ps"})
    return (
        taken.with_columns(region_callpath=pl.Series(around, dtype=pl.Int32))
        .with_columns(of=pl.col("periods").sum().over("location", "region_callpath"))
        .join(whole, on=["region_callpath", "location"])
        .filter(pl.col("callpath") != pl.col("region_callpath"))
        .with_columns(exclusive_ps=(pl.col("whole_ps") / pl.col("of") * pl.col("periods")).floor().cast(pl.Int64))
        .select("callpath", "location", "region_callpath", "samples", "exclusive_ps")
        .sort("callpath", "location")
    )
