"""Which rank waits for which in operations with a root, and in operations of which the trace lacks members."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import raw_logs
from tests.collectors.raw_logs import MONOTONIC, Log

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.report.build import build
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.phases import program
from logpost.collectors import assemble
from logpost.machines.schema.load import template_text

US, MS = 10**3, 10**6  # ns, as the logs have them
PS = 1000  # of a ns
RANKS, TIMES, STEP = 5, 100, 5 * MS


def _logs(ranks: int) -> list[Log]:
    logs = [Log(rank, ranks, boot="one clock", clock=MONOTONIC) for rank in range(ranks)]
    for log in logs:
        log.call("MPI_Init", 0, MS)
    return logs


def _archive(folder: Path, logs: list[Log], end: int) -> Path:
    for log in logs:
        log.call("MPI_Finalize", end, end + MS)
    return assemble.assemble(assemble.find_assembler(), raw_logs.write(folder / "raw", *logs), folder).path


def _run(archive: Path, folder: Path, machine: str = "") -> Run:
    file = folder / "machine.toml"
    file.write_text(machine)
    return Run.open(analyze(Request(str(archive), str(folder / "a.run"), str(file) if machine else None)))


def _waits(run: Run) -> dict[int, int]:
    """Location to what it waits in collective operations of the program; ps."""
    rows = program(run.table("exposure")).filter(pl.col("category") == "collective_wait")
    return dict(rows.group_by("location").agg(pl.col("exposed_ps").sum()).collect().iter_rows())


def _gathers(folder: Path, machine: str = "") -> Run:
    """100 steps of 5 ms: rank 1 enters a gather to rank 0 after 4 ms, the others after 1 ms. Each member's data are too
    long to leave before the root receives them, which it does in the order of the ranks: 10 us each from 4 ms on. A
    member knows 5 us later, the last one after the root has left."""
    logs = _logs(RANKS)
    for step in range(TIMES):
        begin = MS + step * STEP
        for log in logs:
            enter = begin + (4 if log.rank == 1 else 1) * MS
            leave = begin + 4 * MS + (40 * US if log.rank == 0 else (10 * log.rank + 5) * US)
            log.collective("MPI_Gather", enter, leave, (100_000, RANKS * 100_000 if log.rank == 0 else 0))
    return _run(_archive(folder, logs, MS + TIMES * STEP), folder, machine)


def test_the_root_of_a_gather_waits_and_no_time_is_after_the_last_enter_that_is_before(tmp_path: Path) -> None:
    run = _gathers(tmp_path)
    assert _waits(run) == {0: 300 * MS * PS}  # 100 x 3 ms
    found = build(run).collectives
    assert found is not None
    # Ranks 2, 3 and 4 are in it for 3 ms before rank 1 enters, and need no other by its definition.
    assert found.before_last_ps == 900 * MS * PS
    # After that the root stays 40 us, ranks 1 to 4 stay 15, 25, 35 and 45 us: 160 us each time.
    assert sum(found.parts_ps.values()) - found.before_last_ps == 16 * MS * PS


@pytest.mark.parametrize("machine", ["", template_text()], ids=["estimated", "template"])
def test_a_finding_names_the_late_member_of_gathers(machine: str, tmp_path: Path) -> None:
    run = _gathers(tmp_path, machine)
    found = run.table("findings").sort("gain", descending=True).collect().to_dicts()
    assert found[0]["kind"] in ("collective_wait", "load_imbalance")
    assert {one["value"] for one in found[0]["evidence"] if one["name"] in ("last_rank", "slowest_rank")} == {1.0}
    # As fast as the others, rank 1 saves 3 ms of each 5 ms; 2.4 ms if its excess is shared by five.
    assert 0.4 < found[0]["gain"] <= 0.6
    # 16 ms of 500 ms on five ranks are no cost of the operation that is worth a finding.
    assert "collective_cost" not in {row["kind"] for row in found}


def test_members_of_a_scatter_wait_for_its_root_alone(tmp_path: Path) -> None:
    logs = _logs(3)
    for step in range(TIMES):
        begin = MS + step * STEP
        # The root enters after 3 ms, rank 1 after 4 ms, rank 2 after 1 ms: it waits for 2 ms, and no rank for rank 1.
        for log, enter, leave in zip(logs, (3 * MS, 4 * MS, MS), (3020 * US, 4010 * US, 3030 * US), strict=True):
            log.collective("MPI_Scatter", begin + enter, begin + leave, (24 if log.rank == 0 else 0, 8))
    assert _waits(_run(_archive(tmp_path, logs, MS + TIMES * STEP), tmp_path)) == {2: 200 * MS * PS}


def test_members_wait_for_those_that_the_trace_has(tmp_path: Path) -> None:
    # Barriers of three: rank 0 enters after 1 ms, rank 1 after 3 ms, rank 2, whose event file is lost, after 4 ms.
    logs = _logs(3)
    for step in range(TIMES):
        begin = MS + step * STEP
        for log, enter in zip(logs, (1, 3, 4), strict=True):
            log.collective("MPI_Barrier", begin + enter * MS, begin + 4 * MS + 10 * US, (0, 0))
    archive = _archive(tmp_path, logs, MS + TIMES * STEP)
    folder = archive if archive.is_dir() else archive.parent
    (lost,) = [file for file in sorted(folder.glob("**/*.evt")) if file.stem == "2"]
    lost.unlink()
    run = _run(archive, tmp_path)
    assert _waits(run) == {0: 200 * MS * PS}  # 2 ms each, at least
    counts = {one.name: one.count for one in run.manifest.quality if one.count}
    assert counts["collective_lacks_members"] == TIMES + 2  # and those of MPI_Init and MPI_Finalize
    assert "collective_incomplete" not in counts
    assert "at least" in build(run).conclusion
