"""A rank to which most is sent is a hot receiver, and its messages can be spread; a spread exchange has none.

A message of 100,000 B occupies a NIC for 100 µs, and is there 110 µs after its send: 1 + 8 + 100 + 1.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.collectors.raw_logs import RECV, SEND, Log

from .from_logs import US, Found, findings, numbers, rounds, started

RANKS = 5


def exchange(target: Callable[[int], int], size: int = 100_000) -> list[Log]:
    """In each round of 1 ms, each rank sends a message to its target, if that is another one, rank k after k µs. Its
    first byte is there 9 µs later, or when the one before it is through. Then all meet for 30 µs, and compute."""
    logs = started(RANKS)
    for begin in rounds():
        at = [begin] * RANKS
        for log in logs:
            if target(log.rank) != log.rank:
                sent = begin + log.rank * US
                log.message(SEND, sent, sent + US, target(log.rank), 0, size)
                at[log.rank] = sent + US
        free = [begin] * RANKS
        for sender in range(RANKS):
            to = target(sender)
            if to != sender:
                free[to] = max(free[to], begin + (sender + 9) * US) + size
                end = max(at[to], free[to]) + US
                logs[to].message(RECV, at[to], end, sender, 0, size)
                at[to] = end
        for log in logs:
            log.collective("MPI_Barrier", at[log.rank], max(at) + 30 * US, (0, 0))
    return logs


def hot_in(logs: list[Log], folder: Path) -> list[Found]:
    return [row for row in findings(logs, folder) if row["kind"] == "hot_receiver"]


def test_a_receiver_of_all_messages_is_hot(tmp_path: Path) -> None:
    (finding,) = hot_in(exchange(lambda _: 0), tmp_path)
    assert (finding["ranks"], finding["region"]) == ([0], "MPI_Recv")
    assert numbers(finding)["load_over_others"] == RANKS  # it alone receives
    # Rank 0 has the last of four messages after 411 µs. Spread, it keeps one, and the last send is at 4: 4 + 110.
    assert finding["gain"] == pytest.approx((411 - 114) / 1000, rel=0.05)


def test_an_even_exchange_has_no_hot_receiver(tmp_path: Path) -> None:
    assert hot_in(exchange(lambda rank: (rank + 1) % RANKS), tmp_path) == []


def test_a_pair_that_exchanges_more_is_no_hot_receiver(tmp_path: Path) -> None:
    """Rank 0 gets from rank 1 alone: no other rank's message queues there."""
    assert hot_in(exchange(lambda rank: 0 if rank == 1 else rank), tmp_path) == []


def test_where_none_waits_none_is_hot(tmp_path: Path) -> None:
    assert hot_in(exchange(lambda _: 0, size=100), tmp_path) == []
