"""A run through a selection: the part of each table within it, and every figure's rows and columns.

Times of a stretch come from the accounting where it consists of whole windows of the run, from the table `time_cells`
where of whole cells of it, and at its two ends from the calls, each counted for the part of it that lies within. Those
of a call path come from the table `exposure`; in a stretch of time, from its calls.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.schema import CATEGORIES, PARTS, THREAD_CATEGORIES, TRANSFER_PARTS
from logpost.analyzer.run.undivided import SHOWN, shown, shown_as
from logpost.analyzer.run.wide import WIDE, wide_sum, wide_sum_of
from logpost.analyzer.words.location_names import LocationNames, Named, owners
from logpost.analyzer.words.teams import teams
from logpost.dashboards.figures.folding import Columns, Rows, columns, program_span, rows, time_cube
from logpost.dashboards.selection.behaviour import grouped_rows
from logpost.dashboards.selection.cells import Cells
from logpost.dashboards.selection.occupancy import occupancy, with_compute
from logpost.dashboards.selection.queues import queues
from logpost.dashboards.selection.selection import Selection
from logpost.errors import InputError

Cube = npt.NDArray[np.float64]
FEW_BINS = 48
"""Windows fewer than this are too coarse a picture of a selection: then cells or the calls are read."""
MANY_RANKS = 500
"""From here on a cell is of several ranks and only windows distinguish them: selections have whole windows."""
FEW_WINDOWS = 4
MOST_CALLS = 1_000_000
"""Calls that are read for one picture, where windows give a coarser one."""


class SelectedRun:
    """A run and a selection of it; each result is computed once."""

    def __init__(self, run: Run, selection: Selection) -> None:
        self.run = run
        self.selection = selection
        self._rows: dict[int, Rows] = {}
        self._behaving: dict[int, Rows] = {}
        self._calls_in: dict[int, int] = {}

    @functools.cached_property
    def every_location(self) -> pl.DataFrame:
        """The run's table of that name."""
        return self.run.table("locations").collect()

    @functools.cached_property
    def locations(self) -> pl.DataFrame:
        """The accounted locations in the selection.

        Raises:
            InputError: there is none.
        """
        found = self.every_location.filter("accounted")
        if self.selection.ranks:
            first, last = np.array(self.selection.ranks, dtype=np.int64).T
            ranks = self.owners.gather(found["location"]).to_numpy()
            # Spans are sorted by their first rank; they may overlap.
            before = np.searchsorted(first, ranks, side="right") - 1
            found = found.filter((before >= 0) & (ranks <= np.maximum.accumulate(last)[before]))
        if found.is_empty():
            known = self.owners.filter(self.every_location["accounted"]).max()
            last = f"; the last rank is {known}" if known is not None else ""
            raise InputError(f"no rank of the run is in the selection (ranks {self.selection.ranks_text}){last}")
        return found

    @functools.cached_property
    def owners(self) -> pl.Series:
        """By location: the rank of its process; -1: that has none."""
        return owners(self.every_location).fill_null(-1)

    @functools.cached_property
    def names(self) -> LocationNames:
        """What people call each location."""
        return LocationNames(self.every_location)

    @functools.cached_property
    def named(self) -> tuple[Named, ...]:
        """What the selected locations are called, in the order of `by_rank`."""
        return tuple(sorted(map(self.names.one, self.locations["location"]), key=lambda one: one.order))

    @functools.cached_property
    def span(self) -> tuple[int, int]:
        """Begin and end of the selected stretch; without one, of the program; ps.

        Raises:
            InputError: the selection is empty.
        """
        whole = program_span(self.locations) or (0, self.run.manifest.clock.length_ps)
        length = max(self.run.manifest.clock.length_ps, 1)
        # A program of no duration is shown with one of 1 ps: shares and axes need a length.
        first = min(whole[0], length - 1)
        begin = first if self.selection.begin_ps is None else self.selection.begin_ps
        end = max(whole[1], first + 1) if self.selection.end_ps is None else self.selection.end_ps
        end = min(end, length)
        if begin >= end:
            raise InputError(f"the selection begins at {begin * 1e-12:.9g} s, after the run's end; clear the selection")
        return begin, end

    @property
    def _span_or_whole(self) -> tuple[int, int]:
        """The stretch as it was chosen, which may reach beyond the program; without one, every window of the run."""
        windows, chosen = self.run.manifest.windows, self.selection
        end = windows.count * windows.width_ps if chosen.end_ps is None else chosen.end_ps
        return chosen.begin_ps or 0, end

    @functools.cached_property
    def windowed(self) -> bool:
        """Whether the selected stretch consists of whole windows."""
        width = self.run.manifest.windows.width_ps
        ends = (self.selection.begin_ps, self.selection.end_ps)
        return width > 0 and all(end is None or end % width == 0 for end in ends)

    @functools.cached_property
    def cells(self) -> Cells:
        """The finer cells of the accounting."""
        return Cells.of(self.run, self.every_location)

    @property
    def steps_ps(self) -> list[int]:
        """Widths of which a stretch that is dragged should be whole numbers, so that its times are exact and quick to
        find; the widest first."""
        levels = self.cells.levels if self.cells.members == 1 else 0
        finer = [self.cells.width_ps(level) for level in reversed(range(levels))]
        return [self.run.manifest.windows.width_ps, *finer]

    @property
    def few_steps(self) -> int:
        """A stretch of fewer is taken as it is dragged."""
        return FEW_WINDOWS if self.locations.height > MANY_RANKS else FEW_BINS

    @property
    def reads_calls(self) -> bool:
        """Whether times of the selection come from the calls, which may be very many."""
        return self.callpaths is not None and self.selection.timed

    @functools.cached_property
    def callpaths(self) -> list[int] | None:
        """The selected call path and all that it calls; None: every call path.

        Raises:
            InputError: there is no such call path.
        """
        if self.selection.callpath is None:
            return None
        table = self.run.table("callpaths").sort("callpath").select("callpath", "parent").collect()
        if self.selection.callpath >= table.height:
            raise InputError(f"the run has no call path {self.selection.callpath}; the last one is {table.height - 1}")
        chosen = {self.selection.callpath}
        for callpath, parent in table.iter_rows():
            if parent in chosen:
                chosen.add(callpath)
        return sorted(chosen)

    def rows(self, cap: int) -> Rows:
        """At most `cap` rows of selected locations."""
        if cap not in self._rows:
            self._rows[cap] = rows(self.locations, cap)
        return self._rows[cap]

    def behaving(self, cap: int) -> Rows:
        """At most `cap` rows: where there are more locations, groups of those that behave alike, outliers first."""
        if cap not in self._behaving:
            every = self.rows(max(1, self.locations.height))
            found = grouped_rows(every, self.by_rank, cap) if every.count > cap else None
            self._behaving[cap] = found or self.rows(cap)
        return self._behaving[cap]

    def columns(self, cap: int) -> Columns:
        """Bins of whole windows over the selected stretch; figures of tables by window take these."""
        begin, end = self.span
        return columns(self.run.manifest.windows, cap, (begin, end))

    def cube(self, on: Rows, bins: int) -> tuple[Cube, Columns]:
        """Time by (row, bin, category) in ps, categories in the order of `SHOWN`, and the bins."""
        over = self.columns(bins)
        windows = over.count * over.per_bin
        if self.callpaths is None and windows < bins and (finer := self._of_cells(on, bins, windows)) is not None:
            return finer
        whole_run = windows >= self.run.manifest.windows.count
        wide_enough = windows >= FEW_BINS or (whole_run and not self.selection.timed)
        if self.callpaths is None and self.windowed and (wide_enough or self.calls_in(MOST_CALLS) > MOST_CALLS):
            return time_cube(self.run.shown("accounting"), on, over), over
        begin, end = self.span
        if self.callpaths is not None and self.windowed and wide_enough:
            edges = over.begin_ps + over.width_ps * np.arange(over.count + 1, dtype=np.int64)
            return self._of_calls(on, edges), over
        # Picoseconds are whole; the last bin may reach a few of them beyond the end.
        width = max(1, -(-(end - begin) // bins))
        count = -(-(end - begin) // width)
        edges = begin + width * np.arange(count + 1, dtype=np.int64)
        edges[-1] = end
        return self._of_calls(on, edges), Columns(count, 1, width, since_ps=begin)

    @functools.cached_property
    def by_rank(self) -> Cube:
        """Time by (selected location, category) in ps, in the order of `rows(all of them)`."""
        on = self.rows(max(1, self.locations.height))
        if self.callpaths is None and self.windowed:
            return time_cube(self.run.shown("accounting"), on, self.columns(1))[:, 0, :]
        if self.callpaths is not None and not self.selection.timed:
            return self._of_paths(on)
        if self.callpaths is None and (whole := self.cells.whole(*self._span_or_whole)) is not None:
            found = self.cells.cube(on, *whole)
            if found is not None:
                sums: Cube = self._shown(found).sum(axis=1)
                return sums
        return self._in_pieces(on)

    @functools.cached_property
    def by_callpath(self) -> pl.DataFrame:
        """callpath, category (as shown), exposed_ps and calls: of communication calls in the selection."""
        if not self.selection.timed:
            rows = self._here(program(self.run.shown("exposure"))).filter(pl.col("category") != "compute")
            times = rows.group_by("callpath", "category").agg(wide_sum("exposed_ps"))
            counts = (
                rows.group_by("location", "callpath").agg(pl.col("calls").max())
                .group_by("callpath").agg(pl.col("calls").sum())
            )  # fmt: skip
            return times.join(counts, on="callpath").collect()
        begin, end = self.span
        inside = (pl.min_horizontal("leave_ps", pl.lit(end)) - pl.max_horizontal("enter_ps", pl.lit(begin))).clip(0)
        part = inside / (pl.col("leave_ps") - pl.col("enter_ps")).clip(1)
        wide = (
            self.calls()
            .group_by("callpath")
            .agg(pl.len().alias("calls"), *((pl.col(f"{c}_ps") * part).sum().alias(c) for c in CATEGORIES[1:]))
        )
        long = wide.unpivot(
            on=list(CATEGORIES[1:]), index=["callpath", "calls"], variable_name="category", value_name="exposed_ps"
        )
        named = shown(long.filter(pl.col("exposed_ps") > 0), self.run.manifest.machine.undivided)
        return (
            named.group_by("callpath", "category")
            .agg(pl.col("exposed_ps").sum().round().cast(WIDE), pl.col("calls").max().cast(pl.UInt64))
            .collect()
        )

    def calls(self) -> pl.LazyFrame:
        """The calls that overlap the selection."""
        begin, end = self.span
        rows = self._here(self.run.facts("calls")).filter(pl.col("enter_ps") < end, pl.col("leave_ps") > begin)
        if self.callpaths is not None:
            rows = rows.filter(pl.col("callpath").is_in(self.callpaths))
        return rows

    def calls_in(self, most: int) -> int:
        """Number of calls in the selection, counted no further than one beyond `most`."""
        if most not in self._calls_in:
            found = self.calls().select("location").head(most + 1).select(pl.len()).collect()
            self._calls_in[most] = int(found.item())
        return self._calls_in[most]

    def overdrawn(self, columns: int) -> float:
        """How much more of a picture of so many columns its calls cover than they take, as a share of the picture.

        A call that is shorter than a column is drawn as a whole one: short calls that are spread over a run that
        computes would cover it.
        """
        begin, end = self.span
        width = max(1, (end - begin) // columns)
        lasts = pl.min_horizontal("leave_ps", pl.lit(end)) - pl.max_horizontal("enter_ps", pl.lit(begin))
        short = self.calls().with_columns(lasts=lasts).filter(pl.col("lasts") < width)
        covered = pl.struct("location", (pl.col("enter_ps") - begin) // width).n_unique().cast(pl.Int64) * width
        excess = short.select(covered - pl.col("lasts").sum()).collect().item() or 0
        return max(0.0, excess / max(1, (end - begin) * self.locations.height))

    def messages(self) -> pl.LazyFrame:
        """The messages in the selection: in flight in its stretch, with an end on its ranks and in its call path."""
        rows = self.run.table("messages")
        if self.selection.timed:
            begin, end = self.span
            rows = rows.filter(pl.col("send_enter_ps") < end, pl.col("recv_leave_ps") > begin)
        if self.selection.ranks:
            chosen = self.locations["location"].implode()
            rows = rows.filter(pl.col("send_location").is_in(chosen) | pl.col("recv_location").is_in(chosen))
        if self.callpaths is not None:
            mine = self.callpaths
            rows = rows.filter(pl.col("send_callpath").is_in(mine) | pl.col("recv_callpath").is_in(mine))
        return rows

    def pairs(self) -> pl.DataFrame:
        """Traffic of the selection by sender and receiver, as in the table `pairs`: messages and transfers. Sums of
        transfers' times are wide: one call may complete very many that were in flight together."""
        parts = [f"{part}_ps" for part in PARTS]
        get = pl.col("kind") == "get"
        transfers = (
            self.transfers()
            .with_columns(
                send_location=pl.when(get).then("target").otherwise("location"),
                recv_location=pl.when(get).then("location").otherwise("target"),
            )
            .group_by("send_location", "recv_location")
            .agg(
                pl.len().cast(pl.UInt64).alias("messages"),
                pl.col("bytes").sum(),
                wide_sum(*(part for part in parts if part.removesuffix("_ps") in TRANSFER_PARTS)),
            )
            .collect()
        )
        if transfers.is_empty():
            return self._pairs()
        both = pl.concat([self._pairs(), transfers], how="diagonal_relaxed")
        return both.group_by("send_location", "recv_location").agg(
            pl.col("messages", "bytes").fill_null(0).sum(), wide_sum_of(pl.col(parts).fill_null(0))
        )

    def transfers(self) -> pl.LazyFrame:
        """The one-sided transfers in the selection whose target is known."""
        rows = self.run.table("transfers").filter(pl.col("target") >= 0)
        if self.selection.timed:
            begin, end = self.span
            rows = rows.filter(pl.col("start_ps") < end, pl.col("complete_leave_ps") > begin)
        if self.selection.ranks:
            chosen = self.locations["location"].implode()
            rows = rows.filter(pl.col("location").is_in(chosen) | pl.col("target").is_in(chosen))
        if self.callpaths is not None:
            rows = rows.filter(pl.col("callpath").is_in(self.callpaths))
        return rows

    def _pairs(self) -> pl.DataFrame:
        sums = ("bytes", *(f"{part}_ps" for part in PARTS))
        if not self.selection.timed and self.callpaths is None:
            rows = self.run.table("pairs")
            if self.selection.ranks:
                chosen = self.locations["location"].implode()
                rows = rows.filter(pl.col("send_location").is_in(chosen) | pl.col("recv_location").is_in(chosen))
            return rows.collect()
        return (
            self.messages()
            .group_by("send_location", "recv_location")
            .agg(pl.len().cast(pl.UInt64).alias("messages"), *(pl.col(name).sum() for name in sums))
            .collect()
        )

    def load(self) -> pl.LazyFrame:
        """location, direction, window, bytes and busy_ps of the selected ranks' endpoints: the table `load`, and the
        bytes of one-sided transfers when they start, which the table does not count."""
        columns = ("location", "direction", "window", "bytes", "busy_ps")
        table = self.run.table("load").select(columns)
        kinds = table.collect_schema()
        transfers = self.run.table("transfers").filter(pl.col("target") >= 0)
        ends = pl.struct(sent="location", reached="target")
        got = pl.struct(sent="target", reached="location")
        moved = transfers.select("window", "bytes", ends=pl.when(pl.col("kind") == "get").then(got).otherwise(ends))
        by_end = [
            moved.select(
                location=pl.col("ends").struct.field(end), direction=pl.lit(direction), window="window", bytes="bytes",
                busy_ps=pl.lit(0),
            ).cast({name: kinds[name] for name in columns})
            for end, direction in (("sent", "send"), ("reached", "recv"))
        ]  # fmt: skip
        return self._here(pl.concat([table, *by_end]))

    def threads(self, most: int) -> tuple[Cube, list[Named]]:
        """Times of the threads of the selected ranks' processes in the whole program: (thread, category) in ps, and
        what each is called; the first `most` of them."""
        chosen = self.locations["process"].unique().implode()
        here = self.every_location.filter(pl.col("process").is_in(chosen))
        rows = program(self.run.table("threads")).group_by("location", "category").agg(wide_sum("spent_ps")).collect()
        team = teams(rows["location"], here).head(most)
        row_of = {location: row for row, location in enumerate(team["location"])}
        found = np.zeros((team.height, len(THREAD_CATEGORIES)))
        for location, category, time in rows.iter_rows():
            if location in row_of:
                found[row_of[location], THREAD_CATEGORIES.index(category)] = float(time)
        members = team.select("first", "thread").iter_rows()
        return found, [replace(self.names.one(first), thread=thread) for first, thread in members]

    def queues(self) -> pl.LazyFrame:
        """What messages for the selected ranks wait in queues, by when they were sent."""
        return self._here(queues(self.run))

    def _here(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """The rows whose location is selected."""
        if not self.selection.ranks:
            return table
        return table.filter(pl.col("location").is_in(self.locations["location"].implode()))

    def _of_cells(self, on: Rows, bins: int, windows: int) -> tuple[Cube, Columns] | None:
        """The cube of the finest cells that `bins` hold; None where the run has none that are finer than `windows`, or
        those would be too coarse a picture, too."""
        begin, end = self.span
        level = self.cells.finest(begin, end, bins)
        if level is None or level[2] < FEW_BINS or level[2] <= windows:
            return None
        found = self.cells.cube(on, *level)
        width = self.cells.width_ps(level[0])
        return None if found is None else (self._shown(found), Columns(level[2], 1, width, since_ps=level[1] * width))

    def _of_paths(self, on: Rows) -> npt.NDArray[np.float64]:
        """Time by (row, category) in ps that the whole program spends in calls of the selected paths."""
        rows = (
            program(self.run.shown("exposure"))
            .filter(pl.col("callpath").is_in(self.callpaths or []), pl.col("category") != "compute")
            .join(on.of.lazy(), on="location")
            .group_by("row", pl.col("category").cast(pl.String))
            .agg(pl.col("exposed_ps").cast(pl.Float64).sum())
            .collect()
        )
        found = np.zeros((on.count, len(SHOWN)))
        for row, category, time in rows.iter_rows():
            found[row, SHOWN.index(category)] += time
        return found

    def _in_pieces(self, on: Rows) -> npt.NDArray[np.float64]:
        """Time by (row, category) in ps: of the whole windows of the selected stretch from the accounting, of the whole
        cells next to them from the cells, and from the calls at its two ends."""
        found = np.zeros((on.count, len(SHOWN)))
        left = [self.span]
        if self.callpaths is None:
            windows = self.run.manifest.windows
            left, whole = _whole_of(left, windows.width_ps)
            for begin, end in whole:
                over = columns(windows, 1, (begin, end))
                found += time_cube(self.run.shown("accounting"), on, over)[:, 0, :]
            if self.cells.levels:
                width = self.cells.width_ps(0)
                left, whole = _whole_of(left, width)
                for begin, end in whole:
                    cells = self.cells.cube(on, 0, begin // width, (end - begin) // width)
                    if cells is None:
                        left.append((begin, end))
                    else:
                        found += self._shown(cells).sum(axis=1)
        for stretch in left:
            found += self._of_calls(on, np.asarray(stretch, dtype=np.int64))[:, 0, :]
        return found

    def _of_calls(self, on: Rows, edges: npt.NDArray[np.int64]) -> Cube:
        """The cube from the calls, computation being what the program does besides."""
        parts = self._parts
        table = self.run.facts("calls").filter(pl.col("enter_ps") < int(edges[-1]), pl.col("leave_ps") > int(edges[0]))
        if self.callpaths is not None:
            table = table.filter(pl.col("callpath").is_in(self.callpaths))
        calls = (
            self._here(table)
            .join(self.locations.lazy().select("location", "begin_ps", "end_ps"), on="location")
            .filter(pl.col("enter_ps") >= pl.col("begin_ps"), pl.col("enter_ps") < pl.col("end_ps"))
            .join(on.of.lazy(), on="location")
            .select("row", "enter_ps", "leave_ps", *(f"{part}_ps" for part in parts))
        )
        times = occupancy(calls, on.count, edges, parts)
        every = np.zeros((*times.shape[:2], len(CATEGORIES)))
        every[:, :, [CATEGORIES.index(part) for part in parts]] = times
        if self.callpaths is None:
            every = with_compute(every[:, :, 1:], self._available(on, edges))
        return self._shown(every)

    @functools.cached_property
    def _parts(self) -> Sequence[str]:
        """Categories that the selected calls have; what none has need not be read."""
        if self.callpaths is None:
            return CATEGORIES[1:]
        rows = self.run.facts("exposure").filter(pl.col("callpath").is_in(self.callpaths), pl.col("exposed_ps") > 0)
        known = set(rows.select(pl.col("category").cast(pl.String).unique()).collect()["category"])
        return [part for part in CATEGORIES[1:] if part in known]

    def _available(self, on: Rows, edges: npt.NDArray[np.int64]) -> Cube:
        """How long the locations of each row are in their program, by interval; ps."""
        bounds = self.locations.join(on.of, on="location")
        begin, end = (bounds[name].to_numpy()[:, None] for name in ("begin_ps", "end_ps"))
        inside = np.maximum(np.minimum(end, edges[None, 1:]) - np.maximum(begin, edges[None, :-1]), 0)
        found = np.zeros((on.count, len(edges) - 1))
        np.add.at(found, bounds["row"].to_numpy(), inside.astype(np.float64))
        return found

    def _shown(self, times: Cube) -> Cube:
        """Categories of the accounting as those that people see."""
        found = np.zeros((*times.shape[:2], len(SHOWN)))
        undivided: Sequence[str] = self.run.manifest.machine.undivided
        for number, category in enumerate(CATEGORIES):
            found[:, :, SHOWN.index(shown_as(category, undivided))] += times[:, :, number]
        return found


def common_names(several: Sequence[SelectedRun]) -> tuple[Named, ...] | None:
    """What the locations of all of them are called; None: these are not the same."""
    first = [(one.rank, one.thread) for one in several[0].named]
    same = all([(one.rank, one.thread) for one in other.named] == first for other in several)
    return several[0].named if same else None


def _whole_of(
    stretches: Sequence[tuple[int, int]], width_ps: int
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """What whole windows or cells of the width leave of the stretches at their ends, and these."""
    left, whole = [], []
    for begin, end in stretches:
        first, last = (-(-begin // width_ps) * width_ps, end // width_ps * width_ps) if width_ps > 0 else (0, 0)
        if first >= last:
            left.append((begin, end))
            continue
        whole.append((first, last))
        left += [part for part in ((begin, first), (last, end)) if part[0] < part[1]]
    return left, whole
