"""The chain of causes behind a message or a call that waited: what the late rank did, and what that waited for.

A message that waits for its sender (or, by rendezvous, for its receiver) waits for what that rank does from the one
end's enter to the other's: computation, or a call. If the call waited for a message itself, the chain continues with
it; it ends at computation, at a call that waited for no rank, and at a collective operation, for which all its members
wait. A call that waits in a collective operation waits for the member that enters last.
These are the recorded facts; what a wait costs others is in the table `delay_costs`, and what counts for the run's
length in `critical_path`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from logpost.analyzer.run.directory import Run
from logpost.analyzer.words.location_names import Location

MOST = 8
"""Causes: further back a reader does not follow."""


@dataclass(frozen=True)
class Cause:
    """What a rank did while another one waited for it."""

    location: Location
    waited_ps: int
    """How long the other one waited."""
    spent_ps: int
    """Of it, in what is named here: what took most."""
    callpath: int
    """Of the call; of computation, of the call after it."""
    computes: bool
    in_collective: bool = False
    """Whether the call was in a collective operation, most of which was a wait for its last member."""
    message: tuple[int, int] | None = None
    """The message that the call waited for, by receiving location and number; the next cause is that of its wait."""


def causes_of(run: Run, location: int, number: int) -> list[Cause]:
    """The causes behind a message, the nearest first; none where it waited for neither end.

    Args:
        run: a finished run.
        location, number: its receiving location, and its place among the requests to receive there.
    """
    row = _message(run, (pl.col("recv_location") == location) & (pl.col("recv_number") == number))
    return [] if row is None else _chain(run, _late(row), {(location, number)})


@dataclass(frozen=True)
class CallCauses:
    """What a call waited for longest, and what is behind it."""

    message: tuple[int, int] | None
    """The message, by receiving location and number; None: the last member of a collective operation."""
    waited_ps: int
    causes: list[Cause]
    """The nearest first; none where no rank arrived last."""


def causes_of_call(run: Run, call: int) -> CallCauses | None:
    """What is behind a call's wait: for a message's other end, or for the last member of a collective operation,
    whichever is longer; None where it waited for neither.

    Args:
        run: a finished run.
        call: its number, as in the table `calls`.
    """
    known = run.facts("calls").filter(pl.col("call") == call).select("location").collect()
    if known.is_empty():
        return None
    row = _waited_for(run, int(known.item()), call)
    passed = 0 if row is None else max(row["late_sender_ps"], row["late_receiver_ps"])
    operation = _operation(run, call)
    if operation is not None and operation["wait_ps"] > passed:
        return CallCauses(None, int(operation["wait_ps"]), _chain(run, _last(run, operation), set()))
    if row is None:
        return None
    name = (int(row["recv_location"]), int(row["recv_number"]))
    return CallCauses(name, int(passed), _chain(run, _late(row), {name}))


Late = tuple[Location, int, int, int]
"""The rank that another waited for, from when to when, and the callpath of its call."""


def _chain(run: Run, late: Late | None, seen: set[tuple[int, int]]) -> list[Cause]:
    """The causes from the late rank on; `seen` are the messages that the chain has gone through."""
    found: list[Cause] = []
    while late is not None and len(found) < MOST:
        cause, call = _doing(run, *late)
        following = None if call is None or cause.in_collective else _waited_for(run, cause.location, call)
        if following is not None:
            name = (int(following["recv_location"]), int(following["recv_number"]))
            following = None if name in seen else following
            seen.add(name)
        if following is not None:
            cause = Cause(cause.location, cause.waited_ps, cause.spent_ps, cause.callpath, False, message=name)
        found.append(cause)
        late = None if following is None else _late(following)
    return found


def _operation(run: Run, call: int) -> dict[str, Any] | None:
    """The collective operation for which a call waited longest, as its row; None: it waited in none."""
    mine = pl.when(pl.col("complete_call") >= 0).then(pl.col("complete_call")).otherwise(pl.col("call"))
    rows = run.facts("collectives").filter(mine == call, pl.col("instance") >= 0, pl.col("wait_ps") > 0)
    return next(rows.top_k(1, by="wait_ps").collect().iter_rows(named=True), None)


def _last(run: Run, operation: dict[str, Any]) -> Late | None:
    """The member that entered last, from when on it was awaited; None: it is the operation's own member."""
    until = int(operation["enter_ps"] + operation["wait_ps"])
    members = run.facts("collectives").filter(pl.col("instance") == operation["instance"], pl.col("enter_ps") <= until)
    last = members.top_k(1, by="enter_ps").collect().row(0, named=True)
    if last["location"] == operation["location"]:
        return None
    return Location(last["location"]), int(operation["enter_ps"]), int(last["enter_ps"]), int(last["callpath"])


def _message(run: Run, condition: pl.Expr, by: str = "envelope_ps") -> dict[str, Any] | None:
    """Of the messages of a condition the one with most of a time."""
    return next(run.table("messages").filter(condition).top_k(1, by=by).collect().iter_rows(named=True), None)


def _late(row: dict[str, Any]) -> Late | None:
    """The rank that a message waited for; None: it waited for no rank."""
    if row["late_sender_ps"] >= row["late_receiver_ps"]:
        begin, end = row["recv_enter_ps"], row["send_enter_ps"]
        late, callpath = row["send_location"], row["send_callpath"]
    else:
        begin, end = row["send_enter_ps"], row["recv_post_ps"]
        late, callpath = row["recv_location"], row["recv_callpath"]
    waited = max(row["late_sender_ps"], row["late_receiver_ps"])
    return (Location(late), int(begin), int(end), int(callpath)) if waited > 0 and end > begin else None


def _doing(run: Run, location: Location, begin: int, end: int, callpath: int) -> tuple[Cause, int | None]:
    """What took most of a stretch of time on a location, and the number of the call if it was one."""
    inside = (pl.min_horizontal("leave_ps", pl.lit(end)) - pl.max_horizontal("enter_ps", pl.lit(begin))).alias("inside")
    calls = (
        run.facts("calls")
        .filter(pl.col("location") == location, pl.col("enter_ps") < end, pl.col("leave_ps") > begin)
        .select("call", "callpath", "enter_ps", "leave_ps", "collective_wait_ps", inside)
        .collect()
    )
    computed = (end - begin) - int(calls["inside"].sum())
    longest = next(calls.top_k(1, by="inside").iter_rows(named=True), None)
    if longest is None or computed >= longest["inside"]:
        return Cause(location, end - begin, computed, callpath, True), None
    mostly = 2 * longest["collective_wait_ps"] > longest["leave_ps"] - longest["enter_ps"]
    cause = Cause(location, end - begin, longest["inside"], longest["callpath"], False, mostly)
    return cause, int(longest["call"])


def _waited_for(run: Run, location: int, call: int) -> dict[str, Any] | None:
    """The message that a call waited for longest: for its sender, or for its receiver; None: for none.

    A message may wait for its receiver without its send: one that is sent eagerly waits at the other end.
    """
    own = run.facts("calls").filter(pl.col("location") == location, pl.col("call") == call)
    times = next(own.select("late_sender_ps", "late_receiver_ps").collect().iter_rows(), (0, 0))
    received = (pl.col("recv_location") == location) & (pl.col("recv_call") == call) & (pl.col("late_sender_ps") > 0)
    sent = (pl.col("send_location") == location) & (pl.col("send_complete_call") == call)
    one = _message(run, received, by="late_sender_ps") if times[0] else None
    if one is None and times[1]:
        one = _message(run, sent & (pl.col("late_receiver_ps") > 0), by="late_receiver_ps")
    return one
