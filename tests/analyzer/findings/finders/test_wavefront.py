"""Wavefronts: ranks that compute one after the other."""

from __future__ import annotations

import pytest
from tests.analyzer.story import MS, Story

from logpost.analyzer.findings.finders import wavefront


def sweep(*, serial: bool) -> Story:
    """Four ranks receive from the left, compute 9 ms and send to the right; or all compute at once, rank 0 longest."""
    story = Story(4, 200 * MS)
    recv, send, barrier = (story.path("main", name) for name in ("MPI_Recv", "MPI_Send", "MPI_Barrier"))
    for step in range(4):
        t = 45 * step * MS
        sent: dict[int, int] = {}
        done: dict[int, int] = {}
        for rank in range(4):
            at = t
            if rank:
                begin = t if serial else t + 8 * MS
                arrives = sent[rank - 1] + MS
                wait = sent[rank - 1] - begin
                story.call(rank, begin, arrives, recv, late_sender=wait, serialization=MS)
                story.message(
                    rank - 1,
                    rank,
                    1024,
                    (sent[rank - 1], sent[rank - 1] + MS),
                    (begin, arrives),
                    (send, recv),
                    late_sender=wait,
                    send_overhead=MS,
                )
                at = arrives
            if rank < 3:
                sent[rank] = at + (9 * MS if serial or rank == 0 else 0) + (3 * MS if rank == 0 and not serial else 0)
                story.call(rank, sent[rank], sent[rank] + MS, send, send_overhead=MS)
            done[rank] = sent[rank] + MS if rank in sent else at + 9 * MS
        story.collective(barrier, "Barrier", {rank: (done[rank], t + 42 * MS) for rank in range(4)})
    return story


def test_a_sweep_is_a_pipeline_with_a_depth() -> None:
    finding = sweep(serial=True).alone(wavefront.find).row(0, named=True)
    assert "a pipeline 4 ranks deep" in finding["title"]
    assert finding["region"] == "MPI_Recv"
    # Steps follow each other in 45 ms, and rank 3 waits 30 of them, 3 ranks deep. A message takes 1 ms beyond its
    # bytes: in k blocks it waits (30 - 3) / k + 3 + (k - 1), least for k = 4: 12.75 ms. It works for 9 then, and all
    # leave the barrier 3 ms later, and go on 3 ms later: a step takes 27.75 ms. The last one has nothing behind it.
    assert finding["gain"] == pytest.approx(1 - (4 * 27.75 - 3) / (4 * 45 - 3), abs=1e-3)


def test_one_late_rank_is_no_pipeline() -> None:
    assert sweep(serial=False).alone(wavefront.find).is_empty()
