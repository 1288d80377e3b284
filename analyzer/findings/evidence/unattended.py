"""Processor queueing as intervals: whose processor a message waited for, and when.

The split says how long a message queued, and the calls say how much of that each side really lost. Where it lies in
time follows from the order of the parts (docs/split.md):

* **Its sender waits**, in the call that begins or completes the send, for the *receiver's* processor: from when the
  message (of a rendezvous: its request) has got there and the receive is posted until the receiver enters the call
  that completes the receive; a send that lasts longer waits for that call, too.
* **Its receiver waits**, in the call that completes the receive. If the sender of a rendezvous left its nonblocking
  send and is outside communication calls, the *sender's* processor does not see the clear-to-send; that wait ends when
  the sender enters its next call. Else it is the receiver's own processor, which takes other messages first.

A call's exposed queueing is shared over the messages that it begins or completes in proportion to the length of their
intervals inside it (as in `attribution`); their own processor counts only where no other one was waited for. All
times in ps.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from logpost.analyzer.findings.evidence.tables import Evidence

LONGEST = 8192
"""Calls looked at per place: those that lose most, which hold most of the time."""

MODELLED = ("send_overhead", "middleware", "latency", "serialization", "recv_overhead")
"""Parts of a message that only the machine's values say."""


def unattended(evidence: Evidence, callpaths: Iterable[int]) -> pl.DataFrame:
    """The waits for somebody's processor at these call paths, those of the `LONGEST` longest calls of each.

    Returns:
        Rows (place: call path of the waiting call; call: its number; waiter: its location; location: whose processor
        it waits for; callpath: the call by which that one attends to the message, -1: it makes no call any more;
        begin_ps, end_ps; exposed_ps: share in the call's exposed time; modelled_ps: what only the machine's values say
        of the message).
    """
    calls = _calls(evidence, callpaths)
    messages = _messages(evidence, calls)
    of_sends, of_receives = _ends(calls, messages)
    away = _away(evidence, of_receives)
    elsewhere = pl.concat([_for_receiver(of_sends), away])
    own = _rows(of_receives, "recv_location", "recv_callpath", "enter_ps", "leave_ps")
    known = pl.concat([elsewhere, own.join(elsewhere, on="call", how="anti")])
    every = pl.concat([known, _before_post(of_sends).join(known, on="call", how="anti")])
    length = (pl.col("end_ps") - pl.col("begin_ps")).cast(pl.Float64)
    shared = pl.col("exposed_ps") * length / length.sum().over("call")
    return every.with_columns(exposed_ps=shared).sort(
        "call", "begin_ps", "location", "end_ps", "callpath", "exposed_ps"
    )


def _calls(evidence: Evidence, callpaths: Iterable[int]) -> pl.DataFrame:
    queueing = (
        evidence.tables["calls"]
        .filter(pl.col("processor_queueing_ps") > 0)
        .select(
            "call",
            "enter_ps",
            "leave_ps",
            place="callpath",
            waiter="location",
            exposed_ps=pl.col("processor_queueing_ps").cast(pl.Float64),
        )
    )
    longest = [queueing.filter(pl.col("place") == place).top_k(LONGEST, by="exposed_ps") for place in callpaths]
    return pl.concat(pl.collect_all(longest)).sort("call")


