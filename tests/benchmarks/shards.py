"""What it costs to read an archive as blocks, and what a worker then needs.

Archives are generated halo exchanges of `halo_archive.c`: in two of them the neighbours of a rank are mostly in its own
block, in one in others. Processor times are those of a worker that takes all
tasks, with the processes of the tasks and the start of Python, as the system has them (wait4): the smallest of rounds
that alternate between the numbers of blocks. Below them is the whole analysis with `--shards`, over that without.

Memory of a task is the peak resident memory of a process that runs it alone, beyond that of one whose files are whole
already (the interpreter and the libraries; those of tables where it is one that writes them). libotf2 takes 3 MB of it
whatever the block, so the bar holds where one shard takes 100 MB or more.

Bytes that cross: the files `crossing-*`, `matched-*`, `left*` and `replied*` over the messages between blocks. A
crossing is eight numbers, each of which ends with a byte below 0x80, so the file itself shows how many there are. Of
collective operations: `members-*` and `operated-*`, over their members, one in each step of a rank.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.reader import program, verdict

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.shards.plan import OF_ALL, STAGES, Plan, make_plan
from logpost.analyzer.pipeline.shards.task_folder import TaskFolder
from logpost.analyzer.pipeline.shards.workers import local_command

ARCHIVES = ((4_000_000, 1), (20_000_000, 1), (20_000_000, 100))
"""Events, and how many ranks away neighbours are."""
LOCATIONS = 256
BLOCKS = (1, 2, 4, 7, 14)
MEASURED = 7
"""Blocks whose processor time is measured, against one."""
ROUNDS = 5
CROSSING = ("crossing-", "matched-", "left", "replied")
"""Begins of the names of files from block to block."""
FIELDS = 8
"""Numbers of a crossing."""

OF_OPERATIONS = ("members-", "operated-")
"""Likewise, of what members of collective operations exchange."""
EVENTS_PER_STEP = 44
"""As halo_archive.c has them."""

CPU_BAR = 1.4
BYTES_BAR = 60.0
LARGE_KB = 100 * 1024
MEMORY_BAR = 1.5
"""The largest worker's memory, over that of one shard divided by the shards."""

WITH_TABLES = "logpost.analyzer.pipeline.tables.parts"
"""Imported first by a task that writes tables, and by the one with nothing to do that it is compared with."""

ALONE = """
import re, sys
from importlib import import_module
from logpost.analyzer.pipeline.shards import task
for name in sys.argv[4:]:
    import_module(name)
task.run(task.Plan.of_text(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
print(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
"""


def processor_s(command: Sequence[str]) -> float:
    """Seconds of processor time of a command, with all processes that it waits for."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with status {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def empty(anchor: Path, folder: Path, blocks: int) -> Plan:
    """A plan none of whose tasks is done."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return make_plan(Request(str(anchor), ""), folder, blocks)


def worker_s(anchor: Path, folder: Path, blocks: int) -> float:
    """Seconds of processor time of all tasks."""
    plan = empty(anchor, folder, blocks)
    TaskFolder.fresh(plan)
    return processor_s(local_command(plan, 600))


def analysis_s(anchor: Path, folder: Path, blocks: int) -> float:
    """Seconds of processor time of the whole analysis."""
    options = ["-o", str(folder / "a.run"), "--force", "--quiet", "--shards", str(blocks)]
    return processor_s([sys.executable, "-m", "logpost.cli.app", "analyze", str(anchor), *options])


@dataclass(frozen=True)
class Needs:
    """What the tasks of one number of blocks need."""

    blocks: int
    task_kb: dict[str, int]
    """peak resident memory of the largest task of each stage, beyond that of one with nothing to do"""
    files: int
    file_bytes: int
    crossing: int
    """messages between blocks"""
    crossing_bytes: int
    operation_bytes: int

    @property
    def largest(self) -> str:
        """The stage whose task needs most, of those with one for each block."""
        return max((stage for stage in self.task_kb if stage not in OF_ALL), key=self.task_kb.__getitem__)

    @property
    def each_bytes(self) -> float:
        """Bytes a message that crosses."""
        return self.crossing_bytes / self.crossing if self.crossing else 0.0


