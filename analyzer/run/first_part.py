"""The first part of a run: its calls until some time, and what is between them, as a run.

Calls, and numbers of messages and epochs, are dense in it as they are in a whole run. A message, a collective operation
or a transfer is in it where all of its calls are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import polars as pl

from logpost.analyzer.run.directory import Run

SAMPLED = 16
"""Each of so many calls is read to find out when that many have begun."""
NOWHERE = -1


def end_of_first(calls: pl.LazyFrame, most: int) -> int:
    """The enter of the last one of so many calls; ps."""
    enters = calls.select(pl.col("enter_ps").gather_every(SAMPLED)).collect()["enter_ps"].to_numpy()
    last = min(len(enters) - 1, most // SAMPLED)
    return int(np.partition(enters, last)[last])


class FirstPart(Run):
    """A run until a time, of which it has so many calls.

    Arguments:
        run: the whole.
        most_calls: how many there are at most, but for those that begin at the same time.
    """

    def __init__(self, run: Run, most_calls: int) -> None:
        super().__init__(run.path, run.manifest)
        self.until_ps = end_of_first(run.facts("calls"), most_calls)
        self._whole = run
        self._calls = run.facts("calls").filter(pl.col("enter_ps") <= self.until_ps).sort("call").collect()
        """in the order of their numbers"""
        self._number = self._calls.select("call").with_row_index("now").select("call", pl.col("now").cast(pl.Int32))

    def facts(self, name: str) -> pl.LazyFrame:
        """A table's rows of this part."""
        made = _TABLES.get(name)
        return super().facts(name) if made is None else made(self)

    def table(self, name: str) -> pl.LazyFrame:
        """Likewise, in the region of interest."""
        if name in _TABLES and name != "locations":
            return self.facts(name)
        found = super().table(name)
        return _cut(found, self.until_ps) if name == "locations" else found

    def _whole_facts(self, name: str) -> pl.LazyFrame:
        return super().facts(name)

    def calls(self) -> pl.LazyFrame:
        """The calls."""
        now = pl.int_range(pl.len(), dtype=pl.Int32)
        return self._calls.lazy().with_columns(call=now)

    def inside(self, name: str, *needed: str, optional: tuple[str, ...] = ()) -> pl.LazyFrame:
        """Rows of a table whose calls are here, under their numbers; an optional call that is not here is none."""
        rows = self._whole_facts(name)
        for column in (*needed, *optional):
            number = self._number.lazy().rename({"call": column, "now": f"{column}_now"})
            rows = rows.join(number, on=column, how="left", maintain_order="left")
        return (
            rows.filter(*(pl.col(f"{column}_now").is_not_null() for column in needed))
            .with_columns(**{column: pl.col(f"{column}_now").fill_null(NOWHERE) for column in (*needed, *optional)})
            .drop(*(f"{column}_now" for column in (*needed, *optional)))
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
        rows = self.inside("collectives", "call", "complete_call")
        return (
            rows.join(members, on="instance", how="left", maintain_order="left")
            .filter((pl.len().over("instance") == pl.col("whole")) | (pl.col("instance") < 0))
            .drop("whole")
        )

    def epochs(self) -> pl.LazyFrame:
        """The epochs, numbered at each location; a match that is not here is none."""
        rows = self.inside("epochs", "begin_call", optional=("end_call",)).with_columns(
            now=_dense("number", "location")
        )
        numbers = rows.select(peer="location", match="number", match_now="now")
        return (
            rows.join(numbers, on=["peer", "match"], how="left", maintain_order="left")
            .with_columns(match=pl.col("match_now").fill_null(NOWHERE), number=pl.col("now"))
            .drop("now", "match_now")
        )


def _dense(number: str, location: str) -> pl.Expr:
    return (pl.col(number).rank("dense").over(location) - 1).cast(pl.Int32)


def _cut(locations: pl.LazyFrame, until_ps: int) -> pl.LazyFrame:
    ends = [name for name in ("last_ps", "end_ps") if name in locations.collect_schema().names()]
    return locations.with_columns(pl.min_horizontal(pl.col(name), pl.lit(until_ps)) for name in ends)


_TABLES: Mapping[str, Callable[[FirstPart], pl.LazyFrame]] = {
    "calls": FirstPart.calls,
    "messages": FirstPart.messages,
    "unmatched": lambda part: part._whole_facts("unmatched").clear(),
    "collectives": FirstPart.collectives,
    "transfers": lambda part: part.inside("transfers", "call", optional=("complete_call", "remote_call")),
    "epochs": FirstPart.epochs,
    "locations": lambda part: _cut(part._whole_facts("locations"), part.until_ps),
}
"""Name to how the part's rows of it are made."""
