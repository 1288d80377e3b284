"""Crowding: whether senders choose an already busy receiver more often than by chance.

When sender s sends a message at the instant t, let n_r be the messages in flight from *other* senders to receiver r,
and p_sr the share of s's messages that go to r over the whole run. The message to receiver q is concurrent with

    observed   C = n_q         others' messages at its receiver
    expected   E = sum_r p_sr n_r

E being the expectation if s chose among the receivers that it has anyway without regard to what is in flight. The
crowding R is the sum of C over the sum of E: 1 for an order in which senders choose independently (random), near 0
for a spread one (staggered), and up to 1/p (the number of receivers of a sender) when all walk the same list in step.
Because the state n is taken as it is, and only the new message's choice is judged, a slow receiver, at which messages
pile up whatever the order, does not count as crowding. R needs no machine parameter and no time window, holds for 4
and for 4096 ranks, and finds a hot spot that moves from receiver to receiver faster than any window; one that stays is
not crowding but load (`cures.spread_load`): no other order could cure it.

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

Sums = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int32]

JUDGED = 2048
"""Messages judged. More would not help: the standard error of a crowding near 1 is then a few per cent."""
MAX_CELLS = 20_000_000
"""Judged messages times ranks: bounds the memory on many ranks."""
CHUNK = 1 << 19
"""Rows of `messages` read at a time."""
BATCHES = 16
"""With 15 degrees of freedom the standard error itself is known to 18 % (1 / sqrt(2 x 15))."""


@dataclass(frozen=True)
class Crowding:
    """Others' messages that the judged ones meet at their receiver, observed and expected."""

    receivers: npt.NDArray[np.int32]
    observed: Sums
    """by judged message"""
    expected: Sums
    """by judged message"""
    observed_at: Sums
    """by receiver, over the judged messages"""
    expected_at: Sums
    """by receiver, over the judged messages"""

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
        observed, expected = np.add.reduceat(self.observed, edges), np.add.reduceat(self.expected, edges)
        rest = expected.sum() - expected
        if np.any(rest <= 0):
            return math.inf
        without = (observed.sum() - observed) / rest
        return float(np.sqrt((batches - 1) / batches * np.sum((without - without.mean()) ** 2)))

    def by_receiver(self) -> dict[int, float]:
        """Receiver to its own crowding; receivers at which nothing could collide are left out."""
        return {
            int(receiver): float(o / e)
            for receiver, o, e in zip(self.receivers, self.observed_at, self.expected_at, strict=True)
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
    locations = np.unique(np.concatenate([pairs["send_location"].to_numpy(), pairs["recv_location"].to_numpy()]))
    wanted = max(BATCHES, min(JUDGED, MAX_CELLS // len(locations)))
    judged = (
        _others(messages)
        .select("send_enter_ps", "send_location", "recv_location")
        .gather_every(max(1, total // wanted))
        .collect()
        .sort("send_enter_ps")
    )
    return _judge(judged, _in_flight(messages, judged, locations), pairs, locations)


def _others(messages: pl.LazyFrame) -> pl.LazyFrame:
    return messages.filter(pl.col("send_location") != pl.col("recv_location"), ~pl.col("clock_violation"))


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


def _in_flight(messages: pl.LazyFrame, judged: pl.DataFrame, locations: npt.NDArray[np.int32]) -> Counts:
    """(judged message, receiver): how many messages of others are in flight to it when the judged one is sent."""
    times, sender = judged["send_enter_ps"].to_numpy(), judged["send_location"].to_numpy().astype(np.int64)
    # By sender, then in time: where a sender's own judged messages are.
    own = np.sort(sender * len(times) + np.arange(len(times)))
    # By receiver: in the order of memory a sum over time is ten times as fast. As one row, likewise.
    width = len(times) + 1
    changes = np.zeros(len(locations) * width, dtype=np.int32)
    own_flights = []
    rows = int(messages.select(pl.len()).collect().item())
    for offset in range(0, rows, CHUNK):
        flights = _others(messages.slice(offset, CHUNK)).select(
            "send_location", "recv_location", begin=pl.col("send_enter_ps"), end=_gone()
        )
        some = flights.collect()
        end = some["end"].to_numpy()
        first = np.searchsorted(times, some["begin"].to_numpy(), side="left")
        hit = np.flatnonzero(np.append(times, np.iinfo(np.int64).max)[first] < end)
        first, past = first[hit], np.searchsorted(times, end[hit], side="left")
        receiver = np.searchsorted(locations, some["recv_location"].to_numpy()[hit])
        _change(changes, receiver * width + first, 1)
        _change(changes, receiver * width + past, -1)
        start = some["send_location"].to_numpy()[hit].astype(np.int64) * len(times)
        begins, ends = np.searchsorted(own, start + first), np.searchsorted(own, start + past)
        reach = ends - begins
        of_reach = np.arange(int(reach.sum())) - np.repeat(np.cumsum(reach) - reach, reach)
        own_flights.append(np.repeat(receiver * width, reach) + own[np.repeat(begins, reach) + of_reach] % len(times))
    by_receiver = changes.reshape(len(locations), width)
    np.cumsum(by_receiver, axis=1, dtype=np.int32, out=by_receiver)
    for at in own_flights:
        _change(changes, at, -1)
    counts: Counts = by_receiver[:, :-1].T
    return counts


def _change(counts: npt.NDArray[np.int32], at: npt.NDArray[np.int64], by: int) -> None:
    # Of the counts' own type: numpy takes ten times as long where it has to convert.
    np.add.at(counts, at, np.full(len(at), by, dtype=np.int32))


def _judge(judged: pl.DataFrame, state: Counts, pairs: pl.DataFrame, locations: npt.NDArray[np.int32]) -> Crowding:
    sender = judged["send_location"].to_numpy()
    target = np.searchsorted(locations, judged["recv_location"].to_numpy())
    observed = state[np.arange(judged.height), target].astype(np.float64)

    ordered = pairs.sort("send_location", "recv_location")
    pair_sender = ordered["send_location"].to_numpy()
    pair_receiver = np.searchsorted(locations, ordered["recv_location"].to_numpy())
    count = ordered["messages"].to_numpy().astype(np.int64)
    expected, expected_at = np.zeros(judged.height), np.zeros(len(locations))
    by_sender = np.argsort(sender, kind="stable")
    senders, begins = np.unique(sender[by_sender], return_index=True)
    for one, rows in zip(senders, np.split(by_sender, begins[1:]), strict=False):
        mine = slice(*np.searchsorted(pair_sender, [one, one + 1]).tolist())
        receivers, sent = pair_receiver[mine], count[mine]
        # Whole numbers until the end: the sums do not depend on their order.
        meetings = state[np.ix_(rows, receivers)] * sent
        expected[rows] = meetings.sum(axis=1) / sent.sum()
        expected_at[receivers] += meetings.sum(axis=0) / sent.sum()
    observed_at = np.zeros(len(locations))
    np.add.at(observed_at, target, observed)
    return Crowding(locations.astype(np.int32), observed, expected, observed_at, expected_at)
