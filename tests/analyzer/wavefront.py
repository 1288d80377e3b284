"""A message that runs through four ranks, each of which computes before it sends it on."""

from __future__ import annotations

from tests.analyzer.story import MS, US, Story


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
