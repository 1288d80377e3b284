"""What findings say where an estimated machine does not tell the categories apart that they would rest on."""

from __future__ import annotations

from tests.analyzer.findings.finders.test_late_sender_chain import late_rank
from tests.analyzer.findings.finders.test_processor_queueing import unattended_receiver
from tests.analyzer.story import Story

from logpost.analyzer.findings.finders import (
    late_sender_chain,
    processor_queueing,
)

UNTOLD = ["latency", "serialization", "processor_queueing", "residual"]


def estimated(story: Story) -> Story:
    story.undivided = UNTOLD
    return story


def test_time_in_a_call_that_is_not_divided_is_neither_work_nor_waiting() -> None:
    finding = estimated(late_rank(busy=True)).alone(late_sender_chain.find).row(0, named=True)
    assert finding["title"] == "rank 1 waits in MPI_Recv for rank 0, late because of time in MPI_Waitall"
    numbers = {row["name"]: row["value"] for row in finding["evidence"]}
    # Of the 4 ms 1 is receive overhead, which is divided, and 3 are not.
    assert numbers["it_works_in_calls_meanwhile"] == 0.25
    assert numbers["it_works_or_waits_in_calls_meanwhile"] == 0.75
    assert finding["advice"].startswith("Look at that call first")
    # Who is late, and where it is meanwhile, needs no machine.
    assert finding["confidence"] == 0.9


def test_late_senders_that_are_not_divided_lower_the_confidence() -> None:
    story = late_rank(busy=False)
    assert story.alone(late_sender_chain.find)["confidence"].to_list() == [0.9]
    story.undivided = ["late_sender", "latency"]
    (finding,) = story.alone(late_sender_chain.find).iter_rows(named=True)
    assert finding["confidence"] == 0.3
    assert finding["certainty"].endswith(
        "; the estimated machine does not tell late sender from other transport (--machine FILE does)"
    )


def test_a_queue_that_is_not_told_from_transport_is_no_finding() -> None:
    story = unattended_receiver({})
    assert story.alone(processor_queueing.find).height == 1
    assert estimated(story).alone(processor_queueing.find).is_empty()
