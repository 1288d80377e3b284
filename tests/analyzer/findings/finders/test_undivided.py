"""What findings say where an estimated machine does not tell the categories apart that they would rest on."""

from __future__ import annotations

from tests.analyzer.findings.finders.test_many_small_messages import bursts
from tests.analyzer.findings.finders.test_missed_overlap import exchange
from tests.analyzer.findings.finders.test_processor_queueing import unattended_receiver
from tests.analyzer.story import MS, Story

from logpost.analyzer.findings.finders import (
    many_small_messages,
    missed_overlap,
    processor_queueing,
)

UNTOLD = ["latency", "serialization", "processor_queueing", "residual"]


def estimated(story: Story) -> Story:
    story.undivided = UNTOLD
    return story


def test_a_transfer_that_was_alone_is_no_queue() -> None:
    known, guessed = (one.alone(missed_overlap.find) for one in (exchange(work=3), estimated(exchange(work=3))))
    assert guessed["gain"].to_list() == known["gain"].to_list()
    assert (known["confidence"].item(), guessed["confidence"].item()) == (0.6, 0.3)
    # A second message of each sender is on its way with each: either may queue for the other.
    story = exchange(work=3)
    send, wait = (story.path("main", name) for name in ("MPI_Isend", "MPI_Wait"))
    for i in range(10):
        t = 6 * i * MS
        for rank in (0, 1):
            times = (t, t + MS), (t + MS, t + 3 * MS)
            story.message(rank, 1 - rank, 64, *times, (send, wait), post=t, send_overhead=MS, serialization=2 * MS)
    assert story.alone(missed_overlap.find).height == 1
    assert estimated(story).alone(missed_overlap.find).is_empty()


def test_a_queue_that_is_not_told_from_transport_is_no_finding() -> None:
    story = unattended_receiver({})
    assert story.alone(processor_queueing.find).height == 1
    assert estimated(story).alone(processor_queueing.find).is_empty()


def test_the_cost_per_message_is_a_guess_beside_an_unknown_cost_per_byte() -> None:
    finding = estimated(bursts(per_burst=20)).alone(many_small_messages.find).row(0, named=True)
    assert finding["confidence"] == 0.3
    assert "does not tell latency and serialization from other transport" in finding["certainty"]
