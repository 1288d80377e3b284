"""The evidence that finders share: a run's small tables, read once, and the names of places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.findings.evidence.in_files import InFiles, mostly_in_file
from logpost.analyzer.findings.evidence.places import Places, places_of
from logpost.analyzer.findings.evidence.sampled import Frame, SampledCode, sampled_code, time_on_processor
from logpost.analyzer.findings.evidence.scheduled import scheduled
from logpost.analyzer.findings.finding import LOW, MEDIUM, MIN_SHARE, Number
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.manifest import Manifest
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.program_profile import program_profile
from logpost.analyzer.run.undivided import title
from logpost.analyzer.run.wide import exact_sum, wide_sum
from logpost.analyzer.words.labels import folded, folded_path
from logpost.analyzer.words.location_names import Location, LocationNames, Named
from logpost.replay.columns import Int64

if TYPE_CHECKING:
    from logpost.analyzer.findings.cures.offered import TriedCure


class Evidence:
    """The tables of a run. `messages`, `calls` and `collectives` are large and stay lazy; the rest is small.

    Arguments:
        tables: every table of `schema.TABLES` but `findings`, by name.
        manifest: of the run.
        run: of which these are the tables, maybe through a region of interest; None: its machine is not known.
    """

    def __init__(
        self,
        tables: Mapping[str, pl.LazyFrame],
        manifest: Manifest,
        run: Run | None = None,
    ) -> None:
        self.tables = tables
        self.manifest = manifest
        self.run = run
        self.tried: list[TriedCure] = []
        """every cure that is replayed, in no order"""

    @cached_property
    def locations(self) -> pl.DataFrame:
        """The accounted locations, in order."""
        return self.tables["locations"].filter("accounted").sort("location").collect()

    @cached_property
    def names(self) -> LocationNames:
        """Location to what people call it."""
        return LocationNames(self.tables["locations"].collect())

    @cached_property
    def program_ps(self) -> dict[int, int]:
        """Accounted location to its program time: from the end of its start-up to the begin of its shut-down."""
        rows = program(self.tables["accounting"]).group_by("location").agg(wide_sum("exposed_ps")).collect()
        return {int(location): 0 for location in self.locations["location"]} | dict(rows.iter_rows())

    @cached_property
    def slowest_program_ps(self) -> int:
        """Program time of the slowest accounted location; 0 when there is none."""
        return max(self.program_ps.values(), default=0)

    @cached_property
    def undivided(self) -> tuple[str, ...]:
        """Categories that the estimated machine of this run does not distinguish: only their sum is known."""
        return tuple(self.manifest.machine.undivided)

    def divides(self, *categories: str) -> bool:
        """Whether the time in each of these categories is known."""
        return not set(categories) & set(self.undivided)

    def maybe(self, categories: Iterable[str]) -> tuple[str, ...]:
        """These categories; where one of them is not divided, all that may contain its time."""
        given = tuple(categories)
        return given if self.divides(*given) else tuple(dict.fromkeys((*given, *self.undivided)))

    @cached_property
    def exposed(self) -> pl.DataFrame:
        """(location, category, exposed_ps) over all windows of the program, of accounted locations."""
        rows = program(self.tables["accounting"]).group_by("location", "category").agg(wide_sum("exposed_ps"))
        return rows.with_columns(pl.col("category").cast(pl.String)).collect()

    def exposed_of(self, categories: Sequence[str]) -> dict[int, int]:
        """Location to its exposed time in these categories together; every accounted location has an entry."""
        return dict.fromkeys(self.locations["location"].to_list(), 0) | dict(self._sums(categories).iter_rows())

    def _sums(self, categories: Sequence[str]) -> pl.DataFrame:
        """(location, exposed_ps) in these categories together; only locations that have any."""
        return (
            self.exposed.filter(pl.col("category").is_in(categories)).group_by("location").agg(wide_sum("exposed_ps"))
        )

    @cached_property
    def least_ps(self) -> float:
        """The smallest exposed time on the worst-hit rank that makes a finding."""
        return MIN_SHARE * self.slowest_program_ps

    def worth_a_look(self, categories: Sequence[str]) -> bool:
        """Whether any location loses at least `least_ps` in these categories."""
        sums = self._sums(categories)["exposed_ps"]
        return not sums.is_empty() and self._is_costly(cast("int", sums.max()))

    def _is_costly(self, worst_ps: float) -> bool:
        return worst_ps > 0 and worst_ps >= self.least_ps

    @cached_property
    def pairs(self) -> pl.DataFrame:
        """The message matrix without messages to oneself: no other rank is involved in those."""
        return self.tables["pairs"].filter(pl.col("send_location") != pl.col("recv_location")).collect()

    @cached_property
    def exposure(self) -> pl.DataFrame:
        """Exposed time of the program by place in the code."""
        return program(self.tables["exposure"]).with_columns(pl.col("category").cast(pl.String)).collect()

    @cached_property
    def callpaths(self) -> pl.DataFrame:
        """Call paths with the name and kind of their region."""
        regions = self.tables["regions"].select("region", "name", "kind")
        return self.tables["callpaths"].join(regions, on="region", how="left").sort("callpath").collect()

    @cached_property
    def _names(self) -> dict[int, tuple[int, str, str]]:
        columns = self.callpaths.select("callpath", "parent", "name", "path")
        return {
            callpath: (parent, folded(name or ""), folded_path(path))
            for callpath, parent, name, path in columns.iter_rows()
        }

    @cached_property
    def places(self) -> Places:
        """Call path to its place in the source and in the call tree."""
        return places_of(self.tables)

    @cached_property
    def _frames(self) -> dict[int, Frame]:
        files = self.tables["regions"].select("region", defined_in="file")
        rows = self.callpaths.lazy().filter(pl.col("kind") == "user").join(files, on="region").collect()
        columns = rows.select("callpath", "parent", "name", "defined_in", "line")
        return {path: Frame(parent, folded(name), file, line) for path, parent, name, file, line in columns.iter_rows()}

    @cached_property
    def _file_regions(self) -> dict[int, str]:
        """Call paths of calls that reach files, and their regions' names."""
        paths = self.tables["file_calls"].select(pl.col("callpath").unique()).collect()
        return {callpath: self.region(callpath) for callpath in paths["callpath"]}

    def in_files(self, calls: pl.DataFrame, location: int, begins: Int64, ends: Int64) -> InFiles | None:
        """What most of a location's time between these instants is spent on, in files; None: less than most is."""
        if calls.is_empty():
            return None
        names = self._file_regions
        region = pl.col("callpath").replace_strict(list(names), list(names.values()), return_dtype=pl.String)
        here = calls.filter(pl.col("location") == location).with_columns(region=region)
        return mostly_in_file(here, location, begins, ends)

    def sampled(self, samples: pl.DataFrame, location: int, begins: Int64, ends: Int64) -> SampledCode | None:
        """Which function a location's code between these instants is in, by samples; None: they do not say."""
        return None if samples.is_empty() else sampled_code(samples, self._frames, location, begins, ends)

    def on_processor(self, samples: pl.DataFrame, location: int, begins: Int64, ends: Int64) -> tuple[Number, ...]:
        """How long a location's code between these instants had a processor, where that is less than half of it."""
        return time_on_processor(samples, self.manifest.sample_ps, location, begins, ends)

    @cached_property
    def moves_data(self) -> npt.NDArray[np.bool_]:
        """By call path: whether its region is a communication call that is no mere query (MPI_Wtime, MPI_Comm_rank)."""
        kinds = self.callpaths["kind"].fill_null("other")
        return (~kinds.is_in(["user", "other", "not_recorded"])).to_numpy()

    def calls_communication(self, callpath: int) -> bool:
        """Whether the region of this call path directly contains a communication call that moves data."""
        return any(parent == callpath and self.moves_data[child] for child, (parent, _, _) in self._names.items())

    def region(self, callpath: int) -> str:
        """Region name of a call path; empty for none."""
        return self._names.get(callpath, (-1, "", ""))[1]

    def callpaths_of(self, region: str) -> list[int]:
        """The call paths of a region's name."""
        return [callpath for callpath, (_, name, _) in self._names.items() if name == region]

    def path(self, callpath: int) -> str:
        """Region names from the root; empty for none."""
        return self._names.get(callpath, (-1, "", ""))[2]

    def parent(self, callpath: int) -> int:
        """The caller's call path; -1 for none."""
        return self._names.get(callpath, (-1, "", ""))[0]

    def where(self, categories: Sequence[str], locations: Iterable[int]) -> tuple[int, str]:
        """The call path with the most exposed time in these categories on these locations: (id, region); (-1, "")."""
        rows = (
            self.exposure.filter(pl.col("category").is_in(categories), pl.col("location").is_in(list(locations)))
            .group_by("callpath")
            .agg(wide_sum("exposed_ps"))
            .filter(pl.col("exposed_ps") > 0)
            .sort("exposed_ps", "callpath", descending=[True, False])
        )
        if rows.is_empty():
            return -1, ""
        callpath = int(rows["callpath"][0])
        return callpath, self.region(callpath)

    @cached_property
    def user_profile(self) -> pl.DataFrame:
        """(callpath, location, visits, exclusive_ps) of user regions on accounted locations, in the program; empty for
        none.

        A parallel region of several threads is one, with all that it contains: what its first thread does in it, and
        how long that waits for the others, is no matter of ranks.
        """
        rows = program_profile(self.tables.__getitem__).select("callpath", "location", "visits", "exclusive_ps")
        if not self.in_parallel_region:
            return rows
        whole = pl.col("callpath").replace(self.in_parallel_region)
        return rows.group_by(whole, "location").agg(pl.col("visits", "exclusive_ps").sum()).sort("callpath", "location")

    @cached_property
    def in_parallel_region(self) -> dict[int, int]:
        """Call path to the parallel region of several threads that contains it, or that it is."""
        regions = self.tables["threads"].filter(pl.col("callpath") >= 0).select("callpath").unique().collect()
        inside = {callpath: callpath for callpath in regions["callpath"]}
        if inside:
            for callpath, parent in self.callpaths.select("callpath", "parent").iter_rows():  # parents precede children
                if parent in inside:
                    inside[callpath] = inside[parent]
        return inside

    def _below(self, callpath: int) -> set[int]:
        """The call path and its descendants; all of them for -1."""
        found = {callpath}
        for child, (parent, _, _) in self._names.items():  # parents precede children
            if parent in found:
                found.add(child)
        return found

    def delaying_region(self, location: int, communication: int) -> str:
        """The user region whose own time most delays `location` before its communication call path `communication`.

        Among the caller's region and what it calls, but for what reaches files (`in_files`), the one whose exclusive
        time on `location` exceeds the mean over locations most; where no region exceeds it, the one with the most
        exclusive time. Empty where nothing is known: without user regions, and where a single one (the whole program)
        encloses everything.
        """
        own = self._own_times.get(location, {})
        if len(own) < 2:
            return ""
        ranks, inside = max(1, self.locations.height), self._below(self.parent(communication))
        files = set(self._file_regions.values())
        excess = {
            callpath: max(time - self._everybodys_times[callpath] / ranks, 0.0)
            for callpath, time in own.items()
            if time > 0 and callpath in inside and self.region(callpath) not in files
        }
        most = max(excess, key=lambda callpath: (excess[callpath], own[callpath], -callpath), default=-1)
        return self.region(most)

    @cached_property
    def _own_times(self) -> dict[int, dict[int, int]]:
        """Location to its exclusive time by call path of user regions; ps."""
        found: dict[int, dict[int, int]] = {}
        times = self.user_profile.group_by("location", "callpath").agg(wide_sum("exclusive_ps"))
        for location, callpath, time in times.iter_rows():
            found.setdefault(location, {})[callpath] = time
        return found

    @cached_property
    def _everybodys_times(self) -> dict[int, int]:
        """Call path of a user region to its exclusive time on all locations together; ps."""
        return dict(self.user_profile.group_by("callpath").agg(wide_sum("exclusive_ps")).iter_rows())

    def named(self, locations: Iterable[int]) -> tuple[Named, ...]:
        """What these locations are called, in order."""
        return self.names.several(map(Location, locations))

    def rank_numbers(self, name: str, locations: Iterable[int]) -> tuple[Number, ...]:
        """These locations' ranks as evidence of one name."""
        return tuple(Number.of(name, named) for named in self.named(locations))

    def exposed_numbers(self, exposed: Mapping[int, float]) -> tuple[Number, ...]:
        """Location to exposed time, as evidence: the sum, and the rank that loses most."""
        worst = max(exposed, key=lambda location: exposed[location])
        return (
            Number("exposed", sum(exposed.values()), "ps"),
            *self.rank_numbers("worst_rank", [worst]),
            Number("exposed_on_worst_rank", exposed[worst], "ps"),
        )

    @property
    def last_window(self) -> int:
        """The last window's number."""
        return max(0, self.manifest.windows.count - 1)

    def active_windows(self, categories: Sequence[str], locations: Iterable[int]) -> tuple[int, int]:
        """First and last window in which these locations lose time in these categories.

        The 1 % of that time at either end is cut off, so that one late straggler does not stretch the range.
        """
        rows = (
            program(self.tables["accounting"])
            .filter(pl.col("category").cast(pl.String).is_in(categories), pl.col("location").is_in(list(locations)))
            .group_by("window")
            .agg(wide_sum("exposed_ps"))
            .sort("window")
            .collect()
        )
        total = exact_sum(rows["exposed_ps"])
        if total <= 0:
            return 0, self.last_window
        running = rows.with_columns(before=pl.col("exposed_ps").cum_sum())
        inside = running.filter(
            pl.col("before") > MIN_SHARE * total,
            pl.col("before") - pl.col("exposed_ps") < (1 - MIN_SHARE) * total,
        )
        return int(inside["window"].min()), int(inside["window"].max())  # type: ignore[arg-type]

    def scheduled(self) -> str:
        """Why waits contain scheduling; empty: they do not."""
        return scheduled(self.manifest.hosts)

    def confidence(self, level: float, reason: str, rests_on: Iterable[str] = ()) -> tuple[float, str]:
        """Confidence and its reason; `MEDIUM` at most where waits contain scheduling.

        Arguments:
            level: of `finding.HIGH`, `MEDIUM`, `LOW`.
            reason: what it comes from.
            rests_on: categories whose time the claim takes for what they say; `LOW` at most where they are not
                divided.
        """
        if unknown := [category for category in self.undivided if category in set(rests_on)]:
            level = min(level, LOW)
            names = " and ".join(title(one) for one in unknown)
            reason += f"; the estimated machine does not distinguish {names} from other transport (--machine FILE does)"
        if why := self.scheduled():
            return min(level, MEDIUM), f"{reason}; {why}, so the time contains scheduling"
        return level, reason


def in_order(rows: pl.DataFrame, by: str, then: str) -> pl.DataFrame:
    """The rows sorted by two columns; unchanged where they are sorted: a sort costs more than reading them."""
    first, second = rows[by], rows[then].to_numpy()
    falls = second[1:] < second[:-1]
    if first.is_sorted() and not (falls & (first.to_numpy()[1:] == first.to_numpy()[:-1])).any():
        return rows
    return rows.sort(by, then)
