"""A chain of late senders is followed to the rank and region that computes while the others wait."""

from __future__ import annotations

import polars as pl
import pytest
from tests.analyzer.story import MS, US, Story, evidence_of

from logpost.analyzer.findings.finders import late_sender_chain


def wavefront(rounds: int = 10, *, instrumented: bool = True) -> Story:
    """Rank 0 computes 8 ms in `relax`, then the message runs through ranks 1, 2, 3, each of which adds 0.5 ms of
    compute.

    In a round beginning at t, everyone but rank 0 is in MPI_Recv from t on. Rank 0 sends at t + 8 ms, in 0.1 ms; rank
    k leaves its receive 0.1 ms after the send's enter, computes 0.5 ms and sends on: rank k's send enters at 8 + 0.6 k
    ms.
    """
    period = 20 * MS
    story = Story(4, rounds * period, windows=rounds)
    above = ("main", "relax") if instrumented else ()
    send, recv = story.path(*above, "MPI_Send"), story.path(*above, "MPI_Recv")
    for i in range(rounds):
        t = i * period
        for rank in range(4):
            begin = t + 8 * MS + rank * 600 * US
            if rank < 3:
                story.call(rank, begin, begin + 100 * US, send, send_overhead=100 * US)
                wait = begin - t
                story.call(rank + 1, t, begin + 100 * US, recv, late_sender=wait, serialization=100 * US)
                story.message(
                    rank,
                    rank + 1,
                    800,
                    (begin, begin + 100 * US),
                    (t, begin + 100 * US),
                    (send, recv),
                    late_sender=wait,
                    serialization=100 * US,
                )
    if instrumented:
        for rank in range(4):
            story.user(rank, story.path("main", "relax"), rounds * (8 * MS if rank == 0 else MS // 2))
            story.user(rank, story.path("main"), rounds * MS)
    return story


def test_the_chain_ends_at_the_rank_that_computes() -> None:
    found = wavefront().alone(late_sender_chain.find)
    assert found.height == 1
    finding = found.row(0, named=True)
    assert finding["title"] == "ranks 1-3 wait in MPI_Recv for rank 0, late because of relax"
    assert finding["cause_region"] == "relax"
    assert finding["region"] == "MPI_Recv"
    assert "waiting for: 3 ← 2 ← 1 ← 0;" in evidence_of(finding)


def test_waiting_is_passed_up_the_chain_exactly() -> None:
    finding = wavefront().alone(late_sender_chain.find).row(0, named=True)
    # Per round rank 1 waits 8 ms, rank 2 8.6 ms, rank 3 9.2 ms: all of it is traced, 25.8 ms, since whoever is late
    # computes or waits itself, except while it is inside MPI without waiting. While rank 2 waits for rank 1 (8.6 ms),
    # rank 1 waits itself for 8.0 ms, is in its call for another 0.1 ms (serialization), and computes 0.5 ms. While
    # rank 3 waits for rank 2 (9.2 ms): 8.6 ms waiting, 0.1, 0.5. So of W_0 = (8, 8.6, 9.2) for ranks (0, 1, 2)
    #   rank 2 computes 0.5 of 9.2 and passes 8.6 to rank 1, which has then 8.6 + 8.6 = 17.2;
    #   rank 1 computes 0.5/8.6 of it = 1.0 and passes 8.0/8.6 of it = 16.0 to rank 0, which has then 24.0 and computes.
    # All compute in relax: 0.5 + 1.0 + 24.0 = 25.5 ms per round, ten rounds.
    assert finding["exposed_ps"] == pytest.approx(255 * MS, rel=1e-6)
    assert "late sender time: 258 ms; traced to computing: 255 ms;" in evidence_of(finding)
    # Worst hit is rank 3, with 9.2 ms - 0.1 ms (rank 2's call) - 8.6 * 0.1/8.6 (rank 1's) = 9.0 ms of a 20 ms period.
    assert finding["share"] == pytest.approx(9.0 / 20, rel=1e-6)


def test_without_user_regions_the_cause_is_named_by_the_calls_around_it() -> None:
    finding = wavefront(instrumented=False).alone(late_sender_chain.find).row(0, named=True)
    # Rank 0 has no call but its sends.
    assert finding["cause_region"] == "code between MPI_Send and MPI_Send"
    assert "no user region inside the program was recorded" in finding["certainty"]


def late_rank(*, busy: bool, clocked: bool = False) -> Story:
    """Rank 0 sends 4 ms after rank 1 began to wait for it: it computed, or was `busy` in another communication call."""
    story = Story(2, 100 * MS)
    send, recv = story.path("app", "MPI_Send"), story.path("app", "MPI_Recv")
    other, clock = story.path("app", "MPI_Waitall"), story.path("app", "MPI_Wtime")
    for rank in range(2):
        story.user(rank, story.path("app"), 50 * MS)
    for i in range(10):
        t = i * 10 * MS
        if busy:
            story.call(0, t, t + 4 * MS, other, recv_overhead=MS, residual=3 * MS)
        else:
            story.call(0, t, t + MS // 4, other, recv_overhead=MS // 4)
        if clocked:
            story.call(0, t + MS // 2, t + MS // 2 + US, clock, mpi_other=US)
        story.call(0, t + 4 * MS, t + 5 * MS, send, send_overhead=MS)
        story.call(1, t, t + 5 * MS, recv, late_sender=4 * MS, serialization=MS)
        story.message(
            0,
            1,
            8,
            (t + 4 * MS, t + 5 * MS),
            (t, t + 5 * MS),
            (send, recv),
            late_sender=4 * MS,
            serialization=MS,
        )
    return story


def test_a_sender_that_waits_for_something_else_is_late_because_of_that_waiting() -> None:
    """Waiting for a late receiver, say, has no late sender above it: the chain ends there."""
    story = late_rank(busy=True)
    for row in (*story.rows["calls"], *story.rows["exposed"], *story.rows["segments"]):
        if row.get("category") == "residual":
            row["category"] = "late_receiver"
        elif row.get("residual_ps"):
            row["late_receiver_ps"], row["residual_ps"] = row["residual_ps"], 0
    finding = story.alone(late_sender_chain.find).row(0, named=True)
    assert finding["title"] == "rank 1 waits in MPI_Recv for rank 0, late because of waiting in MPI_Waitall"
    # 3 of 4 ms
    assert finding["exposed_ps"] == pytest.approx(30 * MS)
    assert "it waits meanwhile: 75.0 %" in evidence_of(finding)
    assert finding["advice"].startswith("Remove that waiting first")


def test_a_sender_that_is_busy_in_another_call_is_late_because_of_that_call() -> None:
    finding = late_rank(busy=True).alone(late_sender_chain.find).row(0, named=True)
    assert finding["title"] == "rank 1 waits in MPI_Recv for rank 0, late because of work in MPI_Waitall"
    assert finding["cause_region"] == "MPI_Waitall"
    assert finding["exposed_ps"] == pytest.approx(40 * MS)
    assert "it works in calls meanwhile: 100.0 %" in evidence_of(finding)
    assert "Send the awaited messages first" in finding["advice"]


@pytest.mark.parametrize("clocked", [False, True])
def test_one_region_around_the_whole_program_tells_less_than_the_calls(clocked: bool) -> None:
    """And a look at the clock in between tells nobody where the code is."""
    finding = late_rank(busy=False, clocked=clocked).alone(late_sender_chain.find).row(0, named=True)
    assert finding["cause_region"] == "code between MPI_Waitall and MPI_Send"
    # Of 4 ms, 0.25 ms are in MPI_Waitall (and 1 µs in MPI_Wtime).
    assert "it computes meanwhile: 93.8 %" in evidence_of(finding) if not clocked else "93.7 %" in evidence_of(finding)


def test_the_rest_of_the_run_does_not_stretch_the_window() -> None:
    story = wavefront(rounds=5)
    quiet = Story(4, 400 * MS, windows=20)
    quiet.__dict__.update({k: v for k, v in story.__dict__.items() if k not in ("length", "windows", "program")})
    # 5 rounds of 20 ms in windows of 20 ms; the other 15 windows are compute.
    (finding,) = quiet.findings().filter(pl.col("kind") == "wavefront").iter_rows(named=True)
    assert (finding["first_window"], finding["last_window"]) == (0, 4)


def test_punctual_senders_are_no_finding() -> None:
    story = Story(2, 100 * MS)
    send, recv = story.path("MPI_Send"), story.path("MPI_Recv")
    for i in range(10):
        t = i * 10 * MS
        story.call(0, t, t + 100 * US, send, send_overhead=100 * US)
        story.call(1, t + 50 * US, t + 150 * US, recv, serialization=100 * US)
        story.message(0, 1, 800, (t, t + 100 * US), (t + 50 * US, t + 150 * US), (send, recv), serialization=150 * US)
    assert story.findings().is_empty()


def test_waiting_in_a_circle_ends() -> None:
    """A trace whose clocks say that two ranks wait for each other all the time: nothing computes, and nothing hangs."""
    story = Story(2, 100 * MS)
    send, recv = story.path("MPI_Send"), story.path("MPI_Recv")
    for i in range(10):
        t = i * 10 * MS
        for a, b in ((0, 1), (1, 0)):
            story.call(b, t, t + 9 * MS, recv, late_sender=9 * MS)
            story.call(a, t + 9 * MS, t + 9 * MS + 10 * US, send, send_overhead=10 * US)
            story.message(
                a,
                b,
                8,
                (t + 9 * MS, t + 9 * MS + 10 * US),
                (t, t + 9 * MS + 10 * US),
                (send, recv),
                late_sender=9 * MS,
                send_overhead=10 * US,
            )
    assert story.alone(late_sender_chain.find).is_empty()


def test_shared_work_saves_the_mean_wait_of_who_is_late_and_who_waits() -> None:
    # Each of two pairs: one works 40 ms more than the other, which waits for it; shared, both have 20 more.
    assert late_sender_chain.saved_by_sharing({0: 40.0, 2: 40.0}, {1: 40.0, 3: 40.0}) == 20.0
    # One of five is late by exception: it may as well become as fast as the others. One of four is not: 3/4 are saved.
    assert late_sender_chain.saved_by_sharing({0: 160.0}, dict.fromkeys(range(1, 5), 40.0)) == 40.0
    assert late_sender_chain.saved_by_sharing({0: 120.0}, dict.fromkeys(range(1, 4), 40.0)) == 30.0


def ahead(rounds: int = 20) -> Story:
    """Rank 0 sends every 10 ms behind 9.9 ms of work; a message takes 0.1 + 3 + 0.1 ms. Rank 1 works 6 ms on each, and
    asks for the next one 0.8 ms before it is sent. It has nothing for rank 0, which waits for nobody."""
    story = Story(2, rounds * 10 * MS + 10 * MS, windows=10)
    send, recv = story.path("main", "prepare", "MPI_Send"), story.path("main", "use", "MPI_Recv")
    for i in range(1, rounds + 1):
        sent = i * 10 * MS - 100 * US
        asked = sent - 800 * US if i > 1 else 0
        parts = {"late_sender": sent - asked, "latency": 3 * MS, "recv_overhead": 100 * US}
        story.call(0, sent, sent + 100 * US, send, send_overhead=100 * US)
        story.call(1, asked, sent + 3200 * US, recv, serialization=100 * US, **parts)
        sending, receiving = (sent, sent + 100 * US), (asked, sent + 3200 * US)
        story.message(0, 1, 8, sending, receiving, (send, recv), send_overhead=100 * US, **parts)
    story.user(0, story.path("main", "prepare"), rounds * 9900 * US)
    story.user(1, story.path("main", "use"), rounds * 6 * MS)
    return story


def test_shared_work_hides_the_ways_of_messages_that_are_not_answered() -> None:
    finding = ahead().alone(late_sender_chain.find).row(0, named=True)
    # Each works (9.9 + 6) / 2 = 7.95 ms a message: rank 0 sends every 8.05 ms, and rank 1, which takes 0.1 ms of it,
    # needs as long; only the first message's way is waited for. 20 rounds take 1.95 ms less each, of 210 ms. The mean
    # wait for late senders is 0.4 ms a round (and 4.95 ms in the first one).
    assert finding["gain"] == pytest.approx(20 * 1.95 / 210, rel=0.1)
