"""What no part of the model explains is a finding behind all cures, with what the trace hints at."""

from __future__ import annotations

from typing import Literal

import pytest
from tests.analyzer.story import MS, Story
from tests.said import facts, says

from logpost.analyzer.findings.cures import unexplained
from logpost.analyzer.findings.cures.program import Program
from logpost.analyzer.findings.evidence.places import Place
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import LOW
from logpost.analyzer.findings.wording.facts import Facts
from logpost.analyzer.findings.wording.work import explain
from logpost.machines.calibration.while_recording import NAME as MEASURED


def story(unknown: int, *, layout: int = -1) -> Story:
    """Rank 0 sends ten messages to rank 1, each of which needs 3 ms; so many of them are not explained."""
    made = Story(2, 100 * MS)
    made.loggp |= {"o_s": 1000.0}
    send, recv = made.path("main", "MPI_Send"), made.path("main", "MPI_Recv")
    for i in range(10):
        t = 10 * i * MS + 7 * MS
        known = 3 * MS - unknown
        made.call(0, t, t + 3 * MS, send, send_overhead=known, residual=unknown)
        made.call(1, t, t + 3 * MS, recv, latency=known, residual=unknown)
        made.message(0, 1, 8, (t, t + 3 * MS), (t, t + 3 * MS), (send, recv), send_overhead=known, residual=unknown)
        made.rows["messages"][-1]["layout"] = layout
    return made


def test_two_thirds_of_a_call_are_not_explained() -> None:
    found = story(2 * MS).alone(unexplained.find).row(0, named=True)
    assert (found["ranks"], found["confidence"]) == ([0, 1], LOW)
    numbers = {one["name"]: one["value"] for one in found["evidence"]}
    assert numbers["share"] == pytest.approx(2 / 3)
    assert numbers["unexplained"] == 40 * MS
    # As the machine says, each message needs 1 ms: the last one ends 20 ms earlier, of 100.
    assert found["gain"] == pytest.approx(0.2)


@pytest.mark.parametrize(("deficit", "contradicts"), [(0.1, False), (0.11, True)])
def test_nothing_is_missed_of_a_machine_that_contradicts_the_trace(deficit: float, contradicts: bool) -> None:
    made = story(2 * MS)
    made.deficit_share = deficit
    assert made.alone(unexplained.find).is_empty() is contradicts


def measured(made: Story, origin: Literal["file", "recorded"], name: str = MEASURED) -> tuple[set[str], str]:
    """The names of a finding's numbers, and its advice, with that machine."""
    made.origin, made.machine_name = origin, name
    found = made.alone(unexplained.find).row(0, named=True)
    return {one["name"] for one in found["evidence"]}, found["advice"]


def test_a_measured_machine_is_not_to_be_measured_where_the_program_ran() -> None:
    assert "where the program ran" in story(2 * MS).alone(unexplained.find)["advice"][0]
    numbers, advice = measured(story(2 * MS), "recorded")
    assert "measured_while_recording" in numbers
    assert "where the program ran" not in advice
    assert "--machine FILE" in advice
    numbers, advice = measured(story(2 * MS), "file")
    assert "stated_machine" in numbers
    assert "logpost calibrate" not in advice


def test_a_machine_that_record_was_given_was_not_measured_while_recording() -> None:
    assert "stated_machine" in measured(story(2 * MS), "recorded", "cluster")[0]


@pytest.mark.parametrize("measures", [False, True])
def test_one_sided_transfers_have_the_values_of_messages_where_they_were_not_measured(measures: bool) -> None:
    made = Story(2, 100 * MS)
    made.origin, made.machine_name = "recorded", MEASURED
    for i in range(10):
        t = 10 * i * MS
        made.transfer(0, 1, made.path("main", "MPI_Get"), t, t + 3 * MS, latency=MS, residual=2 * MS)
    with made.as_run() as run:
        evidence = Evidence(made.tables(), made.manifest(), run=run)
        program = Program(run).build()
        assert not program.measures_transfers
        program.measures_transfers = measures
        (proposal,) = unexplained.propose(evidence, "", ("residual",), program)
    numbers = {one.name: one.value for one in proposal.numbers}
    assert ("one_sided" in numbers) is not measures
    row = {"kind": "unexplained", "evidence": [{"name": name, "value": value} for name, value in numbers.items()]}
    assert ("logpost calibrate" in explain(Facts(row, Place("", "", "", 0, is_site=False)))) is measures
    assert "one_sided" not in measured(story(2 * MS), "recorded")[0]


@pytest.mark.parametrize(("values_of", "named"), [("other_node", True), ("same_socket", False)])
def test_a_distance_that_the_machine_lacks_is_named(values_of: str, named: bool) -> None:
    made = story(2 * MS)  # on one node, whose sockets are not known
    made.values_of = values_of
    numbers, advice = measured(made, "recorded")
    assert ("between[one node]" in numbers) is named
    assert ("no values between ranks of one node" in advice) is named