def needs(anchor: Path, folder: Path, blocks: int) -> Needs:
    """Run every task alone."""
    plan = empty(anchor, folder, blocks)

    def peak_kb(stage: str, block: int, *imported: str) -> int:
        command = [sys.executable, "-c", ALONE, plan.text(), stage, str(block), *imported]
        return int(subprocess.check_output(command))

    def needs_kb(stage: str, peak_kb_of_largest: int) -> int:
        return peak_kb_of_largest - (idle_with_tables if stage == "write" else idle)

    peaks = {
        stage: max(peak_kb(stage, block, *([WITH_TABLES] if stage == "write" else [])) for block in plan.tasks(stage))
        for stage in STAGES
    }
    idle, idle_with_tables = peak_kb("match", 0), peak_kb("match", 0, WITH_TABLES)
    files = list(folder.iterdir())
    head = 8 * (4 + 3 * blocks)
    numbers = sum(sum(byte < 0x80 for byte in file.read_bytes()[head:]) for file in folder.glob("crossing-*"))
    return Needs(
        blocks,
        {stage: needs_kb(stage, peak) for stage, peak in peaks.items()},
        len(files),
        sum(file.stat().st_size for file in files),
        numbers // FIELDS,
        sum(file.stat().st_size for file in files if file.name.startswith(CROSSING)),
        sum(file.stat().st_size for file in files if file.name.startswith(OF_OPERATIONS)),
    )


def processor_table(anchor: Path, scratch: Path, rounds: int) -> bool:
    """Print processor times; whether the bar is met."""
    tasks: dict[int, list[float]] = {1: [], MEASURED: []}
    whole: dict[int, list[float]] = {1: [], MEASURED: []}
    for _ in range(rounds):
        for blocks in (1, MEASURED):
            tasks[blocks].append(worker_s(anchor, scratch / "blocks", blocks))
            whole[blocks].append(analysis_s(anchor, scratch, blocks))
    ratio = min(tasks[MEASURED]) / min(tasks[1])
    print(
        f"all tasks of {MEASURED} shards: {min(tasks[MEASURED]):.2f} s of CPU time, {ratio:.2f} x of one shard "
        f"<= {CPU_BAR} {verdict(ratio <= CPU_BAR)}"
    )
    print(
        f"whole analysis: {min(whole[MEASURED]):.2f} s of CPU time, {min(whole[MEASURED]) / min(whole[1]):.2f} x of "
        "that without shards",
        flush=True,
    )
    return ratio <= CPU_BAR


def needs_table(anchor: Path, scratch: Path, members: int) -> bool:
    """Print memory, files and bytes; whether the bars are met."""
    print("shards  largest task MB  x shards  choose MB  files  file MB  crossing  B/crossing  B/member")
    met = True
    one = 0
    for blocks in BLOCKS:
        found = needs(anchor, scratch / "blocks", blocks)
        largest = found.task_kb[found.largest]
        one = one or largest
        memory = largest * blocks / one
        met &= (memory <= MEMORY_BAR or one < LARGE_KB) and found.each_bytes <= BYTES_BAR
        print(
            f"{blocks:6} {found.largest:>8} {largest / 1024:7.1f} {memory:9.2f} {found.task_kb['choose'] / 1024:10.1f} "
            f"{found.files:6} {found.file_bytes / 1e6:8.1f} {found.crossing:9} {found.each_bytes:11.1f} "
            f"{found.operation_bytes / members:9.1f}",
            flush=True,
        )
    print(f"bars: {MEMORY_BAR} for memory x shards, {BYTES_BAR:.0f} B a crossing {verdict(met)}", flush=True)
    return met


def main(options: list[str] | None = None) -> int:
    """Print tables; 1 where a bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks shards")
    parser.add_argument("--events", type=int, help="one archive of so many, instead of three")
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--locations", type=int, default=LOCATIONS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args(options or [])
    met = []
    for events, stride in [(given.events, given.stride)] if given.events else ARCHIVES:
        with tempfile.TemporaryDirectory() as name:
            scratch = Path(name)
            archive = scratch / "halo"
            subprocess.check_output([program("halo_archive"), archive, str(given.locations), str(events), str(stride)])
            print(f"{events / 1e6:g} M events of {given.locations} locations, neighbours {stride} away", flush=True)
            met.append(processor_table(archive / "traces.otf2", scratch, given.rounds))
            met.append(needs_table(archive / "traces.otf2", scratch, events // EVENTS_PER_STEP))
    return 0 if all(met) else 1
