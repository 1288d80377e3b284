"""Waits of one-sided communication: which rank is waited for, and what its code, lock or progress costs."""

from __future__ import annotations

import pytest
from tests.analyzer.story import MS, Story, evidence_of

from logpost.analyzer.findings.cures import window_waits
from logpost.analyzer.findings.finding import HIGH, MEDIUM

STEPS = 10
STEP = 10 * MS


def story_of(work: int) -> Story:
    """Two ranks whose steps of 10 ms end in a barrier; rank 1 computes so long in `step`."""
    story = Story(2, STEPS * STEP, windows=STEPS)
    for rank in range(2):
        story.user(rank, story.path("main", "step"), STEPS * (work if rank == 1 else MS))
        story.user(rank, story.path("main"), MS)
    return story


def meet(story: Story, enters: tuple[int, int], end: int) -> None:
    barrier = story.path("main", "step", "MPI_Barrier")
    story.collective(barrier, "Barrier", {rank: (enter, end) for rank, enter in enumerate(enters)})


def late_post() -> Story:
    """Rank 1 computes 6 ms before it posts; rank 0 starts its access at 1 ms, waits 5 ms and then computes 4 ms."""
    story = story_of(6 * MS)
    start, complete, post, wait = (
        story.path("main", "step", f"MPI_Win_{name}") for name in ("start", "complete", "post", "wait")
    )
    for step in range(STEPS):
        t, posted = step * STEP, step * STEP + 6 * MS
        story.call(0, t + MS, posted, start, late_receiver=5 * MS)
        story.call(0, posted, posted, complete)
        story.epoch(0, "access", start, 1, 5 * MS, calls=(t + MS, posted), match=step)
        story.call(1, posted, posted, post)
        story.call(1, posted + 1, posted + 1, wait)
        story.epoch(1, "exposure", wait, -1, 0, calls=(posted, posted + 1), peer=0, match=step)
        meet(story, (t + 10 * MS, posted + 2), t + 10 * MS)
    return story


def late_complete() -> Story:
    """Rank 0 exposes its memory, waits from 1 to 6 ms for rank 1, which computes in its access, and computes 4 ms."""
    story = story_of(6 * MS)
    start, complete, post, wait = (
        story.path("main", "step", f"MPI_Win_{name}") for name in ("start", "complete", "post", "wait")
    )
    for step in range(STEPS):
        t, completed = step * STEP, step * STEP + 6 * MS
        story.call(0, t, t, post)
        story.call(0, t + MS, completed, wait, late_sender=5 * MS)
        story.epoch(0, "exposure", wait, 1, 5 * MS, calls=(t, t + MS), match=step)
        story.call(1, t + 1, t + 1, start)
        story.call(1, completed, completed, complete)
        story.epoch(1, "access", start, -1, 0, calls=(t + 1, completed), peer=0, match=step)
        meet(story, (t + 10 * MS, completed + 1), t + 10 * MS)
    return story


def lock_contention(returns: int = 1) -> Story:
    """Rank 1 holds the lock of its own memory for 6 ms, and rank 0 waits for it from 1 ms on; it computes 4 ms then. It
    has the lock so many picoseconds behind the begin of the release."""
    story = story_of(6 * MS)
    lock, unlock = story.path("main", "step", "MPI_Win_lock"), story.path("main", "step", "MPI_Win_unlock")
    for step in range(STEPS):
        t, free = step * STEP, step * STEP + 6 * MS
        story.call(1, t, t, lock)
        story.call(1, free, free, unlock)
        story.epoch(1, "lock_exclusive", lock, -1, 0, calls=(t, free), peer=1)
        story.call(0, t + MS, free + returns, lock, lock_wait=5 * MS + returns)
        story.call(0, free + returns, free + returns, unlock)
        story.epoch(0, "lock_exclusive", lock, 1, 5 * MS, calls=(t + MS, free + returns), peer=1)
        meet(story, (t + 10 * MS, free + returns), t + 10 * MS)
    return story


