"""Many small messages are a finding where they could have travelled together, whatever their size in bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analyzer.story import MS, US, Story, evidence_of
from tests.said import facts

from logpost.analyzer.findings.cures import many_small_messages
from logpost.analyzer.findings.cures.program import Program
from logpost.analyzer.findings.evidence.tables import Evidence


def bursts(*, per_burst: int, serialization: int = US, answer: bool = False) -> Story:
    """Ten times per 10 ms: rank 0 sends `per_burst` messages to rank 1 at 40 µs intervals; rank 1 takes them
    afterwards.

    A send costs 20 µs of overhead; a receive 20 µs and the message 10 µs of latency. With `answer` rank 0 receives an
    answer after each message before it sends the next.
    """
    story = Story(2, 100 * MS, windows=10)
    story.communicator(0, 1)
    story.loggp |= {"o_s": 20.0, "L": 10.0, "G": serialization / US / 64, "o_r": 20.0}
    send, recv = story.path("main", "put", "MPI_Send"), story.path("main", "MPI_Recv")
    for i in range(10):
        t = i * 10 * MS
        for k in range(per_burst):
            begin = t + k * 40 * US
            story.call(0, begin, begin + 20 * US, send, send_overhead=20 * US)
            if answer:
                taken = begin + 25 * US
                story.message(1, 0, 8, (begin, begin + US), (begin, taken), (send, recv), latency=25 * US)
            end = t + 5 * MS + k * 40 * US
            story.call(1, end, end + 20 * US, recv, recv_overhead=20 * US)
            queue = end - begin - 30 * US - serialization
            story.message(
                0,
                1,
                64,
                (begin, begin + 20 * US),
                (end, end + 20 * US),
                (send, recv),
                send_overhead=20 * US,
                latency=10 * US,
                serialization=serialization,
                processor_queueing=queue,
                recv_overhead=20 * US,
            )
    return story


def bounded(value: float, most: float) -> str:
    """A value of a machine file of which only bounds are known."""
    return (
        f'{{ value = {value}, interval = [0, {most}], basis = "estimated", note = "a bound only, not a measurement" }}'
    )


def test_messages_that_follow_each_other_are_found(tmp_path: Path) -> None:
    finding = bursts(per_burst=50).alone(many_small_messages.find).row(0, named=True)
    assert facts(finding["title"]) == ["500", "64 B", "MPI_Send", "0", "50"]
    # Of 50 messages in a burst all but the first follow one that is still in flight.
    assert "follow another in flight: 98.0 %" in evidence_of(finding)
    assert finding["region"] == "MPI_Send"
    # Packed, a burst has one send and one receive; the code between the calls stays. 49 calls of 20 us are left out
    # on each rank, ten times in 100 ms.
    assert finding["gain"] == pytest.approx(0.098, rel=0.001)


def test_their_size_is_what_is_sent(tmp_path: Path) -> None:
    """Another size in the receives' records is counted, and changes nothing."""
    story = bursts(per_burst=50)
    for row in story.rows["messages"]:
        row["recv_bytes"] = 1023
    finding = story.alone(many_small_messages.find).row(0, named=True)
    assert finding["title"].startswith("500 messages of 64 B on average")


@pytest.mark.parametrize("limit", [4096, 1024])
def test_what_needs_a_handshake_only_when_packed_makes_its_sender_wait(limit: int) -> None:
    story = bursts(per_burst=50)
    story.loggp |= {"eager_limit": limit}
    barrier = story.path("main", "MPI_Barrier")
    for i in range(10):
        end = (i + 1) * 10 * MS
        story.collective(barrier, "Barrier", dict.fromkeys((0, 1), (end - 20 * US, end - 10 * US)))
    with story.as_run() as run:
        evidence = Evidence(story.tables(), story.manifest(), run=run)
        found = list(many_small_messages.find(evidence))
    (tried,) = evidence.tried
    if limit > 50 * 64:
        # 49 calls of 20 us are left out of each 10 ms.
        assert [one.gain for one in found] == [pytest.approx(0.098, rel=0.01)]
        return
    # Rank 0 sends from 0.98 ms on, 49 gaps of 20 us, until rank 1 receives at 5 ms, and not until 1.98 ms: each of ten
    # steps of 10 ms lasts 3 ms longer. It is not offered.
    assert found == []
    assert tried.gain == pytest.approx(-0.3, abs=0.01)


def test_single_messages_are_no_finding_however_small(tmp_path: Path) -> None:
    assert bursts(per_burst=1).alone(many_small_messages.find).is_empty()


def test_messages_that_wait_for_an_answer_each_cannot_be_packed(tmp_path: Path) -> None:
    """Nor could the replies: each of them is received before the next is sent."""
    story = bursts(per_burst=50, answer=True)
    assert story.alone(many_small_messages.find).is_empty()


@pytest.mark.parametrize(("most_per_byte", "found"), [(0.01, True), (5.0, False)])
def test_where_the_machine_is_only_bounded_a_gain_at_each_bound_is_found(most_per_byte: float, found: bool) -> None:
    """What 50 messages of 64 B cost is measured; how much of it is theirs whatever they hold, only bounds say."""
    story = bursts(per_burst=50)
    story.undivided = ["send_overhead", "latency", "serialization", "recv_overhead"]
    story.loggp |= {
        "L": bounded(10, 10),
        "G": bounded(0, most_per_byte),
        "o_s": bounded(0, 20),
        "o_r": bounded(0, 20),
    }
    findings = story.alone(many_small_messages.find)
    # One message of 3,200 B costs 32 us at most more, or 16 ms: more than the repetition lasts.
    assert findings["gain"].to_list() == ([pytest.approx(0.098, rel=0.02)] if found else [])


@pytest.mark.parametrize(("size", "found"), [(8, 1), (64, 0)])
def test_without_a_machine_single_values_in_a_row_may_be_one_message(size: int, found: int) -> None:
    story = bursts(per_burst=50)
    for row in story.rows["messages"]:
        row["bytes"] = size
    with story.as_run() as run:
        program = Program(run, as_measured=True).build()
        proposals = list(many_small_messages.propose(program))
        assert len(proposals) == found
        # What one message costs is not known: it may last as long as all of them.
        assert all(min(program.gain(end) for end in one.other_ends) == 0 for one in proposals)
        assert all(program.gain(one.change) > 0 for one in proposals)


@pytest.mark.parametrize("is_bounded", [True, False])
def test_what_messages_cost_beyond_bounds_is_not_said_to_be_gone(is_bounded: bool) -> None:
    """Where the machine is bounds alone, it does not divide what a message costs beyond them among the messages of a
    row: the one message keeps it in what is stated, and loses it at another end of the gain."""
    story = bursts(per_burst=50)
    with story.as_run() as run:
        program = Program(run, bounded=is_bounded).build()
        (cure,) = many_small_messages.propose(program)
        of_all, of_model = cure.other_ends[1], cure.other_ends[0]
        assert of_all.as_modelled is None
        assert of_model.as_modelled is not None
        assert cure.change is (of_all if is_bounded else of_model)
