"""Why a message waited: for a rank that waited for another one, which computed; for a late receiver; in a barrier."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from tests.analyzer.story import Story

from logpost.analyzer.explain.cause_chain import CallCauses, Cause, causes_of, causes_of_call
from logpost.analyzer.run.directory import Run
from logpost.analyzer.words.location_names import Location


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
        Cause(Location(1), 650, 550, recv, computes=False, message=(1, 0)),
        Cause(Location(2), 500, 500, send, computes=True),
    ]


def test_a_rendezvous_waits_for_what_its_receiver_does(tmp_path: Path) -> None:
    story = Story(2, 1000)
    send, recv = story.path("main", "MPI_Send"), story.path("main", "MPI_Recv")
    story.call(0, 10, 400, send, late_receiver=290, latency=100)
    story.call(1, 300, 420, recv, latency=120)
    story.message(
        0, 1, 1 << 20, (10, 400), (300, 420), (send, recv), complete=400, late_receiver=290, latency=120
    )  # fmt: skip
    assert causes_of(_run(story, tmp_path / "a.run"), 1, 0) == [Cause(Location(1), 290, 290, recv, computes=True)]


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
    assert causes_of(run, 0, 0) == [Cause(Location(1), 470, 400, barrier, computes=False, in_collective=True)]
    assert causes_of(run, 1, 1) == []
    assert causes_of(run, 1, 7) == []


def _number(run: Run, location: int, enter: int) -> int:
    rows = run.facts("calls").filter(pl.col("location") == location, pl.col("enter_ps") == enter).select("call")
    return int(rows.collect().item())


def test_a_call_waits_for_its_message_and_what_is_behind_it(tmp_path: Path) -> None:
    story = Story(2, 1000)
    send, recv = story.path("main", "MPI_Send"), story.path("main", "MPI_Recv")
    # Rank 1 computes until 400; rank 0 is in its receive from 50 on.
    story.call(1, 400, 410, send, send_overhead=10)
    story.call(0, 50, 460, recv, late_sender=350, latency=60)
    story.message(1, 0, 8, (400, 410), (50, 460), (send, recv), late_sender=350, latency=60)
    run = _run(story, tmp_path / "a.run")
    assert causes_of_call(run, _number(run, 0, 50)) == CallCauses(
        (0, 0), 350, [Cause(Location(1), 350, 350, send, computes=True)]
    )
    assert causes_of_call(run, _number(run, 1, 400)) is None
    assert causes_of_call(run, 999) is None


def test_a_call_in_a_collective_operation_waits_for_its_last_member(tmp_path: Path) -> None:
    story = Story(3, 1000)
    send, recv, reduce = (story.path("main", name) for name in ("MPI_Send", "MPI_Recv", "MPI_Allreduce"))
    # Rank 0 waits in the allreduce from 100 on; rank 2 enters last, at 700, for it received until 650 from rank 1,
    # which computed until 600.
    story.call(1, 600, 610, send, send_overhead=10)
    story.call(2, 50, 650, recv, late_sender=550, latency=50)
    story.message(1, 2, 8, (600, 610), (50, 650), (send, recv), late_sender=550, latency=50)
    story.collective(reduce, "Allreduce", {0: (100, 720), 1: (620, 720), 2: (700, 720)})
    run = _run(story, tmp_path / "a.run")
    assert causes_of_call(run, _number(run, 0, 100)) == CallCauses(
        None,
        600,
        # From 100 to 700 rank 2 is in its receive for 550.
        [
            Cause(Location(2), 600, 550, recv, computes=False, message=(2, 0)),
            Cause(Location(1), 550, 550, send, computes=True),
        ],
    )
    assert causes_of_call(run, _number(run, 2, 700)) is None


def test_an_eager_send_does_not_wait_for_its_receiver(tmp_path: Path) -> None:
    story = Story(2, 1000)
    send, recv = story.path("main", "MPI_Send"), story.path("main", "MPI_Recv")
    # Sent at 20, it waits at the other end until it is received at 500.
    story.call(0, 10, 20, send, send_overhead=10)
    story.call(1, 500, 510, recv, recv_overhead=10)
    story.message(
        0, 1, 8, (10, 20), (500, 510), (send, recv), send_overhead=10, latency=30, late_receiver=450, recv_overhead=10
    )
    run = _run(story, tmp_path / "a.run")
    assert causes_of_call(run, _number(run, 0, 10)) is None
