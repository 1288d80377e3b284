"""Messages that nobody attends to are a finding that says whose processor they waited for and what it did meanwhile."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from tests.analyzer.story import MS, US, Story, evidence_of

from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.unattended import unattended
from logpost.analyzer.findings.finders import processor_queueing
from logpost.analyzer.findings.finding import HIGH, MEDIUM
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import TABLES

ROUND = 10 * MS
ROUNDS = 10


def unattended_receiver(meanwhile: dict[str, int], *, instrumented: bool = True, rounds: int = ROUNDS) -> Story:
    """Rank 0 sends to rank 1, which posted its receive, did something else for 8 ms, and only then completes it.

    A round of 10 ms:
        rank 0  MPI_Ssend   0.2 .. 8.1 ms: 0.1 send overhead, 7.7 processor queueing, 0.1 receive overhead
        rank 1  MPI_Irecv   0.0 .. 0.1 ms
                `meanwhile` 0.3 ms .. : a call MPI_Sendrecv with these parts, if any
                MPI_Wait    8.0 .. 8.2 ms: receive overhead
    The message's envelope is 0.2 .. 8.2 ms: 0.1 + 7.7 + 0.2 receive overhead.
    """
    story = Story(3, rounds * ROUND, windows=rounds)
    above = ("main", "relax") if instrumented else ("main",)
    ssend, irecv = story.path("main", "MPI_Ssend"), story.path(*above, "MPI_Irecv")
    wait, other = story.path(*above, "MPI_Wait"), story.path(*above, "MPI_Sendrecv")
    for i in range(rounds):
        t = i * ROUND
        story.call(
            0,
            t + 200 * US,
            t + 8100 * US,
            ssend,
            send_overhead=100 * US,
            processor_queueing=7700 * US,
            recv_overhead=100 * US,
        )
        story.call(1, t, t + 100 * US, irecv, recv_overhead=100 * US)
        if meanwhile:
            story.call(1, t + 300 * US, t + 300 * US + sum(meanwhile.values()), other, **meanwhile)
        story.call(1, t + 8000 * US, t + 8200 * US, wait, recv_overhead=200 * US)
        story.message(
            0,
            1,
            100_000,
            (t + 200 * US, t + 8100 * US),
            (t + 8000 * US, t + 8200 * US),
            (ssend, wait),
            complete=t + 8100 * US,
            post=t,
            send_overhead=100 * US,
            processor_queueing=7700 * US,
            recv_overhead=200 * US,
        )
    if instrumented:
        for rank in range(3):
            story.user(rank, story.path("main", "relax"), rounds * (7 * MS if rank == 1 else 0))
            story.user(rank, story.path("main"), rounds * MS)
    return story


def only(story: Story) -> dict[str, Any]:
    """The one finding of this kind."""
    found = story.alone(processor_queueing.find)
    assert found.height == 1
    return found.row(0, named=True)


def test_a_rank_that_computes_lets_nothing_progress() -> None:
    finding = only(unattended_receiver({}))
    assert finding["title"] == (
        "rank 0 waits in MPI_Ssend for the processor of rank 1, which computes meanwhile, in relax"
    )
    assert (finding["ranks"], finding["region"], finding["cause_region"]) == ([0], "MPI_Ssend", "relax")
    # 7.7 ms in each of 10 rounds, of 100 ms.
    assert finding["exposed_ps"] == 77 * MS
    assert finding["share"] == pytest.approx(0.77)
    # The interval is 0.3 .. 8.0 ms of a round: rank 1 is in no call in it.
    assert evidence_of(finding) == (
        "exposed: 77.0 ms; worst rank: 0; exposed on worst rank: 77.0 ms; waits: 10; mean wait: 7.70 ms; "
        "looked at: 100.0 %; processor of: 1; waited for (rank 1): 100.0 %; computing (relax): 100.0 %"
    )
    # Rank 1 never waits: it is the critical resource, and attending earlier shortens nothing.
    assert finding["gain"] == 0
    assert "asynchronous progress" in finding["advice"]
    # Modelled are 0.1 ms of send and 0.2 ms of receive overhead beside 7.7 ms of queueing: 3.9 %.
    assert finding["confidence"] == HIGH
    assert finding["certainty"].startswith("it is measured that these ranks were outside communication calls")
    assert "o, L and G of these messages are 3.9 % of the wait" in finding["certainty"]


def test_without_user_regions_the_place_is_named_by_the_calls_around_it() -> None:
    finding = only(unattended_receiver({}, instrumented=False))
    assert finding["cause_region"] == "code between MPI_Irecv and MPI_Wait"


def test_a_rank_in_other_calls_that_work_handles_other_messages() -> None:
    finding = only(unattended_receiver({"send_overhead": 3 * MS, "serialization": 3 * MS}))
    assert finding["title"].endswith("the processor of rank 1, which handles other messages, in MPI_Sendrecv")
    # Of 7.7 ms, 6 in MPI_Sendrecv, which works all the time, and 1.7 outside.
    assert "handling (MPI_Sendrecv): 77.9 %; computing (relax): 22.1 %" in evidence_of(finding)
    assert finding["cause_region"] == "MPI_Sendrecv"
    assert finding["advice"].startswith("Change the order")
    assert finding["confidence"] == MEDIUM
    assert finding["certainty"].startswith("the arrival of a message is modelled")


def test_a_rank_that_waits_in_a_call_itself_does_not_attend() -> None:
    parts = {"late_sender": 2 * MS, "late_receiver": MS, "residual": 3 * MS, "recv_overhead": 700 * US}
    story = unattended_receiver(parts)
    finding = only(story)
    assert finding["title"].endswith("rank 1, which is inside MPI_Sendrecv without attending to the messages")
    # 1 ms outside (7.7 - 6.7), 0.7 handled, 2 + 1 + 3 = 6 ms waiting or unexplained: 13.0, 9.1 and 77.9 % of 7.7 ms.
    assert evidence_of(finding).endswith(
        "idle (MPI_Sendrecv): 77.9 %; computing (relax): 13.0 %; handling (MPI_Sendrecv): 9.1 %"
    )
    assert finding["cause_region"] == ""
    assert finding["advice"].startswith("Check why these processors do not attend: the binding")
    assert finding["confidence"] == MEDIUM
    assert "a slower network would look the same" in finding["certainty"]
    story.hosts.oversubscribed = True
    crowded = only(story)
    assert crowded["advice"].startswith("Give each rank its own core first: ranks outnumber cores")
    assert crowded["confidence"] == pytest.approx(MEDIUM * 2 / 3)


def test_below_one_per_cent_it_is_no_finding() -> None:
    """The same waits in a run of ten times their length are 7.7 %; in one of a hundred times, 0.77 %."""
    for longer, found in ((10, 1), (100, 0)):
        story, rest = Story(3, longer * ROUNDS * ROUND), unattended_receiver({})
        story.__dict__.update({k: v for k, v in rest.__dict__.items() if k not in ("length", "windows", "program")})
        for row in story.rows["segments"]:
            row["window"] = 0
        assert story.alone(processor_queueing.find).height == found


def test_a_message_that_waits_while_its_rank_computes_costs_nothing() -> None:
    story = unattended_receiver({})
    for row in story.rows["segments"] + story.rows["exposed"]:
        if row["category"] == "processor_queueing":
            row["category"] = "send_overhead"
    assert story.alone(processor_queueing.find).is_empty()


def test_few_long_waits_are_reported_with_less_confidence() -> None:
    finding = only(unattended_receiver({}, rounds=3))
    assert finding["confidence"] == MEDIUM
    assert finding["certainty"].endswith("only 3 waits")


def absent_sender(test_at: int | None = None) -> Story:
    """Rank 1 starts a send and computes; rank 0, in MPI_Recv, answers the request and waits for rank 1's processor.

    A round of 10 ms:
        rank 1  MPI_Isend 0 .. 0.1, computes, MPI_Wait 8.0 .. 8.1 ms; `test_at`: MPI_Test in between, 0.1 ms long
        rank 0  MPI_Recv  0 .. 8.2 ms: 0.1 send overhead, 7.9 processor queueing, 0.2 receive overhead
    With MPI_Test the clear-to-send is seen there: queueing ends, and what follows is residual.
    """
    story = Story(2, ROUNDS * ROUND, windows=ROUNDS)
    isend, recv = story.path("main", "MPI_Isend"), story.path("main", "MPI_Recv")
    wait, test = story.path("main", "MPI_Wait"), story.path("main", "MPI_Test")
    seen = 8 * MS if test_at is None else test_at
    parts = {"send_overhead": 100 * US, "processor_queueing": seen - 100 * US, "recv_overhead": 200 * US}
    if test_at is not None:
        parts["residual"] = 8 * MS - test_at
    for i in range(ROUNDS):
        t = i * ROUND
        story.call(1, t, t + 100 * US, isend, send_overhead=100 * US)
        if test_at is not None:
            story.call(1, t + test_at, t + test_at + 100 * US, test, mpi_other=100 * US)
        story.call(1, t + 8 * MS, t + 8100 * US, wait, serialization=100 * US)
        story.call(0, t, t + 8200 * US, recv, **parts)
        story.message(
            1,
            0,
            100_000,
            (t, t + 100 * US),
            (t, t + 8200 * US),
            (isend, recv),
            complete=t + 8100 * US,
            **parts,
        )
    return story


@pytest.mark.parametrize(("test_at", "each"), [(None, 7900 * US), (2 * MS, 1900 * US)])
def test_a_rendezvous_whose_sender_is_away_waits_until_its_next_call(test_at: int | None, each: int) -> None:
    story = absent_sender(test_at)
    finding = only(story)
    assert finding["title"].startswith("rank 0 waits in MPI_Recv for the processor of rank 1, which computes meanwhile")
    after = "MPI_Wait" if test_at is None else "MPI_Test"
    assert finding["cause_region"] == f"code between MPI_Isend and {after}"
    assert finding["exposed_ps"] == ROUNDS * each
    waits = unattended(Evidence(story.tables(), story.manifest()), [story.path("main", "MPI_Recv")])
    # From the end of MPI_Isend to the next call of rank 1.
    assert waits.select("begin_ps", "end_ps").row(0) == (100 * US, 100 * US + each)


def test_a_rendezvous_whose_sender_calls_nothing_more_waits_for_its_last_code() -> None:
    """The recording ends, or the sender does, before it makes another call: no call path ends the wait."""
    story, last = absent_sender(), (ROUNDS - 1) * ROUND
    for name in ("calls", "exposed", "segments"):
        # Of rank 1 nothing but the last round's MPI_Isend is left.
        rows = story.rows[name]
        rows[:] = [row for row in rows if row["location"] == 0 or row["enter_ps"] == last]
    story.rows["messages"] = story.rows["messages"][-1:]
    waits = unattended(Evidence(story.tables(), story.manifest()), [story.path("main", "MPI_Recv")])
    # From the end of MPI_Isend, for the 7.9 ms that the receive lost.
    assert waits.select("location", "callpath", "begin_ps", "end_ps").rows() == [
        (1, -1, last + 100 * US, last + 8000 * US)
    ]
    finding = only(story)
    assert finding["cause_region"] == "code after MPI_Isend"
    assert finding["exposed_ps"] == ROUNDS * 7900 * US


def test_a_receiver_whose_processor_takes_other_messages_first_waits_for_itself() -> None:
    story = Story(2, 100 * MS)
    send, wait = story.path("MPI_Send"), story.path("MPI_Wait")
    for i in range(10):
        t = i * 10 * MS
        story.call(1, t, t + 10 * US, send, send_overhead=10 * US)
        # The receiver enters when the message is there, and attends to it 5 ms later.
        story.call(0, t + 10 * US, t + 5020 * US, wait, processor_queueing=5 * MS, recv_overhead=10 * US)
        story.message(
            1,
            0,
            8,
            (t, t + 10 * US),
            (t + 10 * US, t + 5020 * US),
            (send, wait),
            send_overhead=10 * US,
            processor_queueing=5 * MS,
            recv_overhead=10 * US,
        )
    finding = only(story)
    assert finding["title"] == (
        "rank 0 waits in MPI_Wait for the processor of rank 0, which handles other messages, in MPI_Wait"
    )
    assert finding["exposed_ps"] == 50 * MS


def test_a_call_shares_its_wait_over_the_messages_that_it_completes() -> None:
    """Rank 0 waits from 0 to 4 ms in MPI_Waitall for two sends: rank 1 attends at 1 ms, rank 2 at 3 ms.

    The call lost 3 ms by queueing: 1/(1 + 3) of it is rank 1's, 3/(1 + 3) rank 2's.
    """
    story = Story(3, 10 * MS)
    isend, waitall, recv = story.path("MPI_Isend"), story.path("MPI_Waitall"), story.path("MPI_Wait")
    begin = 2 * MS
    story.call(0, begin, begin + 4 * MS, waitall, processor_queueing=3 * MS, residual=MS)
    for receiver, attends in ((1, MS), (2, 3 * MS)):
        story.call(receiver, begin + attends, begin + 4 * MS, recv, recv_overhead=4 * MS - attends)
        story.message(
            0,
            receiver,
            100_000,
            (0, 0),
            (begin + attends, begin + 4 * MS),
            (isend, recv),
            complete=begin + 4 * MS,
            post=0,
            processor_queueing=begin + attends,
            recv_overhead=4 * MS - attends,
        )
    waits = unattended(Evidence(story.tables(), story.manifest()), [waitall])
    assert dict(waits.select("location", "exposed_ps").iter_rows()) == {1: 0.75 * MS, 2: 2.25 * MS}
    assert waits.select(pl.col("end_ps") - pl.col("begin_ps")).to_series().to_list() == [MS, 3 * MS]


STEPS = 80
EACH = 10 * US


def all_to_one(*, away: int) -> Story:
    """80 times, ranks 1-3 send to rank 0 at once, whose processor takes 10 µs for each; then all meet in a barrier.

    Rank 0 first computes for `away`, its receives posted. Message k waits for its processor for away + (k - 1) 10 µs,
    and its sender with it; all meet at away + 30 µs, and leave 1 µs later.
    """
    length = away + 3 * EACH + US
    story = Story(4, (STEPS + 1) * length, windows=8)
    send, post, recv = (story.path("main", f"MPI_{name}") for name in ("Ssend", "Startall", "Recv"))
    barrier = story.path("main", "MPI_Barrier")
    for step in range(STEPS):
        begin = step * length
        if away:
            story.call(0, begin, begin, post)
        for sender in (1, 2, 3):
            queueing = away + (sender - 1) * EACH
            enter, leave = begin + queueing, begin + queueing + EACH
            parts = {"serialization": EACH} | ({"processor_queueing": queueing} if queueing else {})
            story.call(sender, begin, leave, send, **parts)
            story.call(0, enter, leave, recv, recv_overhead=EACH)
            times = {"complete": leave} | ({"post": begin} if away else {})
            story.message(sender, 0, 1000, (begin, leave), (enter, leave), (send, recv), service=EACH, **times, **parts)
        enters = {rank: begin + away + max(1, rank or 3) * EACH for rank in range(4)}
        story.collective(barrier, "Barrier", {rank: (enter, begin + length) for rank, enter in enters.items()})
    return story


def test_what_a_hot_receiver_has_no_time_for_is_said_once() -> None:
    found = all_to_one(away=0).findings()
    (first,) = found.filter(kind="hot_receiver").iter_rows(named=True)
    assert "processor_queueing" not in found["kind"].to_list()
    # Were its quarter of the messages all that rank 0 took, each receive would take 2.5 µs. The first message still
    # takes 10 µs, so the second one is received at 12.5 and the third one at 15; its sender, which the second receive's
    # end lets go on, is done 10 µs after 12.5. They meet at 22.5 instead of 30 µs of 31.
    assert first["gain"] == pytest.approx(7.5 / 31, rel=1e-3)


def test_a_hot_receiver_that_computes_is_another_matter() -> None:
    """The others wait for its processor all the time, first because it computes: one bug, said once."""
    found = all_to_one(away=30 * US).findings()
    assert found["kind"].to_list() == ["hot_receiver"]
    # With a quarter of the messages the receives end at 32.5, 35 and 37.5 µs. Each sender is answered when its receive
    # begins and done 10 µs later, the last one at 45: they meet 15 µs earlier, of 61.
    assert found["gain"][0] == pytest.approx(15 / 61, rel=1e-3)


def test_the_intervals_are_as_long_as_the_split_says_on_every_archive(runs: dict[str, Run]) -> None:
    """Their ends come from the order of the parts, their sum from the split in the native core: both must agree."""
    judged = 0
    for name, run in runs.items():
        evidence = Evidence({table: run.table(table) for table in TABLES if table != "findings"}, run.manifest)
        # Of one-sided transfers, `unattended_target` tells.
        messages = evidence.callpaths.filter(pl.col("kind") != "one_sided")["callpath"].to_list()
        queueing = evidence.exposure.filter(pl.col("callpath").is_in(messages), category="processor_queueing")
        if queueing.is_empty():
            continue
        waits = unattended(evidence, queueing["callpath"].unique().to_list())
        assert waits["exposed_ps"].sum() == pytest.approx(queueing["exposed_ps"].sum(), rel=0.01), name
        assert (waits["end_ps"] > waits["begin_ps"]).all(), name
        # Where a call serves one message, and waits for another processor than its own, its interval is the queueing;
        # a queue for the receiver's processor after that (one of 34 waits of sst-macro) is not in it.
        alone = waits.filter(pl.len().over("call") == 1, pl.col("waiter") != pl.col("location"))
        length = alone.select((pl.col("end_ps") - pl.col("begin_ps")).sum()).item()
        exposed = int(alone["exposed_ps"].sum())
        assert 0.9 * exposed <= length <= exposed, name
        judged += alone.height
    assert judged > 8_000
