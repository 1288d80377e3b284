"""Waits of one-sided communication name who was waited for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from tests.analyzer.story import MS, Story, evidence_of

from logpost.analyzer.findings.evidence.graph import Graph
from logpost.analyzer.findings.finders import window_waits
from logpost.analyzer.findings.finding import HIGH, MEDIUM
from logpost.replay._native import wait_reasons

STEPS = 10
LENGTH = STEPS * 10 * MS


def waiting(kind: str, call: str, category: str, wait: int) -> Story:
    """In each step of 10 ms rank 1 computes 8 ms, and ranks 0 and 2 wait in `call` for it from 2 ms on."""
    story = Story(3, LENGTH, windows=STEPS)
    path = story.path("main", "step", call)
    for step in range(STEPS):
        t = step * 10 * MS
        for rank in (0, 2):
            story.call(rank, t + 2 * MS, t + 2 * MS + wait, path, **{category: wait})
            story.epoch(rank, kind, path, 1, wait)
    for rank in range(3):
        story.user(rank, story.path("main", "step"), STEPS * (8 if rank == 1 else 2) * MS)
        story.user(rank, story.path("main"), MS)
    return story


@pytest.mark.parametrize(
    ("kind", "call", "category", "finding", "title", "cure", "confidence"),
    [
        ("access", "MPI_Win_start", "late_receiver", "late_post", "for the post of rank 1", "Post earlier", HIGH),
        (
            "exposure",
            "MPI_Win_wait",
            "late_sender",
            "late_complete",
            "for the end of the access by rank 1",
            "MPI_Win_test",
            HIGH,
        ),
        (
            "change",
            "shmem_wait_until",
            "late_sender",
            "late_put",
            "for data that have yet to be put by rank 1",
            "border before the interior",
            MEDIUM,
        ),
        (
            "lock_exclusive",
            "MPI_Win_unlock",
            "lock_wait",
            "lock_contention",
            "for locks held by rank 1",
            "Hold locks for less",
            MEDIUM,
        ),
    ],
)
def test_who_is_waited_for_is_named_with_its_region(
    kind: str, call: str, category: str, finding: str, title: str, cure: str, confidence: float
) -> None:
    found = waiting(kind, call, category, 6 * MS).alone(window_waits.find)
    assert found["kind"].to_list() == [finding]
    row = found.row(0, named=True)
    assert row["title"] == f"ranks 0, 2 wait in {call} {title}, delayed in step"
    assert cure in row["advice"]
    assert row["confidence"] == confidence
    # Two ranks wait 6 ms each in ten steps; each waits 60 of 100 ms.
    assert row["exposed_ps"] == 2 * STEPS * 6 * MS
    assert row["share"] == pytest.approx(0.6)
    # All other time is rank 1's work, which no cure of the wait makes shorter.
    assert row["gain"] == pytest.approx(0.0)
    assert "waits: 20; late rank: 1; foremost late rank share: 100.0 %" in evidence_of(row)


def test_a_wait_that_costs_nothing_is_not_told() -> None:
    # 0.05 of 10 ms in each step: half a percent.
    assert waiting("access", "MPI_Win_start", "late_receiver", 50 * MS // 1000).alone(window_waits.find).is_empty()


def test_a_post_is_no_earlier_than_its_rank_has_done_waiting_for_others() -> None:
    """Rank 0: a receive that waits, two calls of its own, a post; an operation, a post. Rank 1: a post, and nothing
    before it."""
    access = wait_reasons().index("access")
    graph = SimpleNamespace(
        count=7,
        location=np.array([0, 0, 0, 0, 0, 0, 1]),
        meets=np.array([True, False, False, False, True, False, False]),
        waits={"source": np.array([1, 3, 5, 6, 3]), "reason": np.array([0, access, access, access, access])},
    )
    found = window_waits.posted_at_once(cast(Graph, graph))
    # What is waited for as a message (1) is none of them; behind rank 0's calls, rank 1's is the first of its location.
    assert found.tolist() == [-1, -1, -1, 0, -1, 4, -2]


def test_late_senders_of_messages_are_not_late_puts() -> None:
    story = waiting("change", "shmem_wait_until", "late_sender", 10 * MS // 1000)
    path = story.path("main", "step", "MPI_Recv")
    for step in range(STEPS):
        story.call(0, step * 10 * MS + 3 * MS, step * 10 * MS + 9 * MS, path, late_sender=6 * MS)
    assert story.alone(window_waits.find).is_empty()


def gets(queueing: int) -> Story:
    """In each step of 10 ms rank 0 gets data of rank 1, which computes; `queueing` of 6 ms are for its processor."""
    story = Story(2, LENGTH, windows=STEPS)
    path = story.path("main", "step", "MPI_Get")
    for step in range(STEPS):
        t = step * 10 * MS
        story.transfer(0, 1, path, t, t + 6 * MS, processor_queueing=queueing, latency=6 * MS - queueing)
    story.user(1, story.path("main", "step"), LENGTH - MS)
    story.user(1, story.path("main"), MS)
    return story


def test_a_target_that_computes_is_named() -> None:
    row = gets(5 * MS).alone(window_waits.find).row(0, named=True)
    assert row["kind"] == "unattended_target"
    assert row["title"] == "rank 0 waits in MPI_Get for transfers to rank 1, computing in step meanwhile"
    assert row["exposed_ps"] == STEPS * 5 * MS
    assert "progress thread" in row["advice"]


def test_slow_transfers_to_an_attentive_target_are_not_its_fault() -> None:
    assert gets(0).alone(window_waits.find).is_empty()
