"""Threads of ranks whose first threads only switch recording off and on: what is not recorded is no start-up."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from tests.analyzer.in_process import analyze
from tests.collectors import raw_logs

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run
from logpost.collectors import assemble

MS = 1_000_000
"""Ticks: the clock counts ns."""
PS = 1000
ROUNDS = 10
LAST = 2 + 10 * ROUNDS


def switched(folder: Path) -> Run:
    """Two ranks of two threads; MPI_Init lasts until 1 ms. Round k begins at T = 2 + 10 k ms: thread 1 of rank 0 is in
    MPI_Recv from T to T + 3 ms, when thread 1 of rank 1 sends. Both ranks are off from T + 5 to T + 9 ms. From 102 ms
    on, the first threads are in MPI_Barrier and MPI_Finalize."""
    logs = {(rank, thread): raw_logs.Log(rank, 2, thread=thread) for rank in (0, 1) for thread in (0, 1)}
    for rank in (0, 1):
        logs[rank, 0].sync(0, 0, 10**18)
        logs[rank, 0].sync(1000 * MS, 1000 * MS, 10**18 + 1000 * MS)
        logs[rank, 0].call("MPI_Init", 0, MS)
    for begin in range(2 * MS, LAST * MS, 10 * MS):
        sent = begin + 3 * MS
        logs[0, 1].message(raw_logs.RECV, begin, sent + 20_000, 1, 0, 64)
        logs[1, 1].message(raw_logs.SEND, sent, sent + 10_000, 0, 0, 64)
        for log in logs.values():
            log.off(begin + 5 * MS, begin + 9 * MS)
    for rank in (0, 1):
        logs[rank, 0].collective("MPI_Barrier", LAST * MS, LAST * MS + 10_000)
        logs[rank, 0].call("MPI_Finalize", (LAST + 1) * MS, (LAST + 2) * MS)
    made = assemble.assemble(assemble.find_assembler(), raw_logs.write(folder / "raw", *logs.values()), folder)
    assert made.warnings == []
    return Run.open(analyze(Request(str(made.path / "traces.otf2"), str(folder / "run"))))


def test_the_program_is_all_that_was_recorded_behind_start_up(tmp_path: Path) -> None:
    run = switched(tmp_path)
    rows = run.table("accounting").filter(pl.col("phase").cast(pl.String) == "program").collect()
    locations = run.table("locations").select("location", "rank", "process").collect()
    assert sorted(locations["rank"]) == [-1, -1, 0, 1]
    waiting = pl.col("category").cast(pl.String) == "late_sender"
    ms = {}
    for location, rank, process in locations.iter_rows():
        own = rows.filter(pl.col("location") == location)
        ms[process, rank < 0] = (
            own["exposed_ps"].sum() / (MS * PS),
            own.filter(waiting)["exposed_ps"].sum() / (MS * PS),
        )
    # The first threads: from 1 ms to 103 ms without ten times 4 ms. The others: from their first call at 2 or 5 ms to
    # 101 ms without the same; that of rank 0 waits ten times 3 ms.
    assert ms == {(0, False): (62, 0), (1, False): (62, 0), (0, True): (59, 30), (1, True): (56, 0)}
