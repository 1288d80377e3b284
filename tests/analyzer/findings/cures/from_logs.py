"""Programs written in code as raw logs: their archive is analyzed on a machine with round values. Times in ns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.analyzer.in_process import analyze
from tests.collectors import raw_logs
from tests.collectors.raw_logs import MONOTONIC, Log
from tests.machines.builders import stated

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run
from logpost.collectors import assemble

US, MS = 10**3, 10**6
PS = 1000  # of a ns
ROUNDS = 20
MACHINE = stated(
    "round",
    ("us", "us/B", "B"),
    """
[loggp.same_node]
eager_limit = 1000000
L = 8.0
o_s = 1.0
o_r = 1.0
g = 1.0
G = 0.001
""",
)

Found = dict[str, Any]


def started(ranks: int, nodes: int = 1) -> list[Log]:
    hosts = [f"node{rank * nodes // ranks}" for rank in range(ranks)]
    logs = [Log(rank, ranks, host, "one clock", MONOTONIC) for rank, host in enumerate(hosts)]
    for log in logs:
        log.call("MPI_Init", 0, MS)
    return logs


def rounds() -> Iterator[int]:
    """Begins of 1 ms each; the program is nothing else."""
    return iter(range(MS, (ROUNDS + 1) * MS, MS))


def findings(logs: list[Log], folder: Path, machine: str = MACHINE) -> list[Found]:
    """Of the run, the largest gain first."""
    end = (ROUNDS + 1) * MS
    for log in logs:
        log.call("MPI_Finalize", end, end + MS)
    archive = assemble.assemble(assemble.find_assembler(), raw_logs.write(folder / "raw", *logs), folder).path
    file = folder / "machine.toml"
    file.write_text(machine)
    run = Run.open(analyze(Request(str(archive), str(folder / "a.run"), str(file) if machine else None)))
    return list(run.table("findings").collect().to_dicts())


def numbers(finding: Found) -> dict[str, float]:
    return {one["name"]: one["value"] for one in finding["evidence"]}
