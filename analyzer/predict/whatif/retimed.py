"""A run's facts with the times of a replay: what the analysis of the predicted program reads.

A call's enter and leave are the replay's. Any other moment lies between two of them, as far along as it was recorded.
A user region's own time is scaled by the factor of its computation; a communication call's is that of its calls.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.pipeline.warped import Times, warped
from logpost.analyzer.run.directory import Run
from logpost.analyzer.words.teams import teams
from logpost.replay.graph import Outcome, Scenario


class Retimed(Run):
    """The run, whose facts have the predicted times. Only what the archive gave: split times stay the recorded ones."""

    def __init__(self, run: Run, scenario: Scenario, times: tuple[Times, Times], outcome: Outcome) -> None:
        super().__init__(run.path, run.manifest)
        self._locations = run.facts("locations").sort("location").collect()
        self._scenario = scenario
        columns = ("call", "location", "region", "callpath", "enter_ps", "leave_ps")
        calls = run.facts("calls").select(columns).sort("call").collect()
        followed = calls["location"].is_in(self._locations.filter("accounted")["location"].implode()).to_numpy()
        self._recorded = calls
        self._enter, self._leave = (calls[name].to_numpy().copy() for name in ("enter_ps", "leave_ps"))
        self._enter[followed], self._leave[followed] = times
        accounted = self._locations["accounted"].to_numpy()
        ends = np.where(accounted, outcome.ends_ps, self._locations["last_ps"].to_numpy())
        self._last = np.where(accounted & (ends > 0), ends, self._locations["last_ps"].to_numpy())
        self._first_call = np.searchsorted(calls["location"].to_numpy(), np.arange(self._locations.height + 1))
        self._made = {
            "locations": self._with_ends(),
            "calls": calls.with_columns(enter_ps=pl.Series(self._enter), leave_ps=pl.Series(self._leave)),
            "collectives": self._collectives(run),
            "epochs": self._warped(run, "epochs", "acquired_ps"),
            "detail_levels": self._warped(run, "detail_levels", "enter_ps"),
            "samples": self._warped(run, "samples", "at_ps"),
            "file_calls": self._warped(run, "file_calls", "enter_ps", "leave_ps"),
            "region_spans": self._warped(run, "region_spans", "first_enter_ps", "last_leave_ps"),
            "profile": self._profile(run),
            "thread_spans": self._thread_spans(run),
        }

    def facts(self, name: str) -> pl.LazyFrame:
        """The table with predicted times, where it holds any that the archive gave."""
        return self._made[name].lazy() if name in self._made else super().facts(name)

    def replace(self, name: str, table: pl.DataFrame) -> None:
        """Take another table in place of one."""
        self._made[name] = table

    def _with_ends(self) -> pl.DataFrame:
        last = pl.Series(self._last)
        return self._locations.with_columns(last_ps=last, wall_ps=last - self._locations["first_ps"])

    def _collectives(self, run: Run) -> pl.DataFrame:
        """An operation begins with its call and ends with the one that completes it, where it did so when recorded."""
        rows = self._warped(run, "collectives", "enter_ps", "leave_ps")
        was = run.facts("collectives").select("enter_ps", "leave_ps").collect()
        for column, by, recorded, now in (
            ("enter_ps", "call", "enter_ps", self._enter),
            ("leave_ps", "complete_call", "leave_ps", self._leave),
        ):
            calls = rows[by].to_numpy()
            known = calls >= 0
            same = np.zeros(len(calls), dtype=bool)
            same[known] = self._recorded[recorded].to_numpy()[calls[known]] == was[column].to_numpy()[known]
            moved = rows[column].to_numpy().copy()
            moved[same] = now[calls[same]]
            rows = rows.with_columns(pl.Series(column, moved))
        return rows

    def _warped(self, run: Run, table: str, *columns: str) -> pl.DataFrame:
        """Other moments. Negative ones stand for none."""
        rows = run.facts(table).collect()
        of = rows["location"].to_numpy()
        for column in columns:
            moments = rows[column].to_numpy().copy()
            for location in np.unique(of[moments >= 0]).tolist():
                mine = (of == location) & (moments >= 0)
                moments[mine] = self._warp(location, moments[mine])
            rows = rows.with_columns(pl.Series(column, moments))
        return rows

    def _thread_spans(self, run: Run) -> pl.DataFrame:
        """Threads move with the first one of their process, whose parallel regions they work in."""
        rows = run.facts("thread_spans").collect()
        first = teams(rows["location"], self._locations).select("location", "first")
        whose = (
            rows.select("location").join(first, on="location", how="left", maintain_order="left")["first"].to_numpy()
        )
        for column in ("begin_ps", "end_ps"):
            moments = rows[column].to_numpy().copy()
            for location in np.unique(whose).tolist():
                moments[whose == location] = self._warp(location, moments[whose == location])
            rows = rows.with_columns(pl.Series(column, moments))
        return rows

    def _warp(self, location: int, moments: Times) -> Times:
        """Moments on a location, from recorded to predicted time."""
        mine = slice(int(self._first_call[location]), int(self._first_call[location + 1]))
        row = self._locations.row(location, named=True)
        was, now = (
            np.concatenate([[row["first_ps"]], np.stack([enter, leave], axis=1).ravel(), [last]])
            for enter, leave, last in (
                (
                    self._recorded["enter_ps"].to_numpy()[mine],
                    self._recorded["leave_ps"].to_numpy()[mine],
                    row["last_ps"],
                ),
                (self._enter[mine], self._leave[mine], int(self._last[location])),
            )
        )
        return warped(was, now, moments)

    def _profile(self, run: Run) -> pl.DataFrame:
        """Visits stay. The own time of user regions follows their factor, that of calls the calls; sums go up the
        tree."""
        paths = run.facts("callpaths").sort("callpath").select("parent").collect()["parent"].to_numpy()
        rows = run.facts("profile").collect()
        at, where = rows["callpath"].to_numpy(), rows["location"].to_numpy()
        own = rows["exclusive_ps"].to_numpy()
        called = np.zeros((len(paths), self._locations.height), dtype=np.int64)
        happened = called.copy()
        key = (self._recorded["callpath"].to_numpy(), self._recorded["location"].to_numpy())
        longer = (self._leave - self._enter) - (self._recorded["leave_ps"] - self._recorded["enter_ps"]).to_numpy()
        np.add.at(called, key, longer)
        np.add.at(happened, key, 1)
        of_calls = _below(happened > 0, paths)
        moved = np.where(of_calls[at, where], np.maximum(own + called[at, where], 0), self._scaled(own, at, where))
        gained = np.zeros_like(called)
        gained[at, where] = moved - own
        for path in range(len(paths) - 1, -1, -1):  # parents are before children
            if paths[path] >= 0:
                gained[paths[path]] += gained[path]
        return rows.with_columns(
            exclusive_ps=pl.Series(moved), inclusive_ps=rows["inclusive_ps"] + pl.Series(gained[at, where])
        )

    def _scaled(self, own: Times, at: npt.NDArray[np.int32], where: npt.NDArray[np.int32]) -> Times:
        one = self._scenario
        factor = np.full(len(own), one.compute)
        if one.by_location is not None:
            factor *= one.by_location[where]
        if one.by_callpath is not None:
            factor *= one.by_callpath[at]
        return np.where(factor == 1.0, own, np.rint(own * factor)).astype(np.int64)


def _below(here: npt.NDArray[np.bool_], parents: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Also the callpaths within those."""
    found: npt.NDArray[np.bool_] = here.copy()
    for path in range(len(parents)):
        if parents[path] >= 0:
            found[path] |= found[parents[path]]
    return found
