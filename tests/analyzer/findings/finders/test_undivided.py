"""What findings say where an estimated machine does not tell the categories apart that they would rest on."""

from __future__ import annotations

from tests.analyzer.findings.finders.test_processor_queueing import unattended_receiver
from tests.analyzer.story import Story

from logpost.analyzer.findings.finders import (
    processor_queueing,
)

UNTOLD = ["latency", "serialization", "processor_queueing", "residual"]


def estimated(story: Story) -> Story:
    story.undivided = UNTOLD
    return story


def test_a_queue_that_is_not_told_from_transport_is_no_finding() -> None:
    story = unattended_receiver({})
    assert story.alone(processor_queueing.find).height == 1
    assert estimated(story).alone(processor_queueing.find).is_empty()
