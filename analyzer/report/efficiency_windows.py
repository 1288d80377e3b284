"""POP's efficiencies over time: those of `efficiencies`, of stretches of the program.

In a stretch u_i is what rank i computes there, and T the time that the rank with most of the program in it has there.
Ranks that wait for one another arrive last one after another, so a stretch needs to be longer than what they do between
two waits: time windows are joined until there are no more than requested. T_ideal is the time of the slowest rank for
    the same stretch of its program on an ideal network (`ideal_network`); it may be longer than T where a rank that was
    ahead waits there instead, and transfer is then above 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from logpost.analyzer.run.manifest import Windows
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.wide import wide_sum, wide_sum_of

STRETCHES = 50
"""Most stretches of a program: a fiftieth of it is worth a look, and wide enough to be seen."""
INSIDE = 0.5
"""A stretch has efficiencies if the ranks are in the program for this part of it at least, in the mean."""


@dataclass(frozen=True)
class Stretch:
    """A part of the program with its efficiencies: fractions of 1, None where nothing computes."""

    begin_ps: int
    end_ps: int
    parallel_efficiency: float
    load_balance: float | None
    communication_efficiency: float
    serialization: float | None
    """None too where there is no replay on an ideal network"""
    transfer: float | None
    whole: bool
    """whether most ranks are in the program for most of it"""


def by_stretch(
    accounting: pl.LazyFrame, ideal: pl.LazyFrame, windows: Windows, ranks: int, most: int = STRETCHES
) -> tuple[Stretch, ...]:
    """The stretches of a program in which any rank spends time, in order.

    Arguments:
        accounting: the table, of the accounted locations.
        ideal: the table `ideal_network`; may be without rows.
        windows: its time windows.
        ranks: accounted locations; one without time in a stretch computes nothing there.
        most: stretches that the program is divided into, about; fewer where its time windows are fewer.
    """
    some = program(accounting).filter(pl.col("exposed_ps") > 0)
    first, last = some.select(pl.col("window").min(), pl.col("window").max().alias("last")).collect().row(0)
    if first is None:
        return ()
    joined = max(1, -(-(last - first + 1) // most))
    longest_ideal = (
        ideal.group_by("location", stretch=pl.col("window") // joined)
        .agg(wide_sum("ideal_ps"))
        .group_by("stretch")
        .agg(ideal=pl.col("ideal_ps").max())
    )
    times = (
        # Of one location 64 bits hold the sum, which takes a third of the time.
        some.group_by("location", stretch=pl.col("window") // joined)
        .agg(
            time=pl.col("exposed_ps").sum(),
            useful=pl.when(pl.col("category").cast(pl.String) == "compute").then("exposed_ps").otherwise(0).sum(),
        )
        .group_by("stretch")
        .agg(
            pl.col("time").max().alias("longest"),
            wide_sum_of(pl.col("time")).alias("all"),
            pl.col("useful").max().alias("most"),
            wide_sum("useful"),
        )
        .filter(pl.col("longest") > 0)
        .join(longest_ideal, on="stretch", how="left")
        .sort("stretch")
        .collect()
    )
    width = joined * windows.width_ps
    return tuple(
        Stretch(
            begin_ps=stretch * width,
            end_ps=(stretch + 1) * width,
            parallel_efficiency=useful / max(1, ranks) / longest,
            load_balance=useful / max(1, ranks) / top if top else None,
            communication_efficiency=top / longest,
            serialization=top / unhindered if top and unhindered else None,
            transfer=unhindered / longest if unhindered else None,
            whole=every >= INSIDE * max(1, ranks) * width,
        )
        for stretch, longest, every, top, useful, unhindered in times.iter_rows()
    )


def ideal_runtime(ideal: pl.LazyFrame) -> int | None:
    """The slowest rank's time for its program on an ideal network in ps; None where that was not replayed."""
    longest = ideal.group_by("location").agg(wide_sum("ideal_ps")).select(pl.col("ideal_ps").max())
    found: int | None = longest.collect().item()
    return found


def lowest(stretches: Sequence[Stretch]) -> Stretch | None:
    """The one with the lowest parallel efficiency, of those that most ranks are in; None where there are not two."""
    inside = [one for one in stretches if one.whole]
    return min(inside, key=lambda one: (one.parallel_efficiency, one.begin_ps)) if len(inside) > 1 else None