def test_less_than_a_tenth_is_within_what_any_model_leaves() -> None:
    assert story(3 * MS // 11).alone(unexplained.find).is_empty()


def test_strided_data_without_a_known_cost_of_packing_is_a_hint() -> None:
    advice = story(2 * MS, layout=0).alone(unexplained.find)["advice"].to_list()
    assert all("--calibrate-layouts" in one for one in advice)
    assert "--calibrate-layouts" not in story(2 * MS).alone(unexplained.find)["advice"][0]


@pytest.mark.parametrize("searches", [True, False])
def test_receives_that_search_what_waits_are_known_from_others(searches: bool) -> None:
    # Rank 0 sends 20 messages, which rank 1 receives behind the last one: each in 0.1 ms for every one that waits, or
    # in 1 ms; one of them is interrupted.
    count = 20
    made = Story(2, 100 * MS)
    made.loggp |= {"o_s": 1000.0}
    send, recv = made.path("main", "MPI_Send"), made.path("main", "MPI_Recv")
    sent = [i * MS // 10 for i in range(count)]
    for at in sent:
        made.call(0, at, at + MS // 20, send, send_overhead=MS // 20)
    at = 10 * MS
    for i, number in enumerate(reversed(range(count))):
        lasts = (count - i) * MS // 10 if searches else MS
        lasts += 5 * MS if i == 3 else 0
        made.call(1, at, at + lasts, recv, residual=lasts)
        ends = (sent[number], sent[number] + MS // 20), (at, at + lasts)
        before = at - sent[number]
        made.message(0, 1, 8, *ends, (send, recv), processor_queueing=before, residual=lasts)
        at += lasts
    made.collective(made.path("main", "MPI_Barrier"), "Barrier", {0: (10 * MS, at), 1: (at, at)})
    (row,) = made.alone(unexplained.find).iter_rows(named=True)
    assert ("messages that wait to be received" in row["title"]) is searches
    assert ("100 µs each" in row["advice"]) is searches


@pytest.mark.parametrize("call", ["MPI_Comm_dup", "MPI_Test", "MPI_Iprobe"])
def test_calls_that_no_model_describes_are_not_explained(call: str) -> None:
    made = Story(2, 100 * MS)
    made.loggp |= {"o_s": 1000.0}
    path = made.path("main", call)
    for rank in range(2):
        made.call(rank, 10 * MS, 40 * MS, path, mpi_other=30 * MS)
    (found,) = made.alone(unexplained.find).iter_rows(named=True)
    assert facts(found["title"]) == ["100.0 %", call, "0-1", "60.0 ms"]
    assert ("MPI_Waitany" in found["advice"]) == (call != "MPI_Comm_dup")
    assert found["gain"] == pytest.approx(0.3)


def test_how_much_of_what_is_not_explained_can_be_removed_is_open() -> None:
    made = Story(2, 100 * MS)
    path = made.path("main", "MPI_Comm_dup")
    for rank in range(2):
        made.call(rank, 10 * MS, 40 * MS, path, mpi_other=30 * MS)
    (found,) = made.findings().iter_rows(named=True)
    # None of the calls' 30 ms in 100, or all; ends are rounded outward to a tenth of a percent.
    assert (found["gain_low"], found["gain_high"]) == (0.0, pytest.approx(0.3, abs=0.0011))


def test_what_an_estimated_machine_does_not_divide_is_to_be_measured() -> None:
    made = story(0)
    made.undivided = ["latency", "send_overhead"]
    found = made.alone(unexplained.find)
    assert all("that the estimated machine does not divide" in one for one in found["title"])
    assert all("--machine FILE" in one for one in found["advice"])
    assert found.height == 1


def test_a_flush_of_the_tracer_is_not_the_program() -> None:
    made = Story(2, 100 * MS)
    made.loggp |= {"o_s": 1000.0}
    path = made.path("main", unexplained.FLUSH)
    for rank in range(2):
        made.call(rank, 20 * MS, 50 * MS, path, mpi_other=30 * MS)
        made.call(rank, 50 * MS, 60 * MS, made.path("main", "MPI_Comm_dup"), mpi_other=10 * MS)
    row, other = made.alone(unexplained.find).iter_rows(named=True)
    assert says(row["title"], "100.0 %", "0-1", "60.0 ms")
    assert "the tracer's" in row["title"]
    assert "SCOREP_TOTAL_MEMORY" in row["advice"]
    assert facts(other["title"]) == ["100.0 %", "MPI_Comm_dup", "0-1", "20.0 ms"]
