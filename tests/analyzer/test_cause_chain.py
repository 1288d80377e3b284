"""Why a message waited: for a rank that waited for another one, which computed; for a late receiver; in a barrier."""

from __future__ import annotations

from pathlib import Path

from tests.analyzer.story import Story

from logpost.analyzer.cause_chain import Cause, causes_of
from logpost.analyzer.run import Run


def _run(story: Story, path: Path) -> Run:
    for number, row in enumerate(story.rows["messages"]):
        row["recv_number"] = number  # no two receivers have one here
    return story.write(path)


def test_a_chain_ends_where_a_rank_computed(tmp_path: Path) -> None:
    story = Story(3, 1000)
    send, recv = story.path("main", "MPI_Send"), story.path("main", "MPI_Recv")
    # Rank 2 computes until 600. Rank 1 receives from it from 100 on, works from 650 to 700 and sends to rank 0, which
    # waits from 50 on: 650, of which rank 1 is in its receive for 550.
    story.call(2, 600, 610, send, send_overhead=10)
    story.call(1, 100, 650, recv, late_sender=500, latency=50)
    story.call(1, 700, 710, send, send_overhead=10)
    story.call(0, 50, 760, recv, late_sender=650, latency=60)
    story.message(1, 0, 8, (700, 710), (50, 760), (send, recv), late_sender=650, latency=60)
    story.message(2, 1, 8, (600, 610), (100, 650), (send, recv), late_sender=500, latency=50)
    assert causes_of(_run(story, tmp_path / "a.run"), 0, 0) == [
        Cause(1, 650, 550, recv, computes=False, message=(1, 1)),
        Cause(2, 500, 500, send, computes=True),
    ]


def test_a_rendezvous_waits_for_what_its_receiver_does(tmp_path: Path) -> None:
    story = Story(2, 1000)
    send, recv = story.path("main", "MPI_Send"), story.path("main", "MPI_Recv")
    story.call(0, 10, 400, send, late_receiver=290, latency=100)
    story.call(1, 300, 420, recv, latency=120)
    story.message(
        0, 1, 1 << 20, (10, 400), (300, 420), (send, recv), complete=400, late_receiver=290, latency=120
    )  # fmt: skip
    assert causes_of(_run(story, tmp_path / "a.run"), 1, 0) == [Cause(1, 290, 290, recv, computes=True)]


def test_a_wait_for_all_ends_the_chain_and_a_message_in_time_has_none(tmp_path: Path) -> None:
    story = Story(2, 1000)
    send, recv = story.path("main", "MPI_Send"), story.path("main", "MPI_Recv")
    barrier = story.path("main", "MPI_Barrier")
    # Rank 1 is in a barrier from 100 to 500, in which it waits for somebody until 480.
    story.call(1, 100, 500, barrier, collective_wait=380, collective=20)
    story.call(1, 520, 530, send, send_overhead=10)
    story.call(0, 50, 560, recv, late_sender=470, latency=40)
    story.message(1, 0, 8, (520, 530), (50, 560), (send, recv), late_sender=470, latency=40)
    story.call(0, 600, 610, send, send_overhead=10)
    story.call(1, 640, 650, recv, recv_overhead=10)
    story.message(0, 1, 8, (600, 610), (640, 650), (send, recv), send_overhead=10, latency=30, recv_overhead=10)
    run = _run(story, tmp_path / "a.run")
    assert causes_of(run, 0, 0) == [Cause(1, 470, 400, barrier, computes=False, in_collective=True)]
    assert causes_of(run, 1, 1) == []
    assert causes_of(run, 1, 7) == []
