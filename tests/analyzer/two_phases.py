"""The run that report and compare are tested with: two ranks, one late, 100 ms."""

from __future__ import annotations

from tests.analyzer.story import MS, Story


def two_phases(late: int = 20) -> Story:
    """Rank 0 computes `late` ms longer in `solve` than rank 1, which waits for its message, ten times; then a barrier.

    One of ten rounds: rank 1 enters MPI_Recv at 0; rank 0 enters MPI_Send after `late` / 10 ms and is in it for 1 ms;
    rank 1 leaves 1 ms after the send's enter (late sender, 0.2 ms latency, 0.6 ms serialization, 0.2 ms receive
    overhead).
    """
    story = Story(2, 100 * MS, windows=10)
    story.communicator(0, 1)
    send, recv = story.path("main", "solve", "MPI_Send"), story.path("main", "solve", "MPI_Recv")
    barrier = story.path("main", "MPI_Barrier")
    solve = story.path("main", "solve")
    for i in range(10):
        at, delay = 9 * i * MS, late * MS // 10
        begin = at + delay
        story.call(0, begin, begin + MS, send, send_overhead=MS)
        wait = {"late_sender": delay} if delay else {}
        inside = {"latency": MS // 5, "serialization": 3 * MS // 5, "recv_overhead": MS // 5}
        story.call(1, at, begin + MS, recv, **wait, **inside)
        story.message(
            0, 1, 2048, (begin, begin + MS), (at, begin + MS), (send, recv), service=3 * MS // 5, **wait, **inside
        )
    story.collective(barrier, "Barrier", {0: (92 * MS, 95 * MS), 1: (90 * MS, 95 * MS)})
    # Each user region's own time: the rank's compute time, of which rank 0 has 100 - 10 - 3 = 87 ms and rank 1
    # 100 - (late + 10) - 5 = 85 - late ms.
    story.user(0, solve, 80 * MS)
    story.user(0, story.path("main"), 7 * MS)
    story.user(1, solve, (80 - late) * MS)
    story.user(1, story.path("main"), 5 * MS)
    if late:
        story.wait_state(1, "late_sender", late * MS, 10)
    story.wait_state(1, "wait_at_barrier", 2 * MS, 1)
    return story
