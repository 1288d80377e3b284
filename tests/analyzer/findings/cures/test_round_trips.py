"""Round trips: questions and replies, one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analyzer.story import MS, US, Story

from logpost.analyzer.findings.cures import one_exchange
from logpost.analyzer.findings.cures.program import Program


def questions(in_a_row: int, between: int) -> Story:
    """Rank 0 sends a question and waits for the reply, 20 µs each, `in_a_row` times, then works 1 ms; ten times."""
    each = in_a_row * (20 * US + between) + MS
    story = Story(2, 10 * each)
    story.loggp |= {"o_s": 1.0, "L": 8.0, "o_r": 2.0}
    send, recv = story.path("main", "MPI_Send"), story.path("main", "MPI_Recv")
    for i in range(10):
        for k in range(in_a_row):
            t = i * each + k * (20 * US + between)
            story.call(0, t, t + US, send, send_overhead=US)
            entered = t - 9 * US if k and not between else t  # it waits for the next question at once
            story.call(1, entered, t + 10 * US, recv, late_sender=t - entered, latency=8 * US, recv_overhead=2 * US)
            ask = {"latency": 8 * US, "recv_overhead": 2 * US}
            story.message(0, 1, 16, (t, t + US), (entered, t + 10 * US), (send, recv), late_sender=t - entered, **ask)
            half = t + 10 * US
            story.call(1, half, half + US, send, send_overhead=US)
            story.call(0, t + US, t + 20 * US, recv, late_sender=9 * US, latency=8 * US, recv_overhead=2 * US)
            story.message(1, 0, 64, (half, half + US), (t + US, t + 20 * US), (send, recv), late_sender=9 * US, **ask)
    return story


def test_trips_in_a_row_could_be_one(tmp_path: Path) -> None:
    finding = questions(50, 0).alone(one_exchange.find).row(0, named=True)
    numbers = {row["name"]: row["value"] for row in finding["evidence"]}
    assert (numbers["messages"], numbers["in_a_row"]) == (1000, 50)
    # 49 of 50 trips of 20 µs, of 2 ms a step.
    assert finding["gain"] == pytest.approx(10 * 49 * 20 / 20_000, rel=0.01)


def test_an_answer_that_is_worked_on_before_the_next_question_is_needed(tmp_path: Path) -> None:
    assert questions(20, 200 * US).alone(one_exchange.find).is_empty()


def to_several(*, pause: int) -> Story:
    """Rank 0 has a question for each of three ranks, which work 1 ms for the reply, and waits for that before the next
    question, which it sends after a pause; then it works 2 ms; eight times."""
    trip = MS + 20 * US
    step = 3 * (trip + pause) + 2 * MS
    story = Story(4, 8 * step)
    story.loggp |= {"o_s": 1.0, "L": 8.0, "o_r": 2.0}
    send, recv = story.path("main", "MPI_Send"), story.path("main", "MPI_Recv")
    ask = {"latency": 8 * US, "recv_overhead": 2 * US}
    waits = dict.fromkeys((1, 2, 3), 0)
    for i in range(8):
        for k in (1, 2, 3):
            t = i * step + (k - 1) * (trip + pause)
            story.call(0, t, t + US, send, send_overhead=US)
            late = t - waits[k]
            story.call(k, waits[k], t + 10 * US, recv, late_sender=late, **ask)
            story.message(0, k, 16, (t, t + US), (waits[k], t + 10 * US), (send, recv), late_sender=late, **ask)
            half, end = t + 10 * US + MS, t + trip
            story.call(k, half, half + US, send, send_overhead=US)
            story.call(0, t + US, end, recv, late_sender=half - t - US, **ask)
            story.message(k, 0, 16, (half, half + US), (t + US, end), (send, recv), late_sender=half - t - US, **ask)
            waits[k] = half + US
    return story


def test_several_ranks_could_reply_concurrently() -> None:
    finding = to_several(pause=0).alone(one_exchange.find).row(0, named=True)
    numbers = {row["name"]: row["value"] for row in finding["evidence"]}
    assert (numbers["messages"], numbers["several_ranks"]) == (24, 3)
    assert "3 in a row to different ranks" in finding["title"]
    # Two of three trips of 1.02 ms are saved, of a step of 3 trips and 2 ms; questions leave 1 µs apart. Not in the
    # last of eight steps, where the code of rank 1 until the end remains as long.
    assert finding["gain"] == pytest.approx(7 / 8 * 2 * 1.02 / (3 * 1.02 + 2), rel=0.01)


def test_a_question_after_work_may_need_the_answer_before_it() -> None:
    assert to_several(pause=2 * MS).alone(one_exchange.find).is_empty()


def test_a_series_for_which_a_pipeline_runs_empty_is_sent_less_often() -> None:
    """Four ranks of 9 ms, one after the other; ranks 1 to 3 then send rank 0 four synchronous messages each, which it
    receives by rank."""
    steps, step = 10, 40 * MS
    story = Story(4, steps * step)
    send, recv = story.path("main", "MPI_Send"), story.path("main", "MPI_Recv")
    report, collect = story.path("main", "MPI_Ssend"), story.path("main", "collect", "MPI_Recv")
    free = dict.fromkeys(range(4), 0)
    for i in range(steps):
        t = i * step
        for rank in (0, 1, 2):
            sent = t + 9 * (rank + 1) * MS
            story.call(rank, sent, sent, send)
            late = sent - free[rank + 1]
            ends = (sent, sent), (free[rank + 1], sent)
            story.call(rank + 1, *ends[1], recv, late_sender=late)
            story.message(rank, rank + 1, 8, *ends, (send, recv), late_sender=late)
        entered = t + 9 * MS
        for rank in (1, 2, 3):
            for k in range(4):
                at = max(entered, t + 9 * (rank + 1) * MS + (k + 1) * US)
                story.call(rank, at, at + US, report, latency=US)
                story.call(0, entered, at + US, collect, late_sender=at - entered, latency=US)
                ends = (at, at + US), (entered, at + US)
                late, paths = at - entered, (report, collect)
                story.message(rank, 0, 8, *ends, paths, complete=at + US, late_sender=late, latency=US)
                entered = free[rank] = at + US
    finding = story.alone(one_exchange.find).row(0, named=True)
    assert "less often" in finding["advice"]
    # Without them, rank 0 works for 9 ms and the remaining 4 ms of each of ten steps; the last rank ends 27 ms later.
    assert finding["gain"] == pytest.approx((400 - (10 * 13 + 27)) / 400, abs=0.03)


def test_an_exchange_is_no_question_and_answer() -> None:
    """Two ranks exchange messages by MPI_Sendrecv, 20 µs each: the next one is sent in the call that takes another."""
    story = Story(2, 20 * 20 * US)
    exchange = story.path("main", "MPI_Sendrecv")
    for i in range(20):
        span = i * 20 * US, (i + 1) * 20 * US
        for rank in (0, 1):
            story.call(rank, *span, exchange, latency=20 * US)
            story.message(rank, 1 - rank, 64, span, span, (exchange, exchange), latency=20 * US)
    with story.as_run() as run:
        assert len(one_exchange._trips(Program(run).build()).ask) == 0
    with questions(5, 0).as_run() as run:
        assert len(one_exchange._trips(Program(run).build()).ask) > 0
