"""Round trips: questions and replies, one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analyzer.story import MS, US, Story

from logpost.analyzer.findings.cures import one_exchange


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
