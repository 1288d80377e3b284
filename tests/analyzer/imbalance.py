"""Rank 0 of four computes 24 ms before each of 50 reductions, the others 14 ms: 71 % longer, 10 / 24 of the time lost.

A barrier 1 ms later makes the place between two calls of different names. The raw logs hold nanoseconds.
"""

from __future__ import annotations

from pathlib import Path

from tests.collectors import raw_logs

from logpost.collectors import assemble

RANKS, STEPS = 4, 50
MS = 1_000_000
BEGIN = 1_000 * MS
MOST, LEAST = 24 * MS, 14 * MS


def write(folder: Path, exchange: int = MS // 20) -> Path:
    """The archive's anchor file; `exchange` is how long an operation lasts once all ranks are in it."""
    logs = [raw_logs.Log(rank, RANKS, clock=raw_logs.MONOTONIC) for rank in range(RANKS)]
    for log in logs:
        log.sync(BEGIN, BEGIN, 10**18)
        log.call("MPI_Init", BEGIN, BEGIN + MS)
    now = BEGIN + 2 * MS
    for _ in range(STEPS):
        for rank, log in enumerate(logs):
            log.collective("MPI_Allreduce", now + (LEAST if rank else MOST), now + MOST + exchange)
            log.call("MPI_Comm_rank", now + MOST + exchange, now + MOST + exchange)
            log.collective("MPI_Barrier", now + MOST + exchange + MS, now + MOST + 2 * exchange + MS)
        now += MOST + 2 * exchange + MS
    for log in logs:
        log.call("MPI_Finalize", now, now + MS)
        log.sync(now + MS, now + MS, 10**18 + now + MS - BEGIN)
    raw = raw_logs.write(folder / "raw", *logs)
    return assemble.assemble(assemble.find_assembler(), raw, folder).path / "traces.otf2"
