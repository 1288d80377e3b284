"""Tables of sums of time: by code, location, window, category and pair."""

from __future__ import annotations

import polars as pl

from logpost.analyzer.run.schema.column import Column, Table, count, enum, ids, ps, wide_ps
from logpost.analyzer.run.schema.vocabulary import (
    ALGORITHMS,
    CATEGORIES,
    COLLECTIVE_PARTS,
    OPERATIONS,
    PARTS,
    PHASES,
    WAIT_STATES,
)

PROFILE = Table(
    "profile",
    "(callpath, location)",
    (
        *ids(callpath="callpath", location="location"),
        count("visits", "calls", "how often it was entered"),
        *ps(inclusive="with its callees", exclusive="without its callees"),
    ),
)

REGION_SPANS = Table(
    "region_spans",
    "(region, location): when it was in use",
    (
        *ids(region="region", location="location"),
        *ps(first_enter="when it was entered first", last_leave="when it was left last"),
    ),
)

ACCOUNTING = Table(
    "accounting",
    "(location, window, phase, category); a location's rows add up to its wall time exactly",
    (
        *ids(location="location", window="time window"),
        enum("phase", PHASES, "start-up, program, shut-down, or outside of the region of interest"),
        enum("category", CATEGORIES, "what the time was"),
        *ps(exposed="how long"),
    ),
)

TIME_CELLS = Table(
    "time_cells",
    "(level, cell of time, group of ranks, category) of the program: the accounting at a finer resolution, for "
    "timelines of runs with many calls; empty where the calls are few enough to be read themselves",
    (
        *ids(
            level="0: the finest; a cell of each further level is two of the one before, and two of the last one's are "
            "a window",
            cell="which one, from the trace's start",
            location="the first location of the group",
            members="how many accounted locations, in their order, the group has",
        ),
        enum("category", CATEGORIES, "what the time was"),
        *ps(exposed="how long, over the group"),
    ),
)

IDEAL_NETWORK = Table(
    "ideal_network",
    "(location, window) of the program: what a replay on an ideal network takes for it; none where it is not replayed",
    (
        *ids(location="location", window="time window, as measured"),
        *ps(ideal="how long on a network without latency, overhead or limits of bandwidth"),
    ),
)

EXPOSURE = Table(
    "exposure",
    "(location, callpath, phase, category) of communication calls: the accounting by place in the code; calls without "
    "any time are a row of mpi_other",
    (
        *ids(location="location", callpath="callpath of the call"),
        enum("phase", PHASES, "start-up, program, shut-down, or outside of the region of interest"),
        enum("category", CATEGORIES, "what the time was"),
        *ps(exposed="how long"),
        count("calls", "calls", "calls of this callpath on this location entered in this phase"),
    ),
)

IN_COLLECTIVES = Table(
    "collective_parts",
    "(location, callpath, phase, part): what the category `collective` of the exposure is divided into, exactly",
    (
        *ids(location="location", callpath="callpath of the call"),
        enum("phase", PHASES, "start-up, program, shut-down, or outside of the region of interest"),
        enum("part", COLLECTIVE_PARTS, "what the time was, by the replay of the operation's messages"),
        *ps(exposed="how long"),
    ),
)

COLLECTIVE_KINDS = Table(
    "collective_kinds",
    "collective operations of one kind, size class (powers of two) and communicator that are divided",
    (
        enum("operation", OPERATIONS, "which operation"),
        *ids(comm="communicator", members="its members"),
        count("least_bytes", "B", "the smallest part that a member has for, or gets from, each other one"),
        count("most_bytes", "B", "the largest one"),
        count("operations", "operations", "how many"),
        enum("algorithm", ALGORITHMS, "whose replayed ends fit the measured ones best; not_known: one member"),
        Column("error_ps", pl.Float64(), "ps", "typical distance of replayed and measured ends, see docs/split.md"),
        enum("second", ALGORITHMS, "the next best; not_known: there is no other"),
        Column("second_error_ps", pl.Float64(), "ps", "its typical distance"),
        *wide_ps(
            measured="sum over members, beyond the waits that the operation's definition names",
            predicted="the same, as replayed",
            residual="sum of what was measured beyond the replay",
            deficit="sum of what was replayed beyond the measurement",
        ),
    ),
)

WAIT_STATE_TOTALS = Table(
    "wait_states",
    "(location, wait state) with Scalasca's definitions",
    (
        *ids(location="location"),
        enum("pattern", WAIT_STATES, "the wait state"),
        Column(
            "wait_ticks",
            pl.Int64(),
            "ticks",
            "its time in ticks of the archive's clock (manifest: clock.ticks_per_second), free of rounding",
        ),
        count("count", "occurrences", "how often"),
    ),
)

PAIRS = Table(
    "pairs",
    "(sender, receiver): the message matrix",
    (
        *ids(send_location="sender", recv_location="receiver"),
        count("messages", "messages", "matched messages"),
        count("bytes", "B", "payload"),
        *ps(
            envelope="sum of envelopes",
            **{part: f"sum over its messages: {part.replace('_', ' ')}" for part in PARTS},
            deficit="sum of deficits",
        ),
    ),
)
