"""Ranks of a node that send to other nodes at once wait for each other's messages; on a NIC each, none does."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.collectors.raw_logs import RECV, SEND

from .from_logs import MACHINE, US, findings, numbers, rounds, started

ACROSS = MACHINE.replace("same_node", "other_node")
RANKS = 6


@pytest.mark.parametrize("nodes", [2, RANKS])
def test_a_nic_of_its_own_saves_what_a_neighbours_message_occupies(nodes: int, tmp_path: Path) -> None:
    """Ranks 0 to 2 send 100,000 B each to ranks 3 to 5, 1 µs apart, in each round of 1 ms: 100 µs on each NIC. Where
    three ranks share it, the k-th message is there after k * 100 + 10 µs."""
    logs = started(RANKS, nodes)
    for begin in rounds():
        for rank in range(3):
            sent = begin + rank * US
            end = begin + (rank + 1) * 100 * US + 10 * US if nodes < RANKS else sent + 110 * US
            logs[rank].message(SEND, sent, sent + US, rank + 3, 0, 100_000)
            logs[rank + 3].message(RECV, begin, end, rank, 0, 100_000)
            logs[rank].collective("MPI_Barrier", sent + US, begin + 400 * US, (0, 0))
            logs[rank + 3].collective("MPI_Barrier", end, begin + 400 * US, (0, 0))
    found = [row for row in findings(logs, tmp_path, ACROSS) if row["kind"] == "shared_nic"]
    if nodes == RANKS:
        assert found == []
        return
    (finding,) = found
    assert finding["ranks"] == [0, 1, 2]
    assert numbers(finding)["ranks_share_a_nic"] == 3
    assert finding["gain"] == pytest.approx(0.198, rel=0.01)  # the last one is there after 112 instead of 310
