"""Small epochs of a pipeline are fewer, larger ones where no block needs an answer."""

from __future__ import annotations

import pytest
from tests.analyzer.story import US, Story
from tests.said import says

from logpost.analyzer.findings.cures import larger_epochs

BLOCKS, STEP = 32, 25 * US


def pipeline(*, answer: str = "", kind: str = "put") -> Story:
    """In each step of 25 us rank 0 computes 10, puts 8 bytes into rank 1's memory in an epoch of three calls of 5 us,
    and rank 1 computes 4 us behind it. Rank 1 replies by a put, by a message, or not at all."""
    story = Story(2, (BLOCKS + 1) * STEP)
    start, complete, post, wait, put, send, recv = (
        story.path("main", f"MPI_{name}")
        for name in ("Win_start", "Win_complete", "Win_post", "Win_wait", "Put", "Send", "Recv")
    )
    every = 2 if answer == "epoch" else 1
    for step in range(BLOCKS):
        t = step * STEP
        story.call(0, t + 10 * US, t + 15 * US, start, mpi_other=5 * US)
        story.transfer(0, 1, put, t + 15 * US, t + 20 * US, kind=kind, epoch=every * step, latency=5 * US)
        story.call(0, t + 20 * US, t + 25 * US, complete, mpi_other=5 * US)
        story.epoch(0, "access", start, -1, 0, calls=(t + 10 * US, t + 20 * US), peer=1, match=every * step)
        story.call(1, t, t, post)
        story.call(1, t + 1, t + 21 * US, wait, late_sender=20 * US - 1, mpi_other=US)
        story.epoch(1, "exposure", wait, 0, 20 * US - 1, calls=(t, t + 1), match=every * step)
        if answer == "epoch":
            story.call(0, t + 25 * US, t + 25 * US, post)
            story.call(0, t + 25 * US + 1, t + 25 * US + 1, wait)
            story.epoch(0, "exposure", wait, -1, 0, calls=(t + 25 * US, t + 25 * US + 1), peer=1, match=2 * step + 1)
            story.call(1, t + 25 * US - 2, t + 25 * US - 2, start)
            story.call(1, t + 25 * US - 1, t + 25 * US - 1, complete)
            ends = (t + 25 * US - 2, t + 25 * US - 1)
            story.epoch(1, "access", start, -1, 0, calls=ends, peer=0, match=2 * step + 1)
        elif answer == "message":
            sent, taken = t + 21 * US, t + 25 * US
            story.call(1, sent, sent + US, send, send_overhead=US)
            story.call(0, taken, taken + US, recv, recv_overhead=US)
            parts = {"send_overhead": US, "processor_queueing": 3 * US, "recv_overhead": US}
            story.message(1, 0, 8, (sent, sent + US), (taken, taken + US), (send, recv), **parts)
    return story


def test_several_blocks_in_one_epoch_save_the_others_epochs() -> None:
    (row,) = pipeline().alone(larger_epochs.find).iter_rows(named=True)
    assert (row["kind"], row["ranks"], row["region"]) == ("many_small_messages", [0], "MPI_Win_start")
    assert says(row["title"], "32", "8 B", "MPI_Win_start", "0", "10.0 µs")
    assert says(row["advice"], "8")
    # Rank 0 puts 8 blocks behind 80 us of work and has the fourth epoch's completion at 4 * (80 + 15) - 5 us; rank 1
    # leaves its wait 1 us later and computes 8 * 4 us. Without the cure it has computed after 32 * 25 us.
    assert row["gain"] * (BLOCKS + 1) * 25 == pytest.approx(800 - (376 + 32), abs=2)


@pytest.mark.parametrize("answer", ["epoch", "message"])
def test_a_block_that_is_answered_is_not_sent_with_the_next_one(answer: str) -> None:
    assert pipeline(answer=answer).alone(larger_epochs.find).is_empty()


def test_data_that_the_origin_gets_is_an_answer() -> None:
    assert pipeline(kind="get").alone(larger_epochs.find).is_empty()
