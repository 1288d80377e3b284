"""A sender that waits for a receive to be posted is no late sender: the receiver is blamed, with the call and the
cause."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analyzer.story import MS, Story, evidence_of
from tests.said import facts

from logpost.analyzer.findings.cures import late_receiver
from logpost.analyzer.findings.finding import HIGH

ROUND = 10 * MS
ROUNDS = 10


def late_posts(*, waits_itself: bool = False) -> Story:
    """Rank 0 sends to rank 1, which posts its receive 4 ms later; then rank 0 works and rank 1 waits for it.

    A round of 10 ms:
        rank 0  MPI_Ssend 0 .. 5 ms: 4 late receiver, 1 serialization; computes 5 .. 9; MPI_Barrier 9 .. 10 ms
        rank 1  computes 0 .. 4 (`waits_itself`: in MPI_Wait, of it 3 ms late receiver); MPI_Recv 4 .. 5 ms;
                MPI_Barrier 5 .. 10 ms: waits 4 ms
    """
    story = Story(2, ROUNDS * ROUND, windows=ROUNDS)
    story.loggp |= {"G": 0.001}
    ssend = story.site(story.path("main", "push", "MPI_Ssend"), "/src/push.c", 12)
    recv = story.site(story.path("main", "pull", "MPI_Recv"), "/src/pull.c", 40)
    wait, barrier = story.path("main", "MPI_Wait"), story.path("main", "MPI_Barrier")
    parts = {"late_receiver": 4 * MS, "serialization": MS}
    for i in range(ROUNDS):
        t = i * ROUND
        story.call(0, t, t + 5 * MS, ssend, **parts)
        if waits_itself:
            story.call(1, t, t + 3 * MS, wait, endpoint_contention=3 * MS)
        story.call(1, t + 4 * MS, t + 5 * MS, recv, serialization=MS)
        story.message(
            0, 1, 10**6, (t, t + 5 * MS), (t + 4 * MS, t + 5 * MS), (ssend, recv), complete=t + 5 * MS, **parts
        )
        story.collective(barrier, "Barrier", {0: (t + 9 * MS, t + 10 * MS), 1: (t + 5 * MS, t + 10 * MS)})
    for rank, own in enumerate(((0, 40), (40, 0))):
        story.user(rank, story.path("main", "pull"), own[0] * MS)
        story.user(rank, story.path("main", "push"), own[1] * MS)
    return story


def test_the_receiver_its_call_and_what_delays_it_are_named(tmp_path: Path) -> None:
    finding = late_posts().alone(late_receiver.find).row(0, named=True)
    assert facts(finding["title"]) == ["0", "MPI_Ssend", "push.c:12", "1", "MPI_Recv", "pull.c:40"]
    assert finding["title"].endswith("delayed in pull")
    assert (finding["ranks"], finding["region"], finding["cause_region"]) == ([0, 1], "MPI_Ssend", "pull")
    # 4 of 10 ms in each of ten rounds.
    assert finding["share"] == pytest.approx(0.4)
    assert finding["gain"] == pytest.approx(0.4)
    assert "late rank: 1; posted (MPI_Recv at pull.c:40): 100.0 %; computing (pull): 100.0 %" in evidence_of(finding)
    assert finding["advice"].startswith("Post the receive earlier (MPI_Irecv")
    assert finding["confidence"] == HIGH


def test_a_receiver_that_waits_itself_passes_the_waiting_on(tmp_path: Path) -> None:
    finding = late_posts(waits_itself=True).alone(late_receiver.find).row(0, named=True)
    assert finding["title"].endswith("delayed by waiting in MPI_Wait")
    assert finding["advice"].startswith("Remove the waiting of these receivers first")


def test_a_receiver_that_takes_others_first_posts_several_receives(tmp_path: Path) -> None:
    """Rank 2 waits for rank 0 until 3 ms, and posts for rank 1 at 4 ms, which waits in its send from 0 to 5 ms and
    computes until 10 ms; then all meet. With both receives posted at 0 its send ends at 1 ms."""
    story = Story(3, ROUNDS * ROUND, windows=ROUNDS)
    story.loggp |= {"G": 0.001}
    send, ssend, recv = (story.path("main", name) for name in ("MPI_Send", "MPI_Ssend", "MPI_Recv"))
    barrier = story.path("main", "MPI_Barrier")
    for i in range(ROUNDS):
        t = i * ROUND
        story.call(0, t + 3 * MS, t + 3 * MS, send)
        story.call(1, t, t + 5 * MS, ssend, late_receiver=4 * MS, serialization=MS)
        story.call(2, t, t + 3 * MS, recv, late_sender=3 * MS)
        story.call(2, t + 4 * MS, t + 5 * MS, recv, serialization=MS)
        first, second = t + 3 * MS, t + 5 * MS
        story.message(0, 2, 8, (first, first), (t, first), (send, recv), late_sender=3 * MS)
        parts = {"late_receiver": 4 * MS, "serialization": MS}
        story.message(1, 2, 10**6, (t, second), (t + 4 * MS, second), (ssend, recv), complete=second, **parts)
        enters = {0: first, 1: t + ROUND, 2: second}
        story.collective(barrier, "Barrier", {rank: (enter, t + ROUND) for rank, enter in enters.items()})
    finding = story.alone(late_receiver.find).row(0, named=True)
    assert finding["title"].endswith("the receive (MPI_Recv), taking other messages first")
    assert finding["gain"] == pytest.approx(0.4, abs=0.01)
    assert finding["advice"].startswith("Post several receives at once")


def test_work_that_its_sender_does_as_well_stays_before_the_post(tmp_path: Path) -> None:
    """Both work 3 ms in each round; then rank 0 sends, and rank 1 works 4 ms more before it receives.

    A round of 12 ms:
        rank 0  computes 0 .. 3, MPI_Ssend 3 .. 8: 4 late receiver; computes 8 .. 12
        rank 1  computes 0 .. 7, MPI_Recv 7 .. 8; MPI_Barrier 8 .. 12
        both    MPI_Barrier until 12
    With 4 of rank 1's 7 ms behind its receive, both have done their work at 8: 4 of 12 ms are saved in each round. With
    all 7 of them behind it, rank 1 would wait 3 ms for its message, and the barrier would be 3 ms later.
    """
    story = Story(2, ROUNDS * 12 * MS, windows=ROUNDS)
    story.loggp |= {"G": 0.001}
    ssend, recv, barrier = story.path("MPI_Ssend"), story.path("MPI_Recv"), story.path("MPI_Barrier")
    parts = {"late_receiver": 4 * MS, "serialization": MS}
    for i in range(ROUNDS):
        t = i * 12 * MS
        end = t + 8 * MS
        story.call(0, t + 3 * MS, end, ssend, **parts)
        story.call(1, t + 7 * MS, end, recv, serialization=MS)
        story.message(0, 1, 10**6, (t + 3 * MS, end), (t + 7 * MS, end), (ssend, recv), complete=end, **parts)
        story.collective(barrier, "Barrier", {0: (t + 12 * MS, t + 12 * MS), 1: (end, t + 12 * MS)})
    finding = story.alone(late_receiver.find).row(0, named=True)
    # Of the first round as well: all that is waited for is moved.
    assert finding["gain"] == pytest.approx(4 / 12, abs=0.001)


def test_receives_posted_in_time_are_no_finding(tmp_path: Path) -> None:
    story = Story(2, 100 * MS)
    story.loggp |= {"G": 0.001}
    send, recv = story.path("MPI_Ssend"), story.path("MPI_Recv")
    for i in range(10):
        t = i * 10 * MS
        story.call(0, t, t + MS, send, serialization=MS)
        story.call(1, t, t + MS, recv, serialization=MS)
        story.message(0, 1, 10**6, (t, t + MS), (t, t + MS), (send, recv), complete=t + MS, serialization=MS)
    assert story.alone(late_receiver.find).is_empty()


@pytest.mark.parametrize("eager", [False, True])
def test_a_wait_that_another_one_would_replace_gains_nothing(eager: bool, tmp_path: Path) -> None:
    """One rank after the other is in its send for 4 ms until the other has left its long MPI_Isend, and then waits at a
    barrier for the same rank, which computes: without the first wait, the second is as much longer. So it is where the
    protocol is taken for eager, but the account says that the send's call waits."""
    story = Story(2, ROUNDS * ROUND, windows=ROUNDS)
    story.loggp |= {"G": 0.001}
    send, other, recv = story.path("MPI_Send"), story.path("MPI_Isend"), story.path("MPI_Recv")
    barrier = story.path("MPI_Barrier")
    parts = {"late_receiver": 4 * MS, "serialization": MS}
    for i in range(ROUNDS):
        t, held, late = i * ROUND, i % 2, 1 - i % 2
        story.call(held, t, t + 5 * MS, send, **parts)
        story.call(late, t, t + 4 * MS, other, send_overhead=4 * MS)
        story.call(late, t + 4 * MS, t + 5 * MS, recv, serialization=MS)
        story.message(
            held,
            late,
            10**4,
            (t, t + 5 * MS),
            (t + 4 * MS, t + 5 * MS),
            (send, recv),
            complete=None if eager else t + 5 * MS,
            late_receiver=4 * MS,
            serialization=MS,
        )
        story.collective(barrier, "Barrier", {held: (t + 5 * MS, t + 10 * MS), late: (t + 9 * MS, t + 10 * MS)})
    assert story.alone(late_receiver.find).is_empty()
