"""Start-up skew: ranks wait for one that is still in MPI_Init, and the program is not to blame."""

from __future__ import annotations

import polars as pl
import pytest
from tests.analyzer.story import MS, Story, evidence_of
from tests.said import facts

from logpost.analyzer.findings.cures import start_up_skew
from logpost.analyzer.findings.evidence.tables import Evidence


def launch(*, late: int, init: int = 10) -> Story:
    """Ranks 0 and 1 leave MPI_Init at 10 ms, rank 2 at `late` ms. Both wait for its message.

    Rank 2 computes 5 ms behind its start-up and then sends to both, in 1 ms.
    """
    story = Story(3, 100 * MS)
    send, recv = (story.path("main", name) for name in ("MPI_Send", "MPI_Recv"))
    for rank, end in enumerate((init, init, late)):
        story.start_up(rank, end * MS)
    sent = (late + 5) * MS
    for rank in (0, 1):
        begin, s0 = init * MS, sent + rank * MS
        story.call(2, s0, s0 + MS, send, send_overhead=MS)
        story.call(rank, begin, s0 + MS, recv, late_sender=s0 - begin, send_overhead=MS)
        story.message(
            2, rank, 8, (s0, s0 + MS), (begin, s0 + MS), (send, recv), late_sender=s0 - begin, send_overhead=MS
        )
    return story


def test_waiting_for_a_rank_in_start_up_is_named_as_that() -> None:
    finding = launch(late=50).alone(start_up_skew.find).row(0, named=True)
    assert facts(finding["title"]) == ["0-1", "MPI_Recv", "2", "MPI_Init", "40.0 ms"]
    # From 10 to 50 ms on two ranks; the 5 ms that rank 2 computes afterwards are the program's.
    assert finding["exposed_ps"] == 80 * MS
    # Of 90 ms of program 50 are left; rank 2 has 50 anyway.
    assert finding["gain"] == pytest.approx(40 / 90)
    assert finding["confidence"] == 0.9
    assert "start up ends apart: 40.0 ms" in evidence_of(finding)
    assert finding["advice"].startswith("Look at the start of the job")


def test_what_the_late_rank_computes_in_the_program_is_another_loss() -> None:
    gains = [(row["kind"], row["gain"]) for row in launch(late=50).findings().iter_rows(named=True)]
    # The 5 ms of rank 2 before it sends, of which the others could take two thirds.
    assert gains == [("start_up_skew", pytest.approx(40 / 90)), ("late_sender_chain", pytest.approx(10 / 3 / 90))]


def test_ranks_that_start_together_are_no_finding() -> None:
    assert launch(late=10).alone(start_up_skew.find).is_empty()


def test_a_late_start_that_no_rank_waits_for_is_no_finding() -> None:
    story = Story(2, 100 * MS)
    story.start_up(0, 10 * MS)
    story.start_up(1, 50 * MS)
    assert story.alone(start_up_skew.find).is_empty()


def test_members_of_a_broadcast_wait_for_its_root_not_for_the_last_one() -> None:
    # The root leaves MPI_Init at 50 ms and begins the broadcast at once; rank 1 waits for it from 10 ms on. Rank 2
    # begins it at 70 ms, after 60 ms of work: no rank waits for that.
    story = Story(3, 100 * MS)
    for rank, end in enumerate((50, 10, 10)):
        story.start_up(rank, end * MS)
    story.shut_down(2, 71 * MS)
    members = {0: (50 * MS, 51 * MS), 1: (10 * MS, 51 * MS), 2: (70 * MS, 71 * MS)}
    story.collective(story.path("main", "MPI_Bcast"), "Bcast", members, root=0)
    finding = story.alone(start_up_skew.find).row(0, named=True)
    assert finding["exposed_ps"] == 40 * MS  # 10 .. 50 ms on rank 1
    assert [one["value"] for one in finding["evidence"] if one["name"] == "late_rank"] == [0]


def test_a_thread_leaves_start_up_with_its_process() -> None:
    """Ranks 0 and 1 leave MPI_Init at 10 ms and end at 60 ms; locations 2 and 3 are their second threads. That of rank
    1 makes its first call at 50 ms and sends at 55 ms; that of rank 0 waits for it from 10 ms on."""
    story = Story(4, 100 * MS)
    for rank in (0, 1):
        story.start_up(rank, 10 * MS)
        story.shut_down(rank, 60 * MS)
    send, recv = (story.path("main", name) for name in ("MPI_Send", "MPI_Recv"))
    story.program |= {2: (10 * MS, 100 * MS), 3: (50 * MS, 100 * MS)}
    story.call(3, 55 * MS, 56 * MS, send, send_overhead=MS)
    story.call(2, 10 * MS, 56 * MS, recv, late_sender=45 * MS, send_overhead=MS)
    sent, received = (55 * MS, 56 * MS), (10 * MS, 56 * MS)
    story.message(3, 2, 8, sent, received, (send, recv), late_sender=45 * MS, send_overhead=MS)
    is_thread = pl.col("location") >= 2
    with story.as_run() as run:
        tables = story.tables()
        tables["locations"] = tables["locations"].with_columns(
            rank=pl.when(is_thread).then(-1).otherwise("rank").cast(pl.Int32),
            process=pl.when(is_thread).then(pl.col("process") - 2).otherwise("process").cast(pl.Int32),
        )
        assert list(start_up_skew.find(Evidence(tables, story.manifest(), run=run))) == []
