"""What one rank alone hands out has a tree as its cure, or shared sends: their replays follow by hand.

A message of 100,000 B occupies a NIC for 100 µs, and is there 110 µs after its send: 1 + 8 + 100 + 1.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.collectors.raw_logs import RECV, SEND, Log

from .from_logs import US, Found, findings, numbers, rounds, started

RECEIVERS = 7


def handed_out(sizes: list[int], pieces: int = 1) -> list[Log]:
    """In each round of 1 ms, rank 0 sends such messages to the others, and again until each has `pieces`. Then all meet
    in a barrier of 30 µs behind the last receive, and compute."""
    logs = started(RECEIVERS + 1)
    for begin in rounds():
        at, sent = begin, begin
        since = dict.fromkeys(range(1, RECEIVERS + 1), begin)
        for piece in range(pieces):
            for rank in since:
                size = sizes[rank - 1]
                logs[0].message(SEND, sent, sent + US, rank, piece, size)
                sent += US
                at += size  # 1 ns for each byte
                logs[rank].message(RECV, since[rank], at + 10 * US, 0, piece, size)
                since[rank] = at + 10 * US
        for log in logs:
            log.collective("MPI_Barrier", since.get(log.rank, sent), at + 40 * US, (0, 0))
    return logs


def found_in(logs: list[Log], folder: Path) -> Found:
    return next(row for row in findings(logs, folder) if row["kind"] in ("serial_distribution", "hot_sender"))


def test_a_tree_needs_as_many_rounds_as_the_logarithm_of_its_ranks(tmp_path: Path) -> None:
    finding = found_in(handed_out([100_000] * RECEIVERS), tmp_path)
    assert (finding["kind"], finding["ranks"], finding["region"]) == ("serial_distribution", [0], "MPI_Send")
    # The last one has its data after 710 µs. In a tree it has it from rank 3, that from rank 1, that from rank 0: 330.
    assert finding["gain"] == pytest.approx((710 - 330) / 1000, rel=0.01)


def test_several_messages_to_a_rank_are_one(tmp_path: Path) -> None:
    finding = found_in(handed_out([50_000] * RECEIVERS, pieces=2), tmp_path)
    assert finding["kind"] == "serial_distribution"
    assert (numbers(finding)["messages_each"], numbers(finding)["in_a_row"]) == (2, RECEIVERS)
    assert finding["gain"] == pytest.approx((710 - 330) / 1000, rel=0.01)


def test_different_amounts_are_no_broadcast_but_can_be_shared(tmp_path: Path) -> None:
    finding = found_in(handed_out([100_000] * (RECEIVERS - 1) + [90_000]), tmp_path)
    assert (finding["kind"], finding["ranks"]) == ("hot_sender", [0])
    # The last one has its data after 700 µs; each from another rank, all have theirs after 110.
    assert finding["gain"] == pytest.approx((700 - 110) / 1000, rel=0.01)
