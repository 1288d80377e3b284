"""The calling-context tree of a selection: the time of each call path, with what it calls."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from logpost.analyzer.run.phases import program_ps
from logpost.analyzer.run.sampled_profile import sampled_profile
from logpost.analyzer.run.wide import WIDE, wide_sum
from logpost.dashboards.selection.selected_run import SelectedRun


def tree(scoped: SelectedRun, *, start_up: bool = False) -> pl.DataFrame:
    """callpath, parent, name, time_ps (inclusive, over the selected ranks) and samples, parents before children.

    Without a stretch of time from the profile, which knows every region, and for functions that only samples know, from
    these; in one from the communication calls alone, because single events of user regions are not kept.

    Args:
        scoped: a run and a selection.
        start_up: with the calls that start up and shut down, and what callers spend before and after the program.
    """
    names = scoped.run.table("regions").select("region", "name")
    paths = scoped.run.table("callpaths").join(names, on="region", how="left").sort("callpath")
    nodes = paths.select("callpath", "parent", pl.col("name").fill_null("?")).collect()
    if not scoped.selection.timed:
        here = scoped.run.table("profile").filter(pl.col("location").is_in(scoped.locations["location"].implode()))
        times = here.group_by("callpath").agg(time_ps=wide_sum("inclusive_ps")).collect()
        found = dict(times.iter_rows())
        sampled = sampled_profile(scoped.run.table).filter(
            pl.col("location").is_in(scoped.locations["location"].implode())
        )
        estimated = sampled.group_by("callpath").agg(pl.col("samples").sum(), own_ps=wide_sum("exclusive_ps"))
        own = dict(estimated.select("callpath", "own_ps").iter_rows())
        # Frames that a recorder took from the stack have no recorded visits: they are as long as what they call, and
        # what samples say that they do themselves.
        whole = _timed(nodes, found, lambda path, time, called: max(time, called + int(own.get(path, 0))))
        whole = _with_samples(whole, dict(estimated.select("callpath", "samples").iter_rows()), recorded=set(found))
        return whole if start_up else _program(scoped, whole)
    own = dict(scoped.by_callpath.group_by("callpath").agg(wide_sum("exposed_ps")).iter_rows())
    return _with_samples(_timed(nodes, own, lambda _path, mine, called: mine + called), {}, recorded=set())


def _with_samples(nodes: pl.DataFrame, samples: dict[int, int], *, recorded: set[int]) -> pl.DataFrame:
    """The nodes with the number of samples that their time is estimated by, what they call included; 0: it is
    recorded."""
    counts = {path: samples.get(path, 0) for path in nodes["callpath"]}
    for path, parent in reversed(list(nodes.select("callpath", "parent").iter_rows())):
        if parent in counts:
            counts[parent] += counts[path]
    shown = [0 if path in recorded else counts[path] for path in nodes["callpath"]]
    return nodes.with_columns(samples=pl.Series(shown, dtype=pl.Int64))


def _program(scoped: SelectedRun, nodes: pl.DataFrame) -> pl.DataFrame:
    """The nodes without the calls that start up and shut down; none of the rest is longer than the program."""
    start_up = scoped.run.table("regions").filter(pl.col("kind") == "init_finalize").select("region")
    hidden = set(scoped.run.table("callpaths").join(start_up, on="region", how="semi").collect()["callpath"])
    most = int(scoped.locations.select(program_ps().sum()).item())
    rows = {path: (parent, time) for path, parent, time in nodes.select("callpath", "parent", "time_ps").iter_rows()}
    outside = dict.fromkeys(rows, 0)
    for path in hidden & rows.keys():
        time = rows[path][1]
        while path in rows:
            outside[path] += time
            path = rows[path][0]
    times = [min(max(time - outside[path], 0), most) for path, (_, time) in rows.items()]
    return nodes.with_columns(time_ps=pl.Series(times, dtype=WIDE)).filter(~pl.col("callpath").is_in(hidden))


def _timed(nodes: pl.DataFrame, own: dict[int, int], joined: Callable[[int, int, int], int]) -> pl.DataFrame:
    """The nodes with time_ps: a call path's own time joined with the sum of those it calls."""
    called = dict.fromkeys(nodes["callpath"].to_list(), 0)
    time = {}
    for callpath, parent in reversed(list(nodes.select("callpath", "parent").iter_rows())):
        time[callpath] = joined(callpath, int(own.get(callpath, 0)), called[callpath])
        if parent in called:
            called[parent] += time[callpath]
    return nodes.with_columns(time_ps=pl.Series([time[callpath] for callpath in nodes["callpath"]], dtype=WIDE))
