"""A sample of a run: its calls in some windows of time, and what is between them, as a run without the time between
these windows.

Windows are equally long, each somewhere in an equal part of the program: at equal distances they would see a program
of as many repetitions in one phase. One alone is the run's first part. They may begin and end where all ranks leave
an operation (`at_meetings`), so that no wait for others is cut. A call that a window's begin or end cuts lasts as
long as the part of it that is inside, and is without messages and categories. Calls, and numbers of messages,
transfers and epochs, are dense as they are in a whole run. A message, a collective operation or a transfer is in the
sample where all of its calls are in one window.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import CATEGORIES
from logpost.replay.columns import Int64

SAMPLED = 16
"""Each of so many calls is read to find out when that many have begun."""
ALIKE = 2.0
"""Times by which a sample's length, and how far its meetings are apart, may differ from those of a part of the run:
windows of a few operations in a row, next to long stretches without any, are no sample of it. A choice: of 119 samples
of 32 recorded and drawn programs (10, 6 and 3 windows, a quarter or a sixteenth of the calls), 107 differ by 1.02 to
1.94 times, and 12, of three programs, by 2.03 to 5.2. Of ten recorded runs that are sampled, it decides one: 34 % are
saved with windows anywhere, 36 % with windows from meeting to meeting."""
NOWHERE = -1
GOLDEN = (5**0.5 - 1) / 2
"""Fractional parts of its multiples are spread evenly over 0 to 1, however many they are (Weyl's equidistribution)."""


@dataclass(frozen=True)
class SampleWindows:
    """Windows of a run that may become its sample: what decides which of them do is read once.

    Arguments:
        run: the whole.
    """

    run: Run

    def of(self, most_calls: int, count: int) -> tuple[Int64, Int64]:
        """Begins and ends of windows that have so many calls at most, but for those that begin at the same time; ps.

        Arguments:
            most_calls: of all windows together.
            count: how many windows; 1: the first part.
        """
        enters = self._enters
        if count == 1:
            last = min(len(enters) - 1, most_calls // SAMPLED)
            return np.array([np.iinfo(np.int64).min]), np.array([enters[last] + 1])
        begin, end = (int(times) for times in (self._spans[0].min(), self._spans[1].max()))
        part = (end - begin) // count
        middles = begin + part // 2 + part * np.arange(count)
        half = part // 2
        while half:
            inside = np.searchsorted(enters, middles + half) - np.searchsorted(enters, middles - half)
            calls = int(inside.sum()) * SAMPLED
            if calls <= most_calls:
                break
            half = half * most_calls // calls
        shift = ((np.arange(count) * GOLDEN % 1.0 - 0.5) * (part - 2 * half)).astype(np.int64)
        return middles + shift - half, middles + shift + half

    def at_meetings(self, begins_ps: Int64, ends_ps: Int64) -> tuple[Int64, Int64] | None:
        """These windows from and to the next meeting of all ranks: where the last one leaves an operation in which all
        were at once. Meetings are as far behind an end as behind a begin on the mean, so that windows keep their
        length. None: there are too few, and a window would be empty, or beyond the begin of the next; or the windows
        together would be more than `ALIKE` times as long, or their meetings as much closer or farther apart than those
        of the run."""
        at = self._meetings
        first, last = np.searchsorted(at, begins_ps), np.searchsorted(at, ends_ps)
        if (last == len(at)).any() or (first >= last).any():
            return None
        begins, ends = at[first], at[last]
        length = int((ends - begins).sum())
        closer = int((last - first).sum()) / length * int(at[-1] - at[0]) / (len(at) - 1)
        alike = length <= ALIKE * int((ends_ps - begins_ps).sum()) and 1 / ALIKE <= closer <= ALIKE
        return (begins, ends) if alike and (ends[:-1] <= begins[1:]).all() else None

    def cut_shares(self, tried: Sequence[tuple[Int64, Int64]]) -> list[float]:
        """Of the programs' time in each of these windows, what is in calls that their begins and ends cut."""
        instants = np.unique(np.concatenate([end for windows in tried for end in windows]))
        following = np.append(instants, np.iinfo(np.int64).max)

        def are_cut(calls: pl.Series) -> pl.Series:
            enter, leave = (calls.struct.field(name).to_numpy() for name in ("enter_ps", "leave_ps"))
            return pl.Series(following[np.searchsorted(instants, enter, "right")] < leave)

        times = ("enter_ps", "leave_ps")
        cut = pl.struct(times).map_batches(are_cut, return_dtype=pl.Boolean, is_elementwise=True)
        rows = self.run.facts("calls").select(times).filter(cut).collect()
        enter, leave = (rows[name].to_numpy() for name in times)
        shares = []
        for begins, ends in tried:
            gone = whole = 0
            for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
                here = ((enter < begin) & (begin < leave)) | ((enter < end) & (end < leave))
                gone += _inside(enter[here], leave[here], begin, end)
                whole += _inside(*self._spans, begin, end)
            shares.append(gone / max(1, whole))
        return shares

    @cached_property
    def _enters(self) -> Int64:
        """Begins of some calls, ascending."""
        enters = self.run.facts("calls").select(pl.col("enter_ps").gather_every(SAMPLED)).collect()
        return np.sort(enters["enter_ps"].to_numpy())

    @cached_property
    def _spans(self) -> tuple[Int64, Int64]:
        """Begin and end of each rank's program."""
        rows = self.run.facts("locations").filter("accounted").select("begin_ps", "end_ps").collect()
        return rows["begin_ps"].to_numpy(), rows["end_ps"].to_numpy()

    @cached_property
    def _meetings(self) -> Int64:
        """When the last rank leaves an operation in which all were at once, ascending."""
        ranks = self.run.facts("locations").filter("accounted").select("location")
        meetings = (
            self.run.facts("collectives")
            .filter(pl.col("instance") >= 0, pl.col("call") == pl.col("complete_call"))
            .join(ranks, on="location", how="semi")
            .group_by("instance")
            .agg(pl.len(), entered=pl.col("enter_ps").max(), left=pl.col("leave_ps").min(), at=pl.col("leave_ps").max())
            .filter(pl.col("len") == ranks.select(pl.len()).collect().item(), pl.col("entered") <= pl.col("left"))
        )
        return meetings.select(pl.col("at").sort()).collect()["at"].to_numpy()


def _inside(begins_ps: Int64, ends_ps: Int64, begin: int, end: int) -> int:
    """How much of these is in a window, together."""
    return int(np.maximum(0, np.minimum(ends_ps, end) - np.maximum(begins_ps, begin)).sum())


class Sample(Run):
    """A run in windows.

    Arguments:
        run: the whole.
        begins_ps: of the windows (`SampleWindows`).
        ends_ps: likewise.
    """

    def __init__(self, run: Run, begins_ps: Int64, ends_ps: Int64) -> None:
        super().__init__(run.path, run.manifest)
        self.begins_ps, self.ends_ps = begins_ps, ends_ps
        self._found: dict[str, pl.DataFrame] = {}
        inside = pl.any_horizontal(
            ((pl.col("enter_ps") < end) & (pl.col("leave_ps") > begin)) | pl.col("enter_ps").is_between(begin, end - 1)
            for begin, end in zip(self.begins_ps.tolist(), self.ends_ps.tolist(), strict=True)
        )
        calls = run.facts("calls").filter(inside).sort("call").collect()
        enter, leave = calls["enter_ps"].to_numpy(), calls["leave_ps"].to_numpy()
        window = np.searchsorted(self.begins_ps, enter, side="right") - 1
        cut = (window < 0) | (leave > self.ends_ps[window])
        self._calls = calls.with_columns(
            pl.when(pl.lit(cut)).then(0).otherwise(pl.col(f"{name}_ps")).alias(f"{name}_ps")
            for name in CATEGORIES
            if name != "compute"
        ).with_columns(self._joined("enter_ps"), self._joined("leave_ps"))
        """in the order of their numbers"""
        self._cut = cut
        self._number = (
            calls.select("call")
            .with_row_index("now")
            .select("call", pl.col("now").cast(pl.Int32), window=pl.Series(window, dtype=pl.Int32))
            .filter(~cut)
        )

    @property
    def lasts_until_ps(self) -> Int64:
        """When each window ends, without the time between them."""
        return self._without_gaps(self.ends_ps)

    def _without_gaps(self, times: Int64) -> Int64:
        """The same instants without the time between windows."""
        first = max(0, int(self.begins_ps[0]))
        begins = np.append(first, self.begins_ps[1:])
        before = np.append(0, np.cumsum(self.ends_ps - begins))
        window = np.clip(np.searchsorted(self.begins_ps, times, side="right") - 1, 0, None)
        inside: Int64 = np.clip(times - begins[window], 0, (self.ends_ps - begins)[window])
        return before[window] + inside

    def _joined(self, column: str) -> pl.Expr:
        return pl.col(column).map_batches(
            lambda times: pl.Series(self._without_gaps(times.to_numpy())), return_dtype=pl.Int64
        )

    def facts(self, name: str) -> pl.LazyFrame:
        """A table's rows in the windows, looked for once."""
        if name not in _TABLES:
            return super().facts(name)
        if name not in self._found:
            self._found[name] = _TABLES[name](self).collect()
        return self._found[name].lazy()

    def table(self, name: str) -> pl.LazyFrame:
        """Likewise, in the region of interest."""
        return self.facts(name) if name in _TABLES else super().table(name)

    def _whole_facts(self, name: str) -> pl.LazyFrame:
        return super().facts(name)

    def calls(self) -> pl.LazyFrame:
        """The calls."""
        now = pl.int_range(pl.len(), dtype=pl.Int32)
        return self._calls.lazy().with_columns(call=now)

    def locations(self) -> pl.LazyFrame:
        """The locations; their programs are shorter."""
        ends = ("first_ps", "last_ps", "begin_ps", "end_ps")
        return self._whole_facts("locations").with_columns(map(self._joined, ends))

    def inside(self, name: str, *needed: str, optional: tuple[str, ...] = ()) -> pl.LazyFrame:
        """Rows of a table whose calls are in one window, under their numbers; an optional call that is not is none."""
        rows = self._whole_facts(name).filter(pl.col(needed[0]).is_in(self._number["call"].implode()))
        window = pl.col(f"{needed[0]}_window")
        for column in (*needed, *optional):
            number = self._number.lazy().rename({"call": column, "now": f"{column}_now", "window": f"{column}_window"})
            rows = rows.join(number, on=column, how="left", maintain_order="left")
        return (
            rows.filter(*(pl.col(f"{column}_window") == window for column in needed))
            .with_columns(
                **{column: pl.col(f"{column}_now") for column in needed},
                **{
                    column: pl.when(pl.col(f"{column}_window") == window)
                    .then(pl.col(f"{column}_now"))
                    .otherwise(NOWHERE)
                    for column in optional
                },
            )
            .drop(f"{column}_{end}" for column in (*needed, *optional) for end in ("now", "window"))
        )

    def messages(self) -> pl.LazyFrame:
        """The messages, numbered at both ends."""
        rows = self.inside("messages", "send_call", "recv_post_call", "recv_call", optional=("send_complete_call",))
        return rows.with_columns(
            send_number=_dense("send_number", "send_location"), recv_number=_dense("recv_number", "recv_location")
        )

    def collectives(self) -> pl.LazyFrame:
        """The operations of which all members are here."""
        members = self._whole_facts("collectives").group_by("instance").agg(whole=pl.len())
        rows = self.inside("collectives", "call", "complete_call").with_columns(
            self._joined("enter_ps"), self._joined("leave_ps")
        )
        return (
            rows.join(members, on="instance", how="left", maintain_order="left")
            .filter((pl.len().over("instance") == pl.col("whole")) | (pl.col("instance") < 0))
            .drop("whole")
        )

    def transfers(self) -> pl.LazyFrame:
        """The transfers, numbered at each origin; an epoch that is not here is none."""
        rows = self.inside("transfers", "call", optional=("complete_call", "remote_call"))
        numbers = self._numbered_epochs().select("location", epoch="number", epoch_now="now")
        return (
            rows.join(numbers, on=["location", "epoch"], how="left", maintain_order="left")
            .with_columns(epoch=pl.col("epoch_now").fill_null(NOWHERE), number=_dense("number", "location"))
            .drop("epoch_now")
        )

    def epochs(self) -> pl.LazyFrame:
        """The epochs, numbered at each location; a match that is not here is none."""
        rows = self._numbered_epochs().with_columns(self._joined("acquired_ps"))
        numbers = rows.select(peer="location", match="number", match_now="now")
        return (
            rows.join(numbers, on=["peer", "match"], how="left", maintain_order="left")
            .with_columns(match=pl.col("match_now").fill_null(NOWHERE), number=pl.col("now"))
            .drop("now", "match_now")
        )

    def _numbered_epochs(self) -> pl.LazyFrame:
        """The epochs, with their numbers here: `now`."""
        rows = self.inside("epochs", "begin_call", optional=("end_call",))
        return rows.with_columns(now=_dense("number", "location"))

    def instants(self, name: str, begin: str, *times: str) -> pl.LazyFrame:
        """Rows of a table without calls that begin in a window."""
        begins, ends = self.begins_ps.tolist(), self.ends_ps.tolist()
        inside = (pl.col(begin).is_between(*window) for window in zip(begins, [end - 1 for end in ends], strict=True))
        return (
            self._whole_facts(name).filter(pl.any_horizontal(inside)).with_columns(map(self._joined, (begin, *times)))
        )


def _dense(number: str, location: str) -> pl.Expr:
    return (pl.col(number).rank("dense").over(location) - 1).cast(pl.Int32)


_TABLES: Mapping[str, Callable[[Sample], pl.LazyFrame]] = {
    "calls": Sample.calls,
    "messages": Sample.messages,
    "unmatched": lambda sample: sample._whole_facts("unmatched").clear(),
    "collectives": Sample.collectives,
    "transfers": Sample.transfers,
    "epochs": Sample.epochs,
    "locations": Sample.locations,
    "samples": lambda sample: sample.instants("samples", "at_ps"),
    "file_calls": lambda sample: sample.instants("file_calls", "enter_ps", "leave_ps"),
}
"""Name to how the sample's rows of it are made."""
