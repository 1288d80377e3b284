"""Tables of definitions: where events happen, in which code, between which ranks."""

from __future__ import annotations

import polars as pl

from logpost.analyzer.run.schema.column import Column, Table, count, ids, ps, text

LOCATIONS = Table(
    "locations",
    "one stream of events: a process's main thread, a thread, a device stream",
    (
        *ids(
            location="dense id",
            rank="rank in the paradigm's world; -1: not a rank",
            node="dense id of its host",
            socket="its socket within the host; -1: not known",
            process="dense id of its process",
        ),
        *text(
            name="as the archive calls it",
            group="its process",
            host="its host",
            kind="cpu, gpu, metric, other",
            core="the cores it is bound to, as the archive says, e.g. '0-3'; empty: not known",
        ),
        Column("ref", pl.UInt64(), "", "the archive's id"),
        Column("accounted", pl.Boolean(), "", "has rows in accounting: a rank, or a thread that communicates"),
        *ps(
            first="first event",
            last="last event",
            wall="last minus first event",
            begin="begin of the program, or of the region of interest",
            end="end of the program, or of the region of interest",
        ),
        count("events", "events", "events read"),
        count("communication_events", "events", "events of communication calls"),
    ),
)

REGIONS = Table(
    "regions",
    "a function or code region",
    (
        *ids(region="dense id", line="line of its definition; 0: unknown"),
        *text(name="its name", file="its source file", kind="user, or what the communication call does"),
    ),
)

CALLPATHS = Table(
    "callpaths",
    "a node of the calling-context tree; parents are before children",
    (
        *ids(
            callpath="dense id",
            parent="the caller's id; -1: a root",
            region="its region",
            depth="0 for a root",
            line="line of the call site; 0: unknown",
        ),
        *text(path="region names from the root, joined by ' / '", file="source file of the call site; may be empty"),
    ),
)

COMMUNICATORS = Table(
    "communicators",
    "a communicator",
    (
        *ids(
            comm="dense id",
            parent="the communicator it was made from; -1: none",
            size="members",
            first_group="of an inter-communicator, members of its first group; 0: it is none",
        ),
        *text(name="its name; may be empty"),
        Column("ref", pl.UInt64(), "", "the archive's id"),
        Column(
            "members",
            pl.List(pl.Int32()),
            "",
            "location of each rank; -1: none; of an inter-communicator both groups', the first one's first",
        ),
    ),
)
