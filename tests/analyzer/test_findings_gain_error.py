"""How sure a gain is: each term by hand, and where it is shown."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.analyzer.story import MS, Story
from tests.analyzer.test_findings_unattended import transfers

from logpost.analyzer.findings.evidence.graph import graph_of
from logpost.analyzer.findings.evidence.machine_values import longest_latency_ps
from logpost.analyzer.findings.evidence.message_errors import with_messages_off
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Cure, Hypothesis
from logpost.analyzer.findings.finding import Finding, Number
from logpost.analyzer.findings.gain_error import CURE, with_errors
from logpost.analyzer.findings.wording.numbers import gain_text
from logpost.analyzer.location_names import Named, Rank
from logpost.analyzer.manifest import MachineValue


def queued() -> Story:
    """Rank 1 waits 10 ms for a message of 1,000 B: 2 ms of latency behind 8 in a queue."""
    story = Story(2, 10 * MS)
    send, recv = story.path("main", "MPI_Send"), story.path("main", "MPI_Recv")
    story.call(0, 0, 0, send)
    story.call(1, 0, 10 * MS, recv, endpoint_contention=8 * MS, latency=2 * MS)
    parts = {"endpoint_contention": 8 * MS, "latency": 2 * MS}
    story.message(0, 1, 1000, (0, 0), (0, 10 * MS), (send, recv), **parts)
    return story


def evidence_with(*values: dict[str, Any], **machine: float) -> Evidence:
    """Of that story, with a machine of these values."""
    story = queued()
    manifest = story.manifest()
    told = [MachineValue(**{"locality": "same_node", "source": "test", **value}) for value in values]
    update = {"values": told, "residual_share": 0.0, "deficit_share": 0.0, **machine}
    used = manifest.machine.model_copy(update=update)
    return Evidence(story.tables(), manifest.model_copy(update={"machine": used}))


def without_queue(evidence: Evidence) -> Cure:
    return Cure(graph_of(evidence), Hypothesis(less_ps=np.array([8 * MS])))


def finding(gain: float, cure: Cure | None, *numbers: Number) -> Finding:
    return Finding(
        "hot_receiver",
        (Named(Rank(1), 1),),
        "MPI_Recv",
        "",
        numbers,
        0.9,
        "measured",
        -1,
        0,
        9,
        8 * MS,
        0.8,
        gain,
        cure=cure,
    )


def error_of(evidence: Evidence, found: Finding) -> float:
    (told,) = with_errors(evidence, [found])
    assert told.gain_error is not None
    assert replace(told, gain_error=None) == found
    return told.gain_error


MILLISECONDS = {"parameter": "L", "unit": "ms"}


def test_a_bound_is_off_by_what_cures_are_off_by() -> None:
    assert error_of(evidence_with(), finding(0.5, None)) == pytest.approx(CURE * 0.5)


def test_the_machines_interval_goes_through_the_cures_replay() -> None:
    # Without the queue 2 ms of 10 are left. L lies between 1 and 4 ms: 1 or 4 are left, which saves 90 or 60 %.
    evidence = evidence_with({**MILLISECONDS, "value": 2.0, "low": 1.0, "high": 4.0})
    cure = without_queue(evidence)
    assert cure.gain() == pytest.approx(0.8)
    assert [end.gain() for end in with_messages_off(evidence, cure)] == pytest.approx([0.9, 0.6])
    assert error_of(evidence, finding(0.8, cure)) == pytest.approx(math.hypot(0.2, CURE * 0.8))


def test_the_bytes_gap_counts_for_each_byte_and_a_files_uncertainty_to_both_sides() -> None:
    # 1,000 B at 1 +- 0.5 us per byte are half a millisecond to both sides; up to 10 B it would be more.
    evidence = evidence_with(
        {"parameter": "G", "unit": "us/B", "value": 1.0, "uncertainty": 0.5},
        {"parameter": "G", "unit": "us/B", "value": 1.0, "uncertainty": 1.0, "up_to_bytes": 10},
    )
    ends = [end.gain() for end in with_messages_off(evidence, without_queue(evidence))]
    assert ends == pytest.approx([0.85, 0.75])


def test_what_a_message_takes_at_most_and_what_members_take_are_off_likewise() -> None:
    evidence = evidence_with({**MILLISECONDS, "value": 2.0, "low": 1.0, "high": 4.0})
    graph = graph_of(evidence)
    most = Cure(graph, Hypothesis(most_ps=np.array([2 * MS])))
    assert [end.gain() for end in with_messages_off(evidence, most)] == pytest.approx([0.9, 0.6])
    never = np.iinfo(np.int64).max
    members = Cure(graph, Hypothesis(member_ps=np.array([2 * MS, never]), work_ps=np.array([0, 0])))
    low, high = (end.hypothesis.member_ps for end in with_messages_off(evidence, members))
    # L is half of it less, or as much more.
    assert low is not None
    assert high is not None
    assert (low.tolist(), high.tolist()) == ([MS, never], [4 * MS, never])


def test_where_the_latency_is_bounded_requests_and_answers_may_take_as_long() -> None:
    story = transfers(computes=True)
    story.undivided = ["latency"]
    manifest = story.manifest()
    bound = MachineValue(
        locality="same_node", parameter="L", value=0.1, unit="ms", low=0.0, high=0.4, bound_only=True, source="test"
    )
    machine = manifest.machine.model_copy(update={"values": [bound]})
    evidence = Evidence(story.tables(), manifest.model_copy(update={"machine": machine}))
    graph = graph_of(evidence)
    (other,) = with_messages_off(evidence, Cure(graph, Hypothesis(dropped=("attend", "begin"))))
    # From the Wait on a transfer takes 1 ms: all of it bytes, or 0.4 of it L, as before it the request and the answer.
    assert set(graph.messages.transport.tolist()) == {MS}
    assert set(other.graph.messages.transport.tolist()) == {MS * 18 // 10}
    assert set(other.graph.messages.parts["latency"].tolist()) == {MS * 12 // 10}
    assert other.graph.native.replay({}, [])["leave_ps"].tolist() == graph.leave_ps.tolist()


def test_what_is_not_divided_may_have_no_part_in_the_cause() -> None:
    evidence = evidence_with()
    cure = replace(without_queue(evidence), at_least=Hypothesis(less_ps=np.array([3 * MS])))
    assert [end.gain() for end in with_messages_off(evidence, cure)] == pytest.approx([0.3])


def test_a_run_without_an_interval_of_the_latency_bounds_it_by_nothing() -> None:
    assert longest_latency_ps(evidence_with().manifest.machine) == math.inf
    value = {**MILLISECONDS, "value": 2.0, "low": 1.0, "high": 4.0}
    assert longest_latency_ps(evidence_with(value).manifest.machine) == 4 * MS


def test_an_exact_machine_and_a_cure_of_measured_times_leave_no_ends() -> None:
    exact = evidence_with({**MILLISECONDS, "value": 2.0})
    assert list(with_messages_off(exact, without_queue(exact))) == []
    doubted = evidence_with({**MILLISECONDS, "value": 2.0, "low": 1.0, "high": 4.0})
    assert list(with_messages_off(doubted, Cure(graph_of(doubted), Hypothesis(dropped=("send",))))) == []


def test_what_the_model_leaves_open_is_open_in_the_gain() -> None:
    evidence = evidence_with(residual_share=0.3, deficit_share=0.1)
    cure = without_queue(evidence)
    assert error_of(evidence, finding(0.8, cure)) == pytest.approx(math.hypot(CURE, 0.3, 0.1) * 0.8)
    measured = Cure(graph_of(evidence), Hypothesis(freed=np.array([False, True])))
    assert error_of(evidence, finding(1.0, measured)) == pytest.approx(CURE)


def test_a_gain_beyond_its_cures_replay_may_be_no_more_than_that() -> None:
    evidence = evidence_with()
    assert error_of(evidence, finding(0.9, without_queue(evidence))) == pytest.approx(math.hypot(0.1, CURE * 0.9))
    # What is stated as less is a bound that holds beside the replay.
    assert error_of(evidence, finding(0.5, without_queue(evidence))) == pytest.approx(CURE * 0.5)


def test_where_two_cures_are_possible_the_other_one_is_within_the_error() -> None:
    shared = Number("gain_if_shared", 0.4, "1")
    assert error_of(evidence_with(), finding(0.5, None, shared)) == pytest.approx(CURE * 0.5 + 0.1)


def test_every_finding_of_a_run_states_its_error() -> None:
    story = Story(2, 100 * MS)
    path = story.path("main", "MPI_Barrier")
    for i in range(10):
        t = 10 * i * MS
        story.collective(path, "Barrier", {0: (t + 2 * MS, t + 9 * MS), 1: (t + 8 * MS, t + 9 * MS)})
    found = story.findings()
    assert found.height > 0
    assert found["gain_error"].null_count() == 0


def test_the_error_stands_beside_the_gain() -> None:
    assert gain_text(0.21, 0.03) == "at most 21.0 % faster, ± 3.0 %"
    assert gain_text(0.21) == "at most 21.0 % faster"
