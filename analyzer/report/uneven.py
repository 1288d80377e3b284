"""How unevenly the ranks compute, and where most: in a user region, else in the code before a communication call."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from logpost.analyzer.report.data import RankTime, Uneven
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.program_profile import program_profile
from logpost.analyzer.run.wide import wide_sum
from logpost.analyzer.words.labels import folded
from logpost.analyzer.words.location_names import Location, LocationNames


def uneven(run: Run, ranks: Sequence[RankTime]) -> Uneven | None:
    """Of the program; None where there are not two ranks, or none computes."""
    most = max((rank.compute_ps for rank in ranks), default=0)
    if len(ranks) < 2 or most == 0:
        return None
    mean = sum(rank.compute_ps for rank in ranks) / len(ranks)
    locations = run.table("locations").collect()
    accounted = int(locations["accounted"].sum())
    times = _by_region(run)
    if times["region"].n_unique() < 2:  # a region that encloses everything names no place
        times = _before_calls(run)
    beyond = (
        times.with_columns(mean_ps=pl.col("spent_ps").sum().over("region") / accounted)
        .with_columns(beyond_ps=pl.col("spent_ps") - pl.col("mean_ps"))
        .sort("beyond_ps", "region", "location", descending=[True, False, False])
    )
    if beyond.is_empty():
        return None
    region, location, beyond_ps = beyond.select("region", "location", "beyond_ps").row(0)
    name = LocationNames(locations)[Location(location)]
    return Uneven(mean / most, folded(region), name, round(beyond_ps))


def _by_region(run: Run) -> pl.DataFrame:
    """(region, location, spent_ps) of user regions."""
    rows = program_profile(run.table).filter(pl.col("exclusive_ps") > 0)
    named = rows.join(_names(run).collect(), on="callpath").group_by("region", "location")
    return named.agg(spent_ps=wide_sum("exclusive_ps").cast(pl.Float64))


def _before_calls(run: Run) -> pl.DataFrame:
    """(region, location, spent_ps) of the computation before the calls of each region."""
    return (
        program(run.table("path_profile"))
        .filter(pl.col("category").cast(pl.String) == "compute")
        .join(_names(run), on="callpath", how="left")
        .with_columns(region=pl.format("code before {}", "region").fill_null("code after the last call"))
        .group_by("region", "location")
        .agg(spent_ps=wide_sum("spent_ps").cast(pl.Float64))
        .collect()
    )


def _names(run: Run) -> pl.LazyFrame:
    """Call path to the name of its region."""
    names = run.table("regions").select("region", "name")
    return run.table("callpaths").join(names, on="region", how="left").select("callpath", region="name")
