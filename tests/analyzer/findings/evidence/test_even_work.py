"""Sharing the work before an operation gains what the last member worked longer, and nothing of what it waited."""

from __future__ import annotations

import pytest
from tests.analyzer.story import MS, Story

from logpost.analyzer.findings.evidence.even_work import even_work
from logpost.analyzer.findings.evidence.graph import graph_of
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import saving_if


def evidence(story: Story) -> Evidence:
    return Evidence(story.tables(), story.manifest())


def rounds(*, waits: bool) -> tuple[Story, int]:
    """Ten rounds of 10 ms: rank 0 enters the barrier after 3 ms, rank 1 after 9; both leave at 10 ms. Rank 1 computes
    so long, or (`waits`) computes 3 ms and is in an MPI_Recv for 6 ms, for a message that rank 2, in no barrier, sends
    8 ms into the round."""
    story = Story(3, 100 * MS)
    barrier, recv, send = (story.path(name) for name in ("MPI_Barrier", "MPI_Recv", "MPI_Send"))
    for t in range(0, 100 * MS, 10 * MS):
        if waits:
            story.call(1, t + 3 * MS, t + 9 * MS, recv, late_sender=5 * MS, serialization=MS)
            story.call(2, t + 8 * MS, t + 9 * MS, send, serialization=MS)
            story.message(
                2, 1, 8, (t + 8 * MS, t + 9 * MS), (t + 3 * MS, t + 9 * MS), (send, recv),
                late_sender=5 * MS, serialization=MS,
            )  # fmt: skip
        story.collective(barrier, "Barrier", {0: (t + 3 * MS, t + 10 * MS), 1: (t + 9 * MS, t + 10 * MS)})
    return story, barrier


def test_who_works_longer_gives_half_of_it_away() -> None:
    story, barrier = rounds(waits=False)
    graph = graph_of(evidence(story))
    # 6 ms each instead of 3 and 9, and 1 ms in the barrier: 7 of 10 ms.
    assert saving_if(graph, even_work(graph, barrier)).gain == pytest.approx(0.3)
    assert saving_if(graph, even_work(graph, barrier + 1)).gain == 0.0


def test_who_is_slow_becomes_as_fast_as_the_other() -> None:
    story, barrier = rounds(waits=False)
    graph = graph_of(evidence(story))
    # Rank 1 enters after 3 ms instead of 9, as rank 0 does, and the barrier takes 1: 4 of 10 ms.
    assert saving_if(graph, even_work(graph, barrier, slow=1)).gain == pytest.approx(0.6)
    assert saving_if(graph, even_work(graph, barrier, slow=0)).gain == 0.0


def test_who_waits_for_a_message_stays_late() -> None:
    story, barrier = rounds(waits=True)
    graph = graph_of(evidence(story))
    assert saving_if(graph, even_work(graph, barrier)).gain == pytest.approx(0.0, abs=0.01)


def test_without_operations_nothing_changes() -> None:
    story = Story(2, 10 * MS)
    story.call(0, MS, 2 * MS, story.path("MPI_Send"), send_overhead=MS)
    graph = graph_of(evidence(story))
    assert saving_if(graph, even_work(graph, 0)).gain == 0.0