STORIES = {
    "late_post": (late_post, "MPI_Win_start", "for the post of rank 1", "Post earlier", HIGH),
    "late_complete": (late_complete, "MPI_Win_wait", "for the end of the access by rank 1", "MPI_Win_test", HIGH),
    "lock_contention": (lock_contention, "MPI_Win_lock", "for locks held by rank 1", "Hold locks for less", MEDIUM),
}


@pytest.mark.parametrize("kind", STORIES)
def test_the_rank_that_is_waited_for_is_named_with_its_region(kind: str) -> None:
    story, call, title, cure, confidence = STORIES[kind]
    (row,) = story().alone(window_waits.find).iter_rows(named=True)
    assert (row["kind"], row["confidence"]) == (kind, confidence)
    assert row["title"] == f"rank 0 waits in {call} {title}, delayed in step"
    assert cure in row["advice"]
    assert row["exposed_ps"] == STEPS * 5 * MS
    assert row["share"] == pytest.approx(0.5)
    assert "waits: 10; late rank: 1; foremost late rank share: 100.0 %" in evidence_of(row)
    # Of 10 ms rank 0 waits 5. What is left of each step is rank 1's work of 6 ms, which lasts longer than rank 0's 5.
    assert row["gain"] == pytest.approx(0.4, abs=0.005)


def test_a_lock_is_free_at_once_where_the_clock_does_not_order_release_and_grant() -> None:
    (row,) = lock_contention(returns=0).alone(window_waits.find).iter_rows(named=True)
    assert row["gain"] == pytest.approx(0.4, abs=0.005)


def test_a_wait_that_costs_nothing_is_not_stated() -> None:
    story = story_of(6 * MS)
    start = story.path("main", "step", "MPI_Win_start")
    for step in range(STEPS):
        t = step * STEP
        story.call(0, t + MS, t + MS + MS // 20, start, late_receiver=MS // 20)  # half a percent
        story.epoch(0, "access", start, 1, MS // 20, calls=(t + MS, t + MS))
    assert story.alone(window_waits.find).is_empty()


def test_where_no_code_delays_a_post_there_is_nothing_to_move() -> None:
    """Rank 1 posts right behind a barrier: no other order of its code lets it post earlier."""
    story = story_of(0)
    start, post = story.path("main", "step", "MPI_Win_start"), story.path("main", "step", "MPI_Win_post")
    for step in range(STEPS):
        t = step * STEP
        story.call(0, t + MS, t + 6 * MS, start, late_receiver=5 * MS)
        story.epoch(0, "access", start, 1, 5 * MS, calls=(t + MS, t + MS), match=step)
        story.call(1, t, t + 6 * MS, story.path("main", "step", "MPI_Recv"), late_sender=6 * MS)
        story.call(1, t + 6 * MS, t + 6 * MS, post)
        story.epoch(1, "exposure", post, -1, 0, calls=(t + 6 * MS, t + 6 * MS), peer=0, match=step)
    assert story.alone(window_waits.find).is_empty()


def gets(queueing: int) -> Story:
    """Rank 0 gets data of rank 1, which computes 6 ms, and computes 4 ms; `queueing` of 6 ms are for its processor."""
    story = story_of(6 * MS)
    path = story.path("main", "step", "MPI_Get")
    for step in range(STEPS):
        t = step * STEP
        story.transfer(0, 1, path, t, t + 6 * MS, processor_queueing=queueing, latency=6 * MS - queueing)
        meet(story, (t + 10 * MS, t + 6 * MS), t + 10 * MS)
    return story


def test_a_target_that_computes_is_named() -> None:
    (row,) = gets(5 * MS).alone(window_waits.find).iter_rows(named=True)
    assert row["kind"] == "unattended_target"
    assert (row["ranks"], row["region"], row["cause_region"]) == ([0, 1], "MPI_Get", "step")
    assert row["exposed_ps"] == STEPS * 5 * MS
    assert row["gain"] == pytest.approx(0.4, abs=0.005)  # rank 1's 6 ms are left
    assert "progress thread" in row["advice"]


def test_slow_transfers_to_an_attentive_target_are_not_its_fault() -> None:
    assert gets(0).alone(window_waits.find).is_empty()
