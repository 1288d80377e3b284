"""Unattended transfers: begun, then left alone until the Wait."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analyzer.story import MS, Story

from logpost.analyzer.findings.cures import unattended


def transfers(*, computes: bool) -> Story:
    """Rank 0 begins a send of 1 ms, computes 5 ms (or not) and waits; rank 1 is in the receive; ten times."""
    story = Story(2, 100 * MS)
    story.communicator(0, 1)
    story.loggp |= {"o_s": 1000.0, "G": 0.001}
    isend, wait, recv = (story.path("main", name) for name in ("MPI_Isend", "MPI_Wait", "MPI_Recv"))
    for i in range(10):
        t = 10 * i * MS
        story.call(0, t, t + MS, isend, send_overhead=MS)
        begin = t + (6 if computes else 1) * MS
        end = begin + MS
        story.call(0, begin, end, wait, serialization=MS)
        queued = {"processor_queueing": 5 * MS} if computes else {}
        inside = {"send_overhead": MS, **queued, "serialization": MS}
        story.call(1, t, end, recv, latency=MS, **queued, serialization=MS)
        story.message(0, 1, 10**6, (t, t + MS), (t, end), (isend, recv), complete=end, **inside)
    return story


def test_the_rank_that_computes_is_named_and_the_gain_is_the_delay(tmp_path: Path) -> None:
    finding = transfers(computes=True).alone(unattended.find).row(0, named=True)
    assert (finding["ranks"], finding["region"]) == ([0], "MPI_Wait")
    assert finding["title"].startswith("rank 0 leaves transfers unattended until MPI_Wait, computing")
    # Its own 5 ms remain; the transfer of 1 ms runs during that time, ten times in 100 ms.
    assert finding["gain"] == pytest.approx(10 / 100, rel=0.01)
    assert "MPI_Test" in finding["advice"]


def test_a_transfer_that_is_waited_for_at_once_is_attended(tmp_path: Path) -> None:
    assert transfers(computes=False).alone(unattended.find).is_empty()
