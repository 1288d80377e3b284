"""Wavefronts: ranks that compute one after the other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.analyzer.story import MS, Story

from logpost.analyzer.findings.cures import wavefront
from logpost.analyzer.findings.cures.program import Program


def sweep(*, serial: bool, work: int = 9 * MS) -> Story:
    """Four ranks receive from the left, compute and send to the right; or all compute at once, rank 0 longest."""
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
                sent[rank] = at + (work if serial or rank == 0 else 0) + (3 * MS if rank == 0 and not serial else 0)
                story.call(rank, sent[rank], sent[rank] + MS, send, send_overhead=MS)
            done[rank] = sent[rank] + MS if rank in sent else at + work
        story.collective(barrier, "Barrier", {rank: (done[rank], t + 42 * MS) for rank in range(4)})
    return story


def test_a_sweep_is_a_pipeline_with_a_depth() -> None:
    finding = sweep(serial=True).alone(wavefront.find).row(0, named=True)
    assert "a pipeline 4 ranks deep" in finding["title"]
    assert finding["region"] == "MPI_Recv"
    # In 4 blocks, as there are ranks in a row, each rank has its first one 9 / 4 + 1 ms after the rank before it has:
    # rank 3 at 9.75 ms. It works for 9 ms and ends at 18.75 ms, which is 3.25 ms behind rank 2, too. That was 39 ms of
    # each of 4 steps, in 200 ms.
    assert finding["gain"] == pytest.approx(4 * (39 - 18.75) / 200)


def test_blocks_that_cost_as_much_as_they_save_are_not_advised() -> None:
    # Two blocks of 2 ms of work cost each rank more overheads, of 1 and 2 ms. Without messages all are done 3 ms behind
    # the begin of each of 4 steps, as ranks 0 to 2 still send, instead of 11 ms.
    story = sweep(serial=True, work=2 * MS)
    story.loggp |= {"o_s": 1000.0, "o_r": 2000.0}
    finding = story.alone(wavefront.find).row(0, named=True)
    assert "concurrently" in finding["advice"]
    assert finding["gain"] == pytest.approx(4 * (11 - 3) / 200)


def test_messages_that_are_passed_on_without_work_are_no_pipeline() -> None:
    """Rank 0 computes 9 ms and sends; the others receive, one after the other, and pass it on at once."""
    story = Story(4, 120 * MS)
    recv, send = story.path("main", "MPI_Recv"), story.path("main", "MPI_Send")
    for step in range(4):
        t = 30 * step * MS
        for rank in range(3):
            s0 = t + (9 + 2 * rank) * MS
            story.call(rank, s0, s0 + MS, send, send_overhead=MS)
            wait = s0 - t
            story.call(rank + 1, t, s0 + 2 * MS, recv, late_sender=wait, serialization=2 * MS)
            ends = (s0, s0 + MS), (t, s0 + 2 * MS)
            story.message(rank, rank + 1, 1024, *ends, (send, recv), late_sender=wait, serialization=2 * MS)
    assert story.alone(wavefront.find).is_empty()


def test_one_late_rank_is_no_pipeline() -> None:
    assert sweep(serial=False).alone(wavefront.find).is_empty()


def filled_once() -> Story:
    """Three ranks of 9 ms: each receives from the left, computes and sends to the right, ten times without a wait but
    the first."""
    story = Story(3, 108 * MS)
    recv, send = story.path("main", "MPI_Recv"), story.path("main", "MPI_Send")
    for rank, step in itertools.product(range(3), range(10)):
        begin = 9 * (rank + step) * MS
        if rank:
            entered = 0 if step == 0 else begin
            ends = (begin, begin), (entered, begin)
            story.call(rank, *ends[1], recv, late_sender=begin - entered)
            story.message(rank - 1, rank, 8, *ends, (send, recv), late_sender=begin - entered)
        if rank < 2:
            story.call(rank, begin + 9 * MS, begin + 9 * MS, send)
    return story


@pytest.mark.parametrize(("story", "recur"), [(filled_once(), False), (sweep(serial=True), True)])
def test_a_pipeline_that_is_filled_once_has_no_deep_waits_but_the_first(story: Story, recur: bool) -> None:
    with story.as_run() as run:
        program = Program(run).build()
        sent, received = program.messages.send_call, program.messages.received_call
        deep, _ = wavefront.depths(program)
        chained = np.flatnonzero(deep >= wavefront.LEAST_DEPTH)
        waits = np.maximum(0, program.enter_ps[sent] - program.enter_ps[received])
        assert len(chained) == (8 if recur else 1)  # of ranks 2 and 3 in four sweeps; of rank 2 once
        assert wavefront._recur(program, chained, waits) is recur
