"""A rank that sends to everyone in turn is a hot sender; one that is late because it computes is not."""

from __future__ import annotations

import pytest
from tests.analyzer.story import MS, Story

from logpost.analyzer.findings.finders import hot_sender


def by_hand(*, sending: bool) -> Story:
    """Rank 0 sends 1 ms each to ranks 1, 2, 3 in turn, twenty times; the others enter their receive at once and wait.

    In a period of 4 ms rank k's message begins k - 1 ms after the period's begin: so long rank k waits (late sender).
    Without `sending`, the sends themselves take a hundredth of that, and rank 0 computes in between.
    """
    story = Story(4, 80 * MS, windows=8)
    send, recv = story.path("main", "scatter", "MPI_Send"), story.path("main", "MPI_Recv")
    for i in range(20):
        t = i * 4 * MS
        for k in range(1, 4):
            begin = t + (k - 1) * MS
            length = MS if sending else MS // 100
            story.call(0, begin, begin + length, send, serialization=length)
            wait = {"late_sender": begin - t} if k > 1 else {}
            story.call(k, t, begin + length, recv, **wait, serialization=length)
            story.message(
                0,
                k,
                10**6,
                (begin, begin + length),
                (t, begin + length),
                (send, recv),
                service=length,
                **wait,
                serialization=length,
            )
    # Something small goes back, so that the others are endpoints as well.
    for k in range(1, 4):
        story.message(k, 0, 8, (0, MS), (0, MS), (send, recv), service=MS, serialization=MS)
    return story


def test_who_sends_to_all_in_turn_is_a_hot_sender() -> None:
    found = by_hand(sending=True).alone(hot_sender.find)
    assert found.height == 1
    finding = found.row(0, named=True)
    # Rank 0 is in service for 60 ms, the three others 1 ms each.
    assert (
        finding["title"] == "rank 0 is a hot sender: 60.0 × the load of the other senders; ranks 2-3 wait in MPI_Recv"
    )
    assert (finding["region"], finding["cause_region"]) == ("MPI_Recv", "MPI_Send")
    # Rank 2 waits 20 * 1 ms, rank 3 20 * 2 ms; 1 - 1/60 of it is charged.
    assert finding["exposed_ps"] == pytest.approx(60 * MS * (1 - 1 / 60), rel=1e-6)
    assert finding["share"] == pytest.approx(40 / 80 * (1 - 1 / 60), rel=1e-6)


def test_who_computes_between_its_sends_is_no_hot_sender() -> None:
    assert by_hand(sending=False).findings().filter(kind="hot_sender").is_empty()


def test_a_pair_that_is_far_apart_has_no_hot_sender() -> None:
    """Rank 0 sends rank 1 what rank 2 sends rank 3, which is nearer, and a little to all others."""
    story = Story(4, 80 * MS, windows=8)
    send, recv = story.path("main", "MPI_Send"), story.path("main", "MPI_Recv")
    for i in range(20):
        t = i * 4 * MS
        for sender, receiver, length in ((0, 1, 3 * MS), (2, 3, MS // 10)):
            story.call(sender, t, t + length, send, serialization=length)
            story.call(receiver, t, t + length, recv, serialization=length)
            ends = (t, t + length)
            story.message(sender, receiver, 10**6, ends, ends, (send, recv), service=length, serialization=length)
        for receiver in (2, 3):
            late = (t + 3 * MS, t + 3 * MS + MS // 100)
            story.call(0, *late, send, serialization=MS // 100)
            story.call(receiver, t + MS, late[1], recv, late_sender=2 * MS, serialization=MS // 100)
            story.message(
                0,
                receiver,
                8,
                late,
                (t + MS, late[1]),
                (send, recv),
                service=MS // 100,
                late_sender=2 * MS,
                serialization=MS // 100,
            )
    assert story.alone(hot_sender.find).is_empty()
