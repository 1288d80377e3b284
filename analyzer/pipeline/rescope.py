"""Restrict a run to a region of interest: recompute its aggregates from its tables, without the archive."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import polars as pl

from logpost.analyzer.findings.find import find_all
from logpost.analyzer.pipeline.resplit import Resplit, Times
from logpost.analyzer.pipeline.tables.analysis import aggregates
from logpost.analyzer.pipeline.tables.ideal_network import ideal_network
from logpost.analyzer.pipeline.tables.threads import thread_frame
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.faults import Faults
from logpost.analyzer.run.manifest import Interest
from logpost.analyzer.run.roi import RegionOfInterest
from logpost.analyzer.run.schema import TABLES
from logpost.analyzer.run.within import within
from logpost.errors import InputError


class RescopedRun(Run):
    """A run whose accounting, exposure, load, pairs, wait states and program bounds are those of a region of interest,
    whose messages, calls and collectives are those in it, and whose findings are found in these."""

    def __init__(self, run: Run, frames: dict[str, pl.DataFrame], roi: RegionOfInterest) -> None:
        interest = Interest(**asdict(roi))
        super().__init__(run.path, run.manifest.model_copy(update={"region_of_interest": interest}))
        self.roi = roi
        self.frames = frames
        """the tables that were computed anew"""

    def table(self, name: str) -> pl.LazyFrame:
        """One table, lazily, as far as it is in the region of interest."""
        if name == "findings" and name not in self.frames:
            tables = {table: self.table(table) for table in TABLES if table != name}
            faults = Faults(self.manifest.faults, reads=self.path)
            self.frames[name] = find_all(tables, self.manifest, self, faults=faults)
            self.manifest = self.manifest.model_copy(update={"faults": faults.found})
        if name in self.frames:
            return self.frames[name].lazy()
        return within(self.facts(name), name, self.frames["locations"].lazy())


def rescope(run: Run, roi: RegionOfInterest, faults: Faults | None = None) -> RescopedRun:
    """The run through a region of interest.

    Arguments:
        run: the whole.
        roi: the region.
        faults: collects what fails; None: those of the run.

    Raises:
        InputError: the region does not exist, is empty, or cannot be derived from the run.
    """
    locations = run.facts("locations").sort("location").collect()
    begin, end = spans(run, roi, locations)
    analysis = Resplit(run).under(begin_ps=begin, end_ps=end)
    frames = aggregates(analysis, analysis.delay_costs())
    interest = analysis.interest()
    frames["locations"] = locations.with_columns(
        begin_ps=pl.Series(interest["begin_ps"]), end_ps=pl.Series(interest["end_ps"])
    )
    frames["threads"] = thread_frame(
        run.facts("thread_spans").collect(), run.facts("calls"), locations, frames["locations"]
    )
    faults = faults or Faults(run.manifest.faults, reads=run.path)
    frames["ideal_network"] = faults.table("ideal_network", lambda: ideal_network(run, frames["locations"]))
    known = Run(run.path, run.manifest.model_copy(update={"faults": faults.found}))
    return RescopedRun(known, frames, roi)


def name_of(run: Run) -> str:
    """What people call it: the archive. A run that is being written has no name of its own yet."""
    return run.manifest.source.anchor


def spans(run: Run, roi: RegionOfInterest, locations: pl.DataFrame) -> tuple[Times, Times]:
    """Begin and end of the region of interest on every location; the end before the begin where there is nothing."""
    begin = locations["begin_ps"].to_numpy().copy()
    end = locations["end_ps"].to_numpy().copy()
    if roi.from_ps is not None:
        begin = np.maximum(begin, roi.from_ps)
    if roi.to_ps is not None:
        end = np.minimum(end, roi.to_ps)
    if roi.region is not None:
        first, last = _region(run, roi.region, locations.height)
        begin, end = np.maximum(begin, first), np.minimum(end, last)
    if roi.pcontrol is not None:
        first, last = _detail_level(run, roi.pcontrol, locations)
        begin, end = np.maximum(begin, first), np.minimum(end, last)
    program = locations.select(pl.col("begin_ps").min(), pl.col("end_ps").max()).row(0)
    if not (begin < end)[locations["accounted"].to_numpy()].any():
        raise InputError(
            f"{name_of(run)}: the region of interest is empty; its program lasts from "
            f"{program[0] * 1e-12:.9g} to {program[1] * 1e-12:.9g} s"
        )
    return begin, np.maximum(begin, end)


def _region(run: Run, name: str, locations: int) -> tuple[Times, Times]:
    """First enter and last leave of a region on every location."""
    regions = run.facts("regions").filter(pl.col("name") == name).select("region")
    if regions.collect().is_empty():
        raise InputError(f"{name_of(run)}: unknown region {name!r}; `logpost report` lists the places in the code")
    spans = (
        run.facts("region_spans")
        .join(regions, on="region", how="semi")
        .group_by("location")
        .agg(pl.col("first_enter_ps").min(), pl.col("last_leave_ps").max())
        .collect()
    )
    if spans.is_empty():
        raise InputError(f"{name_of(run)}: {name} is never entered; name another region, or choose by time (from, to)")
    return _bounds(spans["location"], spans["first_enter_ps"], spans["last_leave_ps"], locations)


def _detail_level(run: Run, level: int, locations: pl.DataFrame) -> tuple[Times, Times]:
    """From the first call that sets a level of detail to the end of the last time that it holds, on every location."""
    levels = run.facts("detail_levels").sort("location", "enter_ps", maintain_order=True).collect()
    if levels.is_empty():
        raise InputError(
            f"{name_of(run)}: the trace holds no MPI_Pcontrol with a level; choose by time (from, to) or by region"
        )
    ends = pl.col("enter_ps").shift(-1).over("location")
    spans = (
        levels.join(locations.select("location", "last_ps"), on="location")
        .with_columns(end_ps=pl.coalesce(ends, "last_ps"))
        .filter(pl.col("level") == level)
        .group_by("location")
        .agg(pl.col("enter_ps").min(), pl.col("end_ps").max())
    )
    if spans.is_empty():
        known = ", ".join(map(str, levels["level"].unique().sort()))
        raise InputError(f"{name_of(run)}: no MPI_Pcontrol sets level {level}; the levels are {known}")
    return _bounds(spans["location"], spans["enter_ps"], spans["end_ps"], locations.height)


def _bounds(location: pl.Series, begin_ps: pl.Series, end_ps: pl.Series, locations: int) -> tuple[Times, Times]:
    """By location; the end before the begin where there is nothing."""
    begin = np.full(locations, np.iinfo(np.int64).max)
    end = np.full(locations, np.iinfo(np.int64).min)
    begin[location.to_numpy()] = begin_ps.to_numpy()
    end[location.to_numpy()] = end_ps.to_numpy()
    return begin, end
