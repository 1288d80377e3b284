"""The runs that the dashboard was given, by name, and what was computed of them."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from logpost.analyzer.compare.same_program import path_times, same_program
from logpost.analyzer.report.build import build
from logpost.analyzer.report.data import Report
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.wide import wide_sum
from logpost.dashboards.app.figure_cache import FigureCache
from logpost.dashboards.app.jobs import Jobs
from logpost.dashboards.report.sites import finding_sites
from logpost.dashboards.selection.selected_run import SelectedRun
from logpost.dashboards.selection.selection import Selection
from logpost.errors import InputError
from logpost.machines import library_names, load_machine
from logpost.machines.parameters.verbs import verbs


class Opened:
    """One run with what does not depend on a selection."""

    def __init__(self, name: str, run: Run) -> None:
        self.name, self.run = name, run

    @functools.cached_property
    def report(self) -> Report:
        """The report of the whole run."""
        return build(self.run)

    @functools.cached_property
    def sites(self) -> dict[int, str]:
        """Number of a finding to its call site."""
        return finding_sites(self.run)

    @functools.cached_property
    def paths(self) -> list[tuple[int, str]]:
        """Every call path with its text, the most expensive first."""
        cost = self.run.table("profile").group_by("callpath").agg(wide_sum("inclusive_ps"))
        known = self.run.table("callpaths").select("callpath", "path").join(cost, on="callpath", how="left")
        rows = known.sort(pl.col("inclusive_ps").fill_null(0), "callpath", descending=[True, False])
        return list(rows.select("callpath", "path").collect().iter_rows())

    @functools.cached_property
    def path_times(self) -> dict[str, int]:
        """Its call paths, as region names from the root, with the time spent in each; ps."""
        return path_times(self.run)

    @functools.cached_property
    def finding_callpaths(self) -> list[int]:
        """Number of a finding to its callpath; -1: several."""
        return self.run.table("findings").select("callpath").collect()["callpath"].to_list()


class Runs:
    """All runs; safe to use from several threads."""

    def __init__(
        self, paths: Sequence[str | os.PathLike[str]], machines: Sequence[str | os.PathLike[str]] = ()
    ) -> None:
        """Open every run; a page that needs a damaged table says so, the others are shown.

        Args:
            paths: run directories.
            machines: files of machines in addition to those of the library; what-if offers them by their file's name.

        Raises:
            InputError: one of them is none.
        """
        self.own_machines = {Path(path).stem: Path(path) for path in machines}
        for file in self.own_machines.values():
            load_machine(file)
        self.jobs, self.figures = Jobs(), FigureCache()
        self._opened: dict[str, Opened] = {}
        for path in paths:
            name = self._named(Path(path))
            self._opened[name] = Opened(name, Run.open(path, whole=False))
        self._lock = threading.Lock()
        self._scoped: dict[tuple[str, Selection], SelectedRun] = {}

    @property
    def names(self) -> list[str]:
        """In the order in which they were given."""
        return list(self._opened)

    def __getitem__(self, name: str) -> Opened:
        """The run of this name; the first one without a name.

        Raises:
            InputError: there is none.
        """
        if not name:
            return next(iter(self._opened.values()))
        if name not in self._opened:
            raise InputError(f"no run is called {name[:80]}; this dashboard shows {', '.join(self._opened)}")
        return self._opened[name]

    def of_same_program(self, name: str) -> list[str]:
        """The other runs of this run's program, in the order in which they were given; a damaged one is none."""
        mine = self[name].path_times
        found = []
        for other in self._opened.values():
            try:
                if other.name != self[name].name and same_program(mine, other.path_times):
                    found.append(other.name)
            except Exception:  # its own page says what is wrong with it
                continue
        return found

    @functools.cached_property
    def replaying(self) -> list[str]:
        """Names of the machines that state all that a replay needs, those that were given first."""
        library = [name for name in library_names() if not verbs(load_machine(name))["analyze"]]
        return [*self.own_machines, *(name for name in library if name not in self.own_machines)]

    def machine(self, name: str) -> str | Path:
        """The machine of this name, as `Ask` takes it: one that was given, else the library's; never a path of a URL.

        Raises:
            InputError: there is none.
        """
        if name in self.own_machines:
            return self.own_machines[name]
        if name in library_names():
            return name
        raise InputError(
            f"{name[:60]} is no machine of the library; `logpost machines list` lists them, and `logpost dashboard "
            "--machine FILE` adds one"
        )

    def scoped(self, name: str, selection: Selection) -> SelectedRun:
        """The run through the selection; the latest ones are kept."""
        opened = self[name]
        key = (opened.name, selection)
        with self._lock:
            found = self._scoped.pop(key, None) or SelectedRun(opened.run, selection)
            self._scoped[key] = found
            while len(self._scoped) > 24:
                del self._scoped[next(iter(self._scoped))]
        return found

    def _named(self, path: Path) -> str:
        """The directory's name; with as much of its parents, or a number, as distinguishes it from the others."""
        parts = [part for part in path.resolve().parts if part != "/"] or ["run"]
        for count in range(1, len(parts) + 1):
            name = "/".join(parts[-count:])
            if name not in self._opened:
                return name
        return f"{parts[-1]} ({len(self._opened) + 1})"