def _messages(evidence: Evidence, calls: pl.DataFrame) -> pl.DataFrame:
    """The queueing messages that begin or end with one of the calls.

    `there_ps` is when the receiver could attend to the message, `clear_ps` when a clear-to-send that is sent at once
    gets back to the sender: of the three ways of a rendezvous through the network, the request is the first.
    """
    numbers = calls["call"].implode()
    rendezvous = pl.col("protocol").cast(pl.String) == "rendezvous"
    sent = pl.col("send_enter_ps") + pl.col("send_overhead_ps")
    way = ("latency", "serialization", "endpoint_contention", "network_contention")
    arrived = sent + pl.sum_horizontal([pl.col(f"{part}_ps") for part in way])
    posted_before = pl.col("recv_post_ps") < pl.col("recv_enter_ps")
    return (
        evidence.tables["messages"]
        .filter(
            pl.col("processor_queueing_ps") > 0,
            pl.any_horizontal(pl.col("send_call", "send_complete_call", "recv_call").is_in(numbers)),
        )
        .select(
            "send_location",
            "recv_location",
            "recv_callpath",
            "send_call",
            "send_leave_ps",
            "recv_post_ps",
            "recv_enter_ps",
            "recv_leave_ps",
            "recv_call",
            complete_call=pl.when(pl.col("send_complete_call") >= 0).then("send_complete_call").otherwise("send_call"),
            rendezvous=rendezvous,
            arrived_ps=arrived,
            queueing_ps="processor_queueing_ps",
            there_ps=pl.when(rendezvous)
            .then(sent + pl.col("latency_ps") // 3 + pl.col("late_receiver_ps"))
            .when(posted_before)
            .then(pl.max_horizontal(arrived, "recv_post_ps"))
            .otherwise(arrived),
            clear_ps=sent + 2 * pl.col("latency_ps") // 3,
            modelled_ps=pl.sum_horizontal([pl.col(f"{part}_ps") for part in MODELLED]),
        )
        .collect()
    )


def _ends(calls: pl.DataFrame, messages: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The calls beside the messages whose sends they begin or complete, and beside those that they receive."""
    completed = messages.with_columns(call="complete_call")
    begun = messages.filter(pl.col("send_call") != pl.col("complete_call")).with_columns(call="send_call")
    received = messages.with_columns(call="recv_call")
    return calls.join(pl.concat([completed, begun]), on="call"), calls.join(received, on="call")


def _rows(joined: pl.DataFrame, location: str, callpath: str, begin: str, end: str) -> pl.DataFrame:
    """As `unattended` returns them; what has no length is no wait, and none is longer than its call lost."""
    lost = pl.col(begin) + pl.col("exposed_ps").cast(pl.Int64)
    return joined.filter(pl.col(end) > pl.col(begin)).select(
        "place",
        "call",
        "waiter",
        pl.col(location).alias("location"),
        pl.col(callpath).alias("callpath"),
        pl.col(begin).alias("begin_ps"),
        pl.min_horizontal(end, lost).alias("end_ps"),
        "exposed_ps",
        "modelled_ps",
    )


def _for_receiver(of_sends: pl.DataFrame) -> pl.DataFrame:
    """From when the message could be attended to: until the receiver's call, and while that takes others first."""
    waits = of_sends.with_columns(
        begin_ps=pl.max_horizontal("enter_ps", "there_ps"),
        end_ps=pl.min_horizontal("leave_ps", "recv_leave_ps", pl.col("there_ps") + pl.col("queueing_ps")),
    )
    return _rows(waits, "recv_location", "recv_callpath", "begin_ps", "end_ps")


def _before_post(of_sends: pl.DataFrame) -> pl.DataFrame:
    """Waits of senders for receivers that work for other messages while an eager message is there and not posted."""
    waits = of_sends.filter(~pl.col("rendezvous")).with_columns(
        begin_ps=pl.max_horizontal("enter_ps", "arrived_ps"), end_ps=pl.min_horizontal("leave_ps", "recv_post_ps")
    )
    return _rows(waits, "recv_location", "recv_callpath", "begin_ps", "end_ps")


def _away(evidence: Evidence, of_receives: pl.DataFrame) -> pl.DataFrame:
    """Waits of receivers for senders that are outside communication calls."""
    asked = of_receives.filter("rendezvous").with_columns(
        begin_ps=pl.max_horizontal("enter_ps", "clear_ps", "send_leave_ps")
    )
    senders = asked["send_location"].unique().implode()
    following = (
        evidence.tables["calls"]
        .filter(pl.col("location").is_in(senders))
        .select("leave_ps", send_location="location", next_enter_ps="enter_ps", next_callpath="callpath")
        .sort("leave_ps")
        .collect()
    )
    found = asked.sort("begin_ps").join_asof(
        following.rename({"leave_ps": "next_leave_ps"}),
        left_on="begin_ps",
        right_on="next_leave_ps",
        by="send_location",
        strategy="forward",
        allow_exact_matches=False,
        check_sortedness=False,
    )
    # A sender that makes no call any more is waited for until the receiver leaves; no call path is behind its code.
    ended = found.with_columns(
        pl.col("next_callpath").fill_null(-1), end_ps=pl.min_horizontal("leave_ps", "next_enter_ps")
    )
    return _rows(ended, "send_location", "next_callpath", "begin_ps", "end_ps")
