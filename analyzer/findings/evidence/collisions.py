"""Crowding: whether senders choose an already busy receiver more often than by chance.

When sender s sends a message at the instant t, let n_r be the messages in flight from *other* senders to receiver r,
and p_sr the share of s's messages that go to r over the whole run. The message to receiver q meets

    observed   C = n_q         others' messages at its receiver
    expected   E = sum_r p_sr n_r

E being the expectation if s chose among the receivers that it has anyway without regard to what is under way. The
crowding R is the sum of C over the sum of E: 1 for an order in which senders do not know of each other (random), near 0
for a spread one (staggered), and up to 1/p (the number of receivers of a sender) when all walk the same list in step.
Because the state n is taken as it is, and only the new message's choice is judged, a slow receiver, at which messages
pile up whatever the order, does not count as crowding. R needs no machine parameter and no time window, holds for 4
and for 4096 ranks, and finds a hot spot that moves from receiver to receiver faster than any window; one that stays is
not crowding but load (`hot_endpoint`): no other order could cure it.

In flight is a message from the enter of its send call until its sender knows it gone (send call left or, for
rendezvous, send completed), or until the split has it arrive, whichever is later, but never after it was received.

Sampling: every k-th message is judged; the standard error comes from leaving out one of `BATCHES` successive batches of
them at a time (jackknife).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

Times = npt.NDArray[np.int64]
Sums = npt.NDArray[np.float64]

JUDGED = 2048
"""Messages judged. More would not help: the standard error of a crowding near 1 is then a few per cent."""
MAX_ENTRIES = 4_000_000
"""Messages in flight over all judged ones that are held at once; beyond it, fewer messages are judged."""
MAX_CELLS = 20_000_000
"""Judged messages times ranks: bounds the memory on many ranks."""
CHUNK = 2_000_000
"""Rows of `messages` read at a time."""
BATCHES = 16


@dataclass(frozen=True)
class Crowding:
    """Others' messages that the judged ones meet at their receiver, observed and expected, by judged message."""

    receivers: npt.NDArray[np.int32]
    observed: Sums
    """(judged message, receiver)"""
    expected: Sums
    """(judged message, receiver)"""

    @property
    def judged(self) -> int:
        """Messages judged."""
        return len(self.observed)

    @property
    def ratio(self) -> float:
        """Crowding over all receivers; 1.0 where nothing could collide."""
        expected = float(self.expected.sum())
        return float(self.observed.sum()) / expected if expected > 0 else 1.0

    @property
    def standard_error(self) -> float:
        """Of `ratio`, by jackknife over batches of successive instants."""
        batches = min(BATCHES, self.judged)
        if batches < 2:
            return math.inf
        edges = np.linspace(0, self.judged, batches + 1).astype(np.int64)[:-1]
        observed = np.add.reduceat(self.observed.sum(axis=1), edges)
        expected = np.add.reduceat(self.expected.sum(axis=1), edges)
        rest = expected.sum() - expected
        if np.any(rest <= 0):
            return math.inf
        without = (observed.sum() - observed) / rest
        return float(np.sqrt((batches - 1) / batches * np.sum((without - without.mean()) ** 2)))

    def by_receiver(self) -> dict[int, float]:
        """Receiver to its own crowding; receivers at which nothing could collide are left out."""
        observed, expected = self.observed.sum(axis=0), self.expected.sum(axis=0)
        return {
            int(receiver): float(o / e)
            for receiver, o, e in zip(self.receivers, observed, expected, strict=True)
            if e > 0
        }


