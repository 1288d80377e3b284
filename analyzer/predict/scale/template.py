"""A run as what each rank does in order: the template of the same program on other numbers of ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.program import CALLS, COLLECTIVES, LOCATIONS, MESSAGES, table_columns

Column = npt.NDArray[Any]


class NoReplayError(Exception):
    """Why a program is not replayed at another size; a sentence for people."""


class TooLargeError(NoReplayError):
    """Its replay would last too long at this size."""


@dataclass(frozen=True)
class Template:
    """Columns of a run's tables, by name; calls are sorted by location, then time."""

    run: Run
    locations: Mapping[str, Column]
    calls: Mapping[str, Column]
    messages: Mapping[str, Column]
    collectives: Mapping[str, Column]
    first_call: Column
    """by location, and one more"""
    own_ps: Column
    """by call: its duration independent of other ranks; 0 of calls that the machine's values describe"""
    gap_ps: Column
    """by call: from the leave before it, or the location's begin"""
    tail_ps: Column
    """by location: from its last leave to its end"""

    @property
    def ranks(self) -> int:
        """How many there are."""
        return len(self.first_call) - 1


def template_of(run: Run) -> Template:
    """The template that a run is.

    Raises:
        NoReplayError: locations are not ranks, or something in the run is not understood well enough.
    """
    where = run.facts("locations").sort("location").select("location", "rank", "accounted").collect()
    if where["rank"].to_list() != list(range(where.height)) or not where["accounted"].all():
        raise NoReplayError("its locations are not one for each rank")
    for table, what in (("transfers", "one-sided transfers"), ("unmatched", "messages without a partner")):
        count = run.facts(table).select(pl.len()).collect().item()
        if count:
            raise NoReplayError(f"it has {count:,} {what}")
    locations, calls, messages, collectives = (
        table_columns(run, table, names)
        for table, names in (
            ("locations", LOCATIONS),
            ("calls", CALLS),
            ("messages", MESSAGES),
            ("collectives", COLLECTIVES),
        )
    )
    world_only(run, collectives, where.height)
    first = np.searchsorted(calls["location"], np.arange(where.height + 1))
    before = np.concatenate([[0], calls["leave_ps"][:-1]]) if len(calls["leave_ps"]) else np.zeros(0, dtype=np.int64)
    starts = first[:-1][np.diff(first) > 0]
    before[starts] = locations["first_ps"][calls["location"][starts]]
    last = locations["first_ps"].copy()
    last[calls["location"][starts]] = calls["leave_ps"][first[1:][np.diff(first) > 0] - 1]
    return Template(
        run,
        locations,
        calls,
        messages,
        collectives,
        first,
        _own(run, calls, messages, collectives),
        np.maximum(calls["enter_ps"] - before, 0),
        np.maximum(locations["last_ps"] - last, 0),
    )


def world_only(run: Run, collectives: Mapping[str, Column], ranks: int) -> None:
    """Raise NoReplayError unless all ranks take part in every collective operation, or one alone."""
    members = run.facts("communicators").sort("comm").select(pl.col("members").list.len()).collect()["members"]
    comms = np.unique(collectives["comm"][collectives["comm"] >= 0])
    sizes = members.to_numpy()[comms[comms < len(members)]]
    some = sizes[(sizes > 1) & (sizes < ranks)]
    if len(some):
        raise NoReplayError(f"collective operations of {int(some[0])} of its {ranks} ranks have no known counterpart")
    instances = collectives["instance"][collectives["instance"] >= 0]
    if len(instances) and (np.bincount(instances) % ranks > 1).any():
        raise NoReplayError("some ranks are missing from a collective operation")


def _own(
    run: Run, calls: Mapping[str, Column], messages: Mapping[str, Column], collectives: Mapping[str, Column]
) -> Column:
    """The measured time of calls that neither send, nor receive, nor take part in a collective operation.

    MPI_Finalize waits for the others; its own time is its least time.
    """
    own = (calls["leave_ps"] - calls["enter_ps"]).astype(np.int64)
    regions = run.facts("regions").sort("region").select("name", pl.col("kind").cast(pl.String)).collect()
    ending = [kind == "init_finalize" and "finalize" in name.lower() for name, kind in regions.iter_rows()]
    last = np.asarray(ending, dtype=np.bool_)[calls["region"]]
    if last.any():
        own[last] = own[last].min()
    for column in ("send_call", "send_complete_call", "recv_call"):
        done = messages[column]
        own[done[done >= 0]] = 0
    starting = [kind == "init_finalize" for kind in regions["kind"]]
    for column in ("call", "complete_call"):
        done = collectives[column]
        done = done[done >= 0]
        own[done[~np.asarray(starting, dtype=np.bool_)[calls["region"][done]]]] = 0
    return own
