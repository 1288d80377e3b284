"""Receives in the order of ranks, while another message has arrived."""

from __future__ import annotations

import pytest
from tests.analyzer.story import MS, US, Story

from logpost.analyzer.findings.cures import receive_order
from logpost.analyzer.findings.cures.program import Program

STEPS, STEP = 10, 20 * MS


def in_order_of_ranks(*, probes: bool) -> Story:
    """Rank 0 takes the message that rank 1 sends after 8 ms and works 4 ms, then the one that rank 2 sends after 1 ms
    and works 4 ms; then all meet in a barrier."""
    story = Story(3, STEPS * STEP, windows=STEPS)
    send, recv = story.path("main", "MPI_Send"), story.path("main", "MPI_Recv")
    probe, barrier = story.path("main", "MPI_Probe"), story.path("main", "MPI_Barrier")
    for i in range(STEPS):
        t = i * STEP
        slow, fast = t + 8 * MS, t + MS
        for rank, at, taken in ((1, slow, t), (2, fast, t + 12 * MS)):
            story.call(rank, at, at, send)
            there = max(at, taken)
            late = there - taken
            if probes:
                story.call(0, taken, there, probe, late_sender=late)
            begin = there if probes else taken
            story.call(0, begin, there + US, recv, late_sender=there - begin, recv_overhead=US)
            ends = (at, at), (begin, there + US)
            queued = begin - min(begin, at)
            paths = send, recv
            late = there - begin
            story.message(rank, 0, 8, *ends, paths, late_sender=late, processor_queueing=queued, recv_overhead=US)
        enters = {0: t + 16 * MS, 1: slow, 2: fast}
        story.collective(barrier, "Barrier", {rank: (enter, t + 16 * MS + US) for rank, enter in enters.items()})
    return story


@pytest.mark.parametrize("probes", [False, True])
def test_a_message_that_has_arrived_is_worked_on_while_another_one_is_awaited(probes: bool) -> None:
    (row,) = in_order_of_ranks(probes=probes).alone(receive_order.find).iter_rows(named=True)
    assert row["region"] == "MPI_Recv"
    # From 1 ms on rank 0 works on the message of rank 2; with that of rank 1 it is done 12 ms after the step's begin,
    # and not after 16, of 20.
    assert row["gain"] == pytest.approx(4 / 20, abs=0.005)


def test_the_order_needs_no_machine() -> None:
    with in_order_of_ranks(probes=False).as_run() as run:
        program = Program(run, as_measured=True).build()
        (proposal,) = receive_order.propose(program)
        assert program.gain(proposal.change) == pytest.approx(4 / 20, abs=0.005)