def crowding(messages: pl.LazyFrame, pairs: pl.DataFrame) -> Crowding | None:
    """Measures the crowding of a run; None where fewer than two senders share a receiver.

    Arguments:
        messages: the messages table.
        pairs: the message matrix without messages to oneself.
    """
    by_receiver = pairs.group_by("recv_location").agg(senders=pl.len())
    if int(by_receiver.select(pl.col("senders").max()).item() or 0) < 2:
        return None
    total = int(pairs["messages"].sum())
    others = messages.filter(pl.col("send_location") != pl.col("recv_location"), ~pl.col("clock_violation"))
    flights = others.select("send_location", "recv_location", begin=pl.col("send_enter_ps"), end=_gone())
    ranks = len(set(pairs["send_location"]) | set(pairs["recv_location"]))
    wanted = max(BATCHES, min(JUDGED, MAX_CELLS // ranks))
    judged = (
        others.select("send_enter_ps", "send_location", "recv_location")
        .gather_every(max(1, total // wanted))
        .collect()
        .sort("send_enter_ps")
    )
    while True:
        times = judged["send_enter_ps"].to_numpy()
        in_flight = _in_flight(flights, total, times)
        if in_flight is not None:
            return _count(judged, *in_flight, pairs)
        judged = judged.gather_every(2)


def _gone() -> pl.Expr:
    arrival = pl.col("send_enter_ps") + pl.sum_horizontal(
        [
            pl.col(f"{part}_ps")
            for part in (
                "send_overhead",
                "middleware",
                "endpoint_contention",
                "latency",
                "serialization",
                "network_contention",
            )
        ]
    )
    known = pl.when(pl.col("protocol") == "rendezvous").then("send_complete_ps").otherwise("send_leave_ps")
    return pl.min_horizontal(pl.max_horizontal(arrival, known), "recv_leave_ps")


def _in_flight(flights: pl.LazyFrame, total: int, times: Times) -> tuple[Times, Times, Times] | None:
    """(index into `times`, sender, receiver) of every message in flight then; None if these are too many to hold."""
    parts: list[tuple[Times, Times, Times]] = []
    entries = 0
    for offset in range(0, max(1, total), CHUNK):
        rows = flights.slice(offset, CHUNK).collect()
        first = np.searchsorted(times, rows["begin"].to_numpy(), side="left")
        past = np.searchsorted(times, rows["end"].to_numpy(), side="left")
        crossed = past - first
        hit = np.flatnonzero(crossed > 0)
        reach = crossed[hit]
        entries += int(reach.sum())
        if entries > MAX_ENTRIES and len(times) > BATCHES:
            return None
        within = np.arange(int(reach.sum())) - np.repeat(np.cumsum(reach) - reach, reach)
        parts.append(
            (
                np.repeat(first[hit], reach) + within,
                np.repeat(rows["send_location"].to_numpy()[hit].astype(np.int64), reach),
                np.repeat(rows["recv_location"].to_numpy()[hit].astype(np.int64), reach),
            )
        )
    at, senders, receivers = (np.concatenate(column) for column in zip(*parts, strict=True))
    return at, senders, receivers


def _count(judged: pl.DataFrame, at: Times, senders: Times, receivers: Times, pairs: pl.DataFrame) -> Crowding:
    locations = np.unique(np.concatenate([pairs["send_location"].to_numpy(), pairs["recv_location"].to_numpy()]))
    sender = judged["send_location"].to_numpy()
    theirs = senders != sender[at]
    state = np.zeros((judged.height, len(locations)))
    np.add.at(state, (at[theirs], np.searchsorted(locations, receivers[theirs])), 1.0)

    observed = np.zeros_like(state)
    row, target = np.arange(judged.height), np.searchsorted(locations, judged["recv_location"].to_numpy())
    observed[row, target] = state[row, target]

    ordered = pairs.sort("send_location", "recv_location")
    pair_sender = ordered["send_location"].to_numpy()
    pair_receiver = np.searchsorted(locations, ordered["recv_location"].to_numpy())
    count = ordered["messages"].to_numpy().astype(np.float64)
    expected = np.zeros_like(state)
    for one in np.unique(sender):
        mine = slice(*np.searchsorted(pair_sender, [one, one + 1]).tolist())
        rows = np.flatnonzero(sender == one)
        columns = np.ix_(rows, pair_receiver[mine])
        expected[columns] = state[columns] * (count[mine] / count[mine].sum())
    return Crowding(locations.astype(np.int32), observed, expected)
