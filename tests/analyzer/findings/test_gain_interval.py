"""Between what a gain is: each end by hand, no interval where none is computed, and how it is shown."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.analyzer.findings.cures.test_unattended import transfers
from tests.analyzer.story import MS, Story

from logpost.analyzer.findings.evidence.graph import graph_of
from logpost.analyzer.findings.evidence.machine_values import longest_latency_ps
from logpost.analyzer.findings.evidence.message_errors import with_messages_off
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Cure, Hypothesis
from logpost.analyzer.findings.finding import Finding, Number
from logpost.analyzer.findings.gain_interval import repetition_noise, with_intervals
from logpost.analyzer.findings.wording.numbers import gain_text
from logpost.analyzer.run.faults import Faults
from logpost.analyzer.run.manifest import MachineValue
from logpost.analyzer.words.location_names import Named, Rank


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


def interval_of(evidence: Evidence, found: Finding) -> tuple[float | None, float | None]:
    (one,) = with_intervals(evidence, [found], Faults(raises=True))
    assert replace(one, gain_low=None, gain_high=None) == found
    return one.gain_low, one.gain_high


MILLISECONDS = {"parameter": "L", "unit": "ms"}


def test_a_gain_that_no_replay_is_behind_has_no_interval() -> None:
    assert interval_of(evidence_with(residual_share=0.3, deficit_share=0.1), finding(0.5, None)) == (None, None)
    # Another cure of the same cause is an end.
    shared = Number("gain_if_shared", 0.4, "1")
    assert interval_of(evidence_with(), finding(0.5, None, shared)) == (0.4, 0.5)


def test_repetitions_that_save_unequally_widen_the_interval() -> None:
    # 12 and 8 by turns: 10 of 10 save 100; their deviation of 2.108 makes 2.262 x 2.108 x sqrt(10) = 15.08.
    assert repetition_noise(np.cumsum([12, 8] * 5)) == pytest.approx(0.1508, rel=1e-3)
    # In batches of two, all are alike.
    assert repetition_noise(np.cumsum([12, 8] * 10)) == 0
    assert repetition_noise(np.cumsum([10] * 10)) == 0


def test_too_few_repetitions_say_nothing_of_noise() -> None:
    assert repetition_noise(np.array([10, 30])) is None
    assert repetition_noise(np.array([10, 30, 0])) is None
    assert repetition_noise(np.array([], dtype=np.int64)) is None
    # One of five saves all: that is no repetition.
    assert repetition_noise(np.cumsum([0, 0, 10, 0, 0])) is None


def test_the_machines_interval_goes_through_the_cures_replay() -> None:
    # Without the queue 2 ms of 10 are left. L lies between 1 and 4 ms: 1 or 4 are left, which saves 90 or 60 %.
    evidence = evidence_with({**MILLISECONDS, "value": 2.0, "low": 1.0, "high": 4.0})
    cure = without_queue(evidence)
    assert cure.gain() == pytest.approx(0.8)
    assert [end.gain() for end in with_messages_off(evidence, cure)] == pytest.approx([0.9, 0.6])
    assert interval_of(evidence, finding(0.8, cure)) == pytest.approx((0.6, 0.9))
    # A gain that is another bound than the replay is not what has these ends.
    for other in (0.7, 0.7996, 0.9):
        assert interval_of(evidence, finding(other, cure)) == (None, None)


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


def test_an_exact_replay_has_no_interval() -> None:
    evidence = evidence_with(residual_share=0.3, deficit_share=0.1)
    assert interval_of(evidence, finding(0.8, without_queue(evidence))) == (None, None)
    measured = Cure(graph_of(evidence), Hypothesis(freed=np.array([False, True])))
    assert interval_of(evidence, finding(1.0, measured)) == (None, None)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (None, None, "time saved: up to 21.0 %"),
        (0.18, 0.24, "time saved: up to 21.0 % (18.0 to 24.0 %)"),
        (0.0, 0.21, "time saved: up to 21.0 % (0.0 to 21.0 %)"),
        (0.2099, 0.2101, "time saved: up to 21.0 %"),  # both ends read as 21.0 %
    ],
)
def test_a_gain_is_time_saved_with_its_ends(low: float | None, high: float | None, said: str) -> None:
    assert gain_text(0.21, low, high) == said
