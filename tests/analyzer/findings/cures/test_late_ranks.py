"""Late ranks: code for whose end others wait."""

from __future__ import annotations

import pytest
from tests.analyzer.story import MS, Story

from logpost.analyzer.findings.cures import late_ranks
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.find import findings_of

STEPS, WORK = 10, 4 * MS


def passed_on(*, before: int) -> Story:
    """Rank 0 computes, sends and computes; rank 1 receives, computes, and sends back, for which rank 0 waits."""
    step = before + 2 * WORK
    story = Story(2, STEPS * step)
    send, recv = story.path("main", "MPI_Send"), story.path("main", "MPI_Recv")
    back, receive_back = story.path("main", "end", "MPI_Send"), story.path("main", "end", "MPI_Recv")
    for i in range(STEPS):
        t = i * step
        ends = (t + before, t + before), (t, t + before)
        story.call(0, *ends[0], send)
        story.call(1, *ends[1], recv, late_sender=before)
        story.message(0, 1, 8, *ends, (send, recv), late_sender=before)
        done = t + step
        there = (done, done), (t + before + WORK, done)
        story.call(1, *there[0], back)
        story.call(0, *there[1], receive_back, late_sender=WORK)
        story.message(1, 0, 8, *there, (back, receive_back), late_sender=WORK)
    return story


def test_a_message_is_sent_before_the_work_of_its_sender() -> None:
    # In each step of 12 ms rank 0 works for 4 ms before it sends, and 4 behind it; rank 1 works for 8 ms behind the
    # receive. With all work of rank 0 behind the send, a step lasts 8 ms; the first one begins with no such send.
    (row,) = passed_on(before=4 * MS).alone(late_ranks.find).iter_rows(named=True)
    assert row["kind"] == "late_sender_chain"
    assert "send earlier" in row["advice"]
    assert row["gain"] == pytest.approx(4 / 12, abs=0.04)


@pytest.mark.parametrize(("before", "found"), [(4 * MS, True), (3 * MS // 10, False)])
def test_what_every_machine_loses_explains_no_time_of_others(before: int, found: bool) -> None:
    # 0.3 of 8.3 ms are 3.6 %, less than code varies.
    story = passed_on(before=before)
    with story.as_run() as run:
        places = {one.callpath for one in findings_of(Evidence(story.tables(), story.manifest(), run=run))}
    assert (story.path("main", "MPI_Recv") in places) is found
