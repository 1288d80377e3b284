"""Missed overlap: a Wait directly behind the start of a transfer, and work behind the Wait."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from tests.analyzer.story import MS, US, Story

from logpost.analyzer.findings.cures import missed_overlap
from logpost.analyzer.findings.cures.program import Program


def exchange(*, work: int, times: int = 10) -> Story:
    """Both ranks start an exchange of 2 ms, wait for it and work `work` ms behind it, some times."""
    story = Story(2, times * (3 + work) * MS)
    story.loggp |= {"o_s": 1000.0, "G": 2000 / 4096}
    irecv, isend, wait = (story.path("main", name) for name in ("MPI_Irecv", "MPI_Isend", "MPI_Wait"))
    for i in range(times):
        t = i * (3 + work) * MS
        for rank in (0, 1):
            story.call(rank, t, t, irecv)
            story.call(rank, t, t + MS, isend, send_overhead=MS)
            story.call(rank, t + MS, t + 3 * MS, wait, serialization=2 * MS)
            story.message(
                rank,
                1 - rank,
                4096,
                (t, t + MS),
                (t + MS, t + 3 * MS),
                (isend, wait),
                post=t,
                send_overhead=MS,
                serialization=2 * MS,
            )
    return story


def test_work_behind_the_wait_could_precede_it(tmp_path: Path) -> None:
    finding = exchange(work=3).alone(missed_overlap.find).row(0, named=True)
    assert (finding["ranks"], finding["region"]) == ([0, 1], "MPI_Wait")
    # Nine of ten waits of 2 ms have work and a call behind them, in a program of 60 ms.
    assert finding["gain"] == pytest.approx(18 / 60, rel=0.01)
    assert finding["advice"].startswith("Compute before MPI_Wait")


def test_a_transfer_that_is_not_distinguished_from_a_queue_lowers_the_confidence(tmp_path: Path) -> None:
    story = exchange(work=3)
    story.undivided = ["latency", "serialization", "processor_queueing", "residual"]
    guessed = story.alone(missed_overlap.find).row(0, named=True)
    assert (guessed["gain"], guessed["confidence"]) == (pytest.approx(18 / 60, rel=0.01), 0.3)
    story.hosts.oversubscribed = True  # it contains scheduling, too
    assert story.alone(missed_overlap.find).is_empty()


def taking_turns(times: int = 20) -> Story:
    """An exchange as above with 3 ms of work behind it; one rank begins 2 ms late, finds its message there and so is
    the first in the next exchange, where the other one is the slow one."""
    story = Story(2, times * 6 * MS)
    story.loggp |= {"o_s": 1000.0, "G": 2000 / 4096}
    irecv, isend, wait = (story.path("main", name) for name in ("MPI_Irecv", "MPI_Isend", "MPI_Wait"))
    for i in range(times):
        early, late = i % 2, 1 - i % 2
        first, second = 6 * i * MS, (6 * i + 2) * MS
        for rank, begin, leave in ((early, first, second + 3 * MS), (late, second, second + MS)):
            story.call(rank, begin, begin, irecv)
            story.call(rank, begin, begin + MS, isend, send_overhead=MS)
            parts = {"late_sender": 2 * MS, "serialization": 2 * MS} if rank == early else {}
            story.call(rank, begin + MS, leave, wait, **parts)
        paths, parts = (isend, wait), {"send_overhead": MS, "serialization": 2 * MS}
        sent, received = (second, second + MS), (first + MS, second + 3 * MS)
        story.message(late, early, 4096, sent, received, paths, post=first, late_sender=MS, **parts)
        sent, received = (first, first + MS), (second + MS, second + MS)
        story.message(early, late, 4096, sent, received, paths, post=second, **parts)
    return story


def test_a_wait_moves_in_the_source_for_every_rank_and_step(tmp_path: Path) -> None:
    # If only the waiting rank computed first, the other one would wait in its place, and nothing be gained. If both
    # do, an exchange costs 1 + 3 ms, not 6: all but the first, in which one rank begins 2 ms late, and the last.
    finding = taking_turns().alone(missed_overlap.find).row(0, named=True)
    assert finding["gain"] == pytest.approx(18 * 2 / 120, rel=0.01)
    numbers = {row["name"]: row["value"] for row in finding["evidence"]}
    # Of 40 waits, half last 4 ms and half nothing; behind the last of each rank is no call.
    assert (numbers["waits"], numbers["mean_wait"]) == (38, 2 * MS)


def test_without_work_behind_it_nothing_can_overlap(tmp_path: Path) -> None:
    assert exchange(work=0).alone(missed_overlap.find).is_empty()


def late_halo(*, replied: bool, times: int = 10) -> Story:
    """Rank 1 prepares for 8 of 16 ms what rank 0 waits for from 2 ms on. That one then works 6 ms, for whose result
    rank 1 waits; or not replied: rank 1 computes on, and waits for nothing."""
    story = Story(2, times * 16 * MS)
    irecv, send, wait, recv = (story.path("main", name) for name in ("MPI_Irecv", "MPI_Send", "MPI_Wait", "MPI_Recv"))
    for i in range(times):
        posted, waits, sent, reply = (16 * i * MS + time * MS for time in (1, 2, 8, 14))
        story.call(0, posted, posted, irecv)
        story.call(0, waits, sent, wait, late_sender=6 * MS)
        story.call(0, reply, reply, send)
        story.call(1, sent, sent, send)
        story.message(1, 0, 8, (sent, sent), (waits, sent), (send, wait), post=posted, late_sender=6 * MS)
        begin = sent if replied else reply
        story.call(1, begin, reply, recv, late_sender=reply - begin)
        ends = (reply, reply), (begin, reply)
        story.message(0, 1, 8, *ends, (send, recv), late_sender=reply - begin)
    return story


def test_a_wait_for_a_rank_that_waits_for_the_work_behind_it_misses_overlap() -> None:
    (row,) = late_halo(replied=True).findings().iter_rows(named=True)
    # The 6 ms of work are done by 8 of 16 ms, when the message is there: the reply is 6 ms sooner.
    assert (row["kind"], row["ranks"], row["region"]) == (missed_overlap.KIND, [0], "MPI_Wait")
    assert row["gain"] == pytest.approx(6 / 16, rel=0.01)


def test_waiting_for_a_late_rank_that_waits_for_none_is_no_missed_overlap() -> None:
    assert late_halo(replied=False).alone(missed_overlap.find).is_empty()


def reductions(*, alternating: bool, times: int = 20) -> Story:
    """Ranks work 2 and 4 ms, start a reduction, wait for it and work on, so that a step has 6 ms on each;
    alternating, or rank 1 works 4 ms before each and 4 ms behind it."""
    story = Story(2, times * 8 * MS)
    paths = story.path("main", "MPI_Iallreduce"), story.path("main", "MPI_Wait")
    for i in range(times):
        t = 8 * i * MS
        late = 1 - i % 2 if alternating else 1
        # Started at 2 and 4 ms, waited for a tenth later, complete at 4.1 ms; until the next step 4 ms of work follow.
        soon, done = MS // 10, t + 4 * MS + MS // 10
        members = {late: (done - soon, done, done), 1 - late: (t + 2 * MS, t + 2 * MS + soon, done)}
        story.started_collective(paths, "Allreduce", members)
    return story


def test_work_behind_a_nonblocking_operation_could_precede_its_wait(tmp_path: Path) -> None:
    finding = reductions(alternating=True).alone(missed_overlap.find).row(0, named=True)
    assert (finding["ranks"], finding["region"]) == ([0, 1], "MPI_Wait")
    assert "wait for nonblocking operations" in finding["title"]
    # From Wait to start, work of 3.9 ms and the 2 or 4 ms of the next step, 6.9 on the mean, and each step 8. With
    # each Wait behind the next start no rank waits for the alternating slow one: a step lasts 7.
    assert finding["gain"] == pytest.approx(1 / 8, rel=0.1)


def test_work_of_an_operation_is_half_done_outside_of_calls() -> None:
    # Of each 6 ms, the operation has 2 in the call that waits for it at once, and 4 of work follow.
    story = Story(2, 20 * 6 * MS)
    story.loggp |= {"L": 1999.0}
    paths = story.path("main", "MPI_Iallreduce"), story.path("main", "MPI_Wait")
    for i in range(20):
        begin = 6 * i * MS
        story.started_collective(paths, "Allreduce", dict.fromkeys(range(2), (begin, begin + US, begin + 2 * MS)))
    (row,) = story.findings().iter_rows(named=True)
    assert (row["kind"], row["region"]) == ("missed_overlap", "MPI_Wait")
    assert row["gain"] == pytest.approx(1 / 6, rel=0.06)
    assert (row["gain_low"], row["gain_high"]) == (0, pytest.approx(2 / 6, rel=0.06))
    assert "MPI_Test" in row["advice"]


def test_the_slow_rank_of_each_step_is_waited_for_behind_any_work(tmp_path: Path) -> None:
    assert reductions(alternating=False).alone(missed_overlap.find).is_empty()


def test_waits_of_pairs_need_no_square_of_all_locations() -> None:
    """Of a million locations, 8 TB. Location 0 waits 6 for the last one, which waits 5 for it, or for another."""
    last = 999_999
    for other, expected in ((0, True), (1, False)):
        program = SimpleNamespace(
            location_count=last + 1,
            enter_ps=np.array([6, 0, 5, 0]),
            messages=SimpleNamespace(send_call=np.array([0, 2]), received_call=np.array([1, 3])),
            sender=np.array([last, other], dtype=np.int32),
            receiver=np.array([0, last], dtype=np.int32),
        )
        assert missed_overlap._waited_for(cast("Program", program), [1]) is expected
