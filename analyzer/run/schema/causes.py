"""Tables of causes: the critical path, delay costs, findings."""

from __future__ import annotations

import polars as pl

from logpost.analyzer.run.schema.column import Column, Table, enum, ids, ps, text, wide_ps
from logpost.analyzer.run.schema.vocabulary import CATEGORIES, DELAY_PLACES, FINDING_KINDS, PHASES, WAIT_KINDS

CRITICAL_PATH = Table(
    "critical_path",
    "a stretch of the recorded execution's critical path on one location, in the order of time, without a gap; "
    "their lengths add up to the time from the first to the last event of all ranks exactly",
    (
        *ids(location="where the path is; -1: before the first event of its first location"),
        *ps(begin="since when", end="until when; there the next stretch begins"),
        *ids(call="the call of this location whose wait ended at the begin; -1: the path begins"),
        enum("after", (*WAIT_KINDS, "begin"), "what that wait was; the location of the stretch before ended it"),
    ),
)

DELAY_COSTS = Table(
    "delay_costs",
    "what one place in the code of one location makes others wait; for each pattern the costs add up to the waits in "
    "the region of interest exactly",
    (
        *ids(location="that delays; -1: waits that no delay explains", callpath="the place's callpath"),
        enum("place", DELAY_PLACES, "computation before calls of the callpath, the calls themselves, or unexplained"),
        *ids(wait_callpath="of the calls that waited for it directly; -1: not explained"),
        enum("pattern", WAIT_KINDS, "of the waits that are paid for"),
        *wide_ps(
            short_term="waits that it causes directly",
            long_term="waits elsewhere that the direct waits passed on",
        ),
    ),
)

PATH_PROFILE = Table(
    "path_profile",
    "(location, callpath, phase, category): all time of the accounting by place in the code",
    (
        *ids(
            location="location",
            callpath="of the call; of computation: of the call that follows it, -1 after the last call",
        ),
        enum("phase", PHASES, "start-up, program, shut-down, or outside of the region of interest"),
        enum("category", CATEGORIES, "what the time was"),
        *ps(
            spent="how long",
            on_path="how long of it the location was on the critical path",
            waited="how long of it a call waited for another location's, by recorded times alone",
        ),
    ),
)

EVIDENCE = pl.Struct({"name": pl.String(), "value": pl.Float64(), "unit": pl.String(), "thread": pl.Int32()})
NAMED_THREAD = pl.Struct({"rank": pl.Int32(), "process": pl.Int32(), "thread": pl.Int32()})

FINDINGS = Table(
    "findings",
    "one hotspot, the one that gains most first",
    (
        enum("kind", FINDING_KINDS, "which pattern"),
        *text(
            title="one line that names ranks and region",
            region="region that waits or carries the traffic",
            cause_region="region that causes it; empty: not known",
            advice="what to try",
            certainty="why the confidence is what it is",
        ),
        Column("ranks", pl.List(pl.Int32()), "", "the ranks concerned, ascending"),
        Column(
            "threads",
            pl.List(NAMED_THREAD),
            "",
            "of ranks that are not concerned as a whole: which threads are; and processes without a rank, those as a "
            "whole without a thread",
        ),
        Column(
            "evidence",
            pl.List(EVIDENCE),
            "",
            "the numbers behind it: name, value and unit of each; of a rank also the thread, if it is one only",
        ),
        *ids(callpath="callpath of the region; -1: several", first_window="begins in", last_window="ends in"),
        *wide_ps(exposed="exposed time over the ranks concerned"),
        Column("share", pl.Float64(), "1", "exposed time on the worst-hit rank over the slowest rank's program time"),
        Column(
            "gain",
            pl.Float64(),
            "1",
            "share of the slowest rank's program time that a replay without all of the cause saves",
        ),
        Column(
            "gain_low",
            pl.Float64(),
            "1",
            "lower end of the gain's interval: the same replay with the machine's values, and what the trace does not "
            "show, at their ends; null: no end is computed",
        ),
        Column("gain_high", pl.Float64(), "1", "upper end of that interval; null: no end is computed"),
        Column(
            "path_share",
            pl.Float64(),
            "1",
            "share of the critical path in the code that delays others, or in the finding's calls; null: not known",
        ),
        Column("confidence", pl.Float64(), "1", "0 to 1"),
    ),
)
