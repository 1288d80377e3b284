"""Whether senders choose the same receiver at the same time more often than they would by chance.

At an instant t let x_s be the messages of sender s in flight, n_sr those of them that go to receiver r, n_r = sum over
s of n_sr, and p_sr the share of s's messages that go to r over the whole run. The pairs of messages from *different*
senders that are in flight to the same receiver are

    observed   C_r(t) = n_r^2 - sum_s n_sr^2
    expected   E_r(t) = (sum_s x_s p_sr)^2 - sum_s (x_s p_sr)^2

where E_r is the expectation if every sender picked the receivers of its messages in flight independently of the other
senders, with the destinations that it has anyway. The crowding is the sum of C over the sum of E: 1 for an order in
which senders do not know of each other (random), near 0 for a spread one (staggered), and up to about the number of
receivers when all senders walk the same list in step. It needs no machine parameter and no time window, holds for 4
and for 4096 ranks, and finds a hot spot that moves from receiver to receiver faster than any window; one that stays is
not crowding but load (`hot_endpoint`): no other order could cure it.

In flight is a message from the enter of its send call until its sender knows it gone (send call left or, for
rendezvous, send completed), or until the split has it arrive, whichever is later, but never after it was received.

Sampling: the instants are the send times of every k-th message (so that each message counts alike); the standard error
comes from leaving out one of `BATCHES` successive batches of instants at a time (jackknife).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

Times = npt.NDArray[np.int64]
Sums = npt.NDArray[np.float64]

INSTANTS = 1024
"""More would not help: at 1024 the standard error of a crowding near 1 is a few per cent."""
MAX_ENTRIES = 4_000_000
"""Messages in flight over all instants that are held at once; beyond it, instants are left out."""
MAX_WORK = 50_000_000
"""Instants times communicating pairs; bounds the time for dense patterns on many ranks to about a second."""
CHUNK = 2_000_000
"""Rows of `messages` read at a time."""
BATCHES = 16


@dataclass(frozen=True)
class Crowding:
    """Observed and expected colliding pairs, summed over the instants, by receiver, with the instants behind them."""

    receivers: npt.NDArray[np.int32]
    instants: Times
    observed: Sums
    """(instant, receiver)"""
    expected: Sums
    """(instant, receiver)"""

    @property
    def ratio(self) -> float:
        """Crowding over all receivers; 1.0 where nothing could collide."""
        expected = float(self.expected.sum())
        return float(self.observed.sum()) / expected if expected > 0 else 1.0

    @property
    def standard_error(self) -> float:
        """Of `ratio`, by jackknife over batches of successive instants."""
        batches = min(BATCHES, len(self.instants))
        if batches < 2:
            return math.inf
        edges = np.linspace(0, len(self.instants), batches + 1).astype(np.int64)[:-1]
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
    locations = np.unique(np.concatenate([pairs["send_location"].to_numpy(), pairs["recv_location"].to_numpy()]))
    flights = messages.filter(pl.col("send_location") != pl.col("recv_location"), ~pl.col("clock_violation")).select(
        "send_location", "recv_location", begin=pl.col("send_enter_ps"), end=_gone()
    )
    total = int(pairs["messages"].sum())
    wanted = max(16, min(INSTANTS, MAX_WORK // max(1, pairs.height)))
    starts = (
        messages.select("send_enter_ps").gather_every(max(1, total // wanted)).collect()["send_enter_ps"].to_numpy()
    )
    instants = np.sort(starts.astype(np.int64))
    in_flight = _in_flight(flights, total, instants)
    if in_flight is None:
        return None
    return _count(*in_flight, pairs, locations)


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


Flights = tuple[Times, Times, Times, Times]


def _in_flight(flights: pl.LazyFrame, total: int, instants: Times) -> Flights | None:
    """(instants kept, instant index, sender, receiver) of every message in flight at an instant."""
    while True:
        parts: list[tuple[Times, Times, Times]] = []
        entries = 0
        for offset in range(0, max(1, total), CHUNK):
            rows = flights.slice(offset, CHUNK).collect()
            first = np.searchsorted(instants, rows["begin"].to_numpy(), side="left")
            past = np.searchsorted(instants, rows["end"].to_numpy(), side="left")
            crossed = past - first
            hit = np.flatnonzero(crossed > 0)
            entries += int(crossed[hit].sum())
            if entries > MAX_ENTRIES and len(instants) > BATCHES:
                break
            reach = crossed[hit]
            order = np.arange(int(reach.sum())) - np.repeat(np.cumsum(reach) - reach, reach)
            parts.append(
                (
                    np.repeat(first[hit], reach) + order,
                    np.repeat(rows["send_location"].to_numpy()[hit].astype(np.int64), reach),
                    np.repeat(rows["recv_location"].to_numpy()[hit].astype(np.int64), reach),
                )
            )
        else:
            if entries == 0:
                return None
            at, senders, receivers = (np.concatenate(column) for column in zip(*parts, strict=True))
            return instants, at, senders, receivers
        instants = instants[:: max(2, entries // MAX_ENTRIES + 1)]


def _count(
    instants: Times, at: Times, senders: Times, receivers: Times, pairs: pl.DataFrame, locations: Times
) -> Crowding:
    size = len(locations)
    sender = np.searchsorted(locations, senders)
    receiver = np.searchsorted(locations, receivers)
    cells, sent = np.unique((at * size + sender) * size + receiver, return_counts=True)
    observed = np.zeros((len(instants), size))
    row, column = cells // (size * size), cells % size
    np.add.at(observed, (row, column), sent)
    same_sender = np.zeros_like(observed)
    np.add.at(same_sender, (row, column), sent.astype(np.float64) ** 2)
    active = np.zeros((len(instants), size))
    np.add.at(active, (at, sender), 1.0)

    pair_sender = np.searchsorted(locations, pairs["send_location"].to_numpy())
    pair_receiver = np.searchsorted(locations, pairs["recv_location"].to_numpy())
    count = pairs["messages"].to_numpy().astype(np.float64)
    share = count / np.bincount(pair_sender, weights=count, minlength=size)[pair_sender]
    expected = np.zeros_like(observed)
    for instant in range(len(instants)):
        mean = active[instant, pair_sender] * share
        together = np.bincount(pair_receiver, weights=mean, minlength=size)
        expected[instant] = together**2 - np.bincount(pair_receiver, weights=mean**2, minlength=size)
    return Crowding(locations.astype(np.int32), instants, observed**2 - same_sender, np.maximum(expected, 0.0))
