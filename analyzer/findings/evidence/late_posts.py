"""Late posts: for sends that wait for a receive, whose receive it is, and where and when it is posted.

The split says how long a message waited for its receive (`late_receiver`), up to the moment at which it was posted. The
call of the sender that completes the send waits; its exposed time is shared over the messages that it completes in
proportion to their parts. A receiver that takes other messages meanwhile, and posts this receive only then, attends to
others until it has left the last of those receives; only from then on is it late by what it does itself. All times in
ps.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.run.wide import wide_sum

LONGEST = 8192
"""Calls looked at per place: those that lose most, which hold most of the time."""


def late_posts(evidence: Evidence, callpaths: Iterable[int]) -> pl.DataFrame:
    """The waits of senders at these call paths for receives, those of the `LONGEST` longest calls of each.

    Returns:
        Rows (place: call path of the waiting call; waiter: its location; location: the receiver; callpath: of the call
        that posts the receive; recv_post_call: its number; send_enter_ps: when the send began; begin_ps, end_ps: from
        when until the receiver was waited for; free_ps: from when it took no other message; exposed_ps: share in the
        call's exposed time).
    """
    waiting = evidence.tables["calls"].filter(pl.col("late_receiver_ps") > 0)
    waiting = waiting.select("call", place="callpath", waiter="location", exposed_ps="late_receiver_ps")
    longest = [waiting.filter(pl.col("place") == place).top_k(LONGEST, by="exposed_ps") for place in callpaths]
    calls = pl.concat(pl.collect_all(longest))
    ids = calls["call"].implode()
    late = (
        evidence.tables["messages"]
        .filter(pl.col("late_receiver_ps") > 0, pl.col("send_location") != pl.col("recv_location"))
        .select(
            "recv_post_call",
            "send_enter_ps",
            location="recv_location",
            call=pl.when(pl.col("send_complete_call") >= 0).then("send_complete_call").otherwise("send_call"),
            part_ps=pl.col("late_receiver_ps").cast(pl.Float64),
            begin_ps=pl.col("recv_post_ps") - pl.col("late_receiver_ps"),
            end_ps="recv_post_ps",
        )
        .filter(pl.col("call").is_in(ids))
        .collect()
    )
    posted = (
        evidence.tables["calls"]
        .filter(pl.col("call").is_in(late["recv_post_call"].unique().implode()))
        .select("callpath", recv_post_call="call")
        .collect()
    )
    shared = pl.col("exposed_ps") * pl.col("part_ps") / wide_sum("part_ps").over("call")
    rows = late.join(calls, on="call").join(posted, on="recv_post_call").with_columns(exposed_ps=shared)
    return (
        _with_others_taken(evidence, rows)
        .select(
            "place",
            "waiter",
            "location",
            "callpath",
            "recv_post_call",
            "send_enter_ps",
            "begin_ps",
            "free_ps",
            "end_ps",
            "exposed_ps",
        )
        .sort("place", "waiter", "begin_ps", "location", "end_ps", "callpath", "exposed_ps")
    )


def _with_others_taken(evidence: Evidence, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with `free_ps`: when the receiver had left the last receive that it completed before `end_ps`."""
    taken = (
        evidence.tables["messages"]
        .filter(pl.col("recv_location").is_in(rows["location"].unique().implode()))
        .select(location="recv_location", taken_ps="recv_leave_ps")
        .sort("taken_ps")
        .collect()
    )
    found = rows.sort("end_ps").join_asof(
        taken,
        left_on="end_ps",
        right_on="taken_ps",
        by="location",
        strategy="backward",
        check_sortedness=False,
    )
    return found.with_columns(free_ps=pl.max_horizontal("begin_ps", pl.col("taken_ps").fill_null(0)))
