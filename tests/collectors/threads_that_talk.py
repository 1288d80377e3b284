"""Two ranks of two threads that communicate, as raw logs: what the archive of MPI_THREAD_MULTIPLE looks like.

Each thread computes, then exchanges messages with the same thread of the other rank: those of thread 1 have tag 1.
"""

from __future__ import annotations

from pathlib import Path

from logpost.collectors import assemble

from .raw_logs import RECV, SEND, TSC, Log, write

MS = 1_000_000
"""Ticks: the clock counts ns."""
ROUNDS = 20


def archive(folder: Path, compute_ms: dict[tuple[int, int], int]) -> Path:
    """An archive of `ROUNDS` rounds: a rank computes, rank 0 sends, rank 1 receives and sends back. Then the ranks'
    threads 0 are in a barrier until all threads have ended.

    Arguments:
        folder: where to make it.
        compute_ms: by (rank, thread): what it computes in each round before its first call of it.
    """
    logs = []
    for rank in (0, 1):
        for thread in (0, 1):
            log = Log(rank, 2, clock=TSC, thread=thread)
            if thread == 0:
                log.sync(0, 0, 1_000_000_000_000)
                log.sync(10**10, 10**10, 1_010_000_000_000)
                log.call("MPI_Init", 0, MS)
            logs.append(log)
    by_thread = {(log.rank, log.thread): log for log in logs}
    ended: dict[tuple[int, int], int] = {}
    for thread in (0, 1):
        zero, one = (by_thread[rank, thread] for rank in (0, 1))
        at = [2 * MS, 2 * MS]
        for _ in range(ROUNDS):
            entered = [time + compute_ms[rank, thread] * MS for rank, time in enumerate(at)]
            # A message lasts 10 us from when both are there.
            there = max(entered) + 10_000
            zero.message(SEND, entered[0], entered[0] + 5_000, 1, thread, 64)
            one.message(RECV, entered[1], there, 0, thread, 64)
            one.message(SEND, there + 1_000, there + 6_000, 0, thread, 64)
            zero.message(RECV, entered[0] + 6_000, there + 16_000, 1, thread, 64)
            at = [there + 16_000, there + 6_000]
        ended |= {(rank, thread): time for rank, time in enumerate(at)}
    last = max(ended.values()) + MS
    for rank in (0, 1):
        by_thread[rank, 0].collective("MPI_Barrier", ended[rank, 0] + 1_000, last)
        by_thread[rank, 0].call("MPI_Finalize", last + MS, last + 2 * MS)
    made = assemble.assemble(assemble.find_assembler(), write(folder / "raw", *logs), folder)
    assert made.warnings == []
    return made.path
