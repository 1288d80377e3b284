"""What it costs to read an archive as blocks, and what a worker then needs.

The archive is the generated halo exchange of `halo_archive.c`. Every task runs as the process that an engine would
start, one after the other; its processor time and peak resident memory are the system's (wait4). Memory of a worker is
what it takes beyond a task whose files are whole already (the interpreter and the libraries). In archives of a few
million events the interpreters' starts, about 0.1 s a task, are the most of the processor time.

Bytes that cross: the files `crossing-*` and `matched-*` over the messages between blocks. A crossing is eight numbers,
each of which ends with a byte below 0x80, so the file itself tells how many there are.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.reader import program

from logpost.analyzer._native import ClockMode, Progress, read
from logpost.analyzer.shards.plan import Plan, make_plan
from logpost.analyzer.shards.task import shards_of
from logpost.analyzer.shards.workers import task_command

EVENTS = 40_000_000
LOCATIONS = 256
BLOCKS = (1, 2, 7)
FIELDS = 8
"""Numbers of a crossing."""

CPU_BAR = 1.3
BYTES_BAR = 40.0
MEMORY_BAR = 1.3
"""The largest worker's memory, over that of one shard divided by the shards."""


@dataclass(frozen=True)
class Row:
    """The figures of one number of blocks."""

    blocks: int
    cpu_s: float
    """of all tasks"""
    worker_kb: int
    """peak resident memory of the largest worker, beyond that of one with nothing to do"""
    files: int
    file_bytes: int
    crossing: int
    """messages between blocks"""
    crossing_bytes: int
    gather_s: float
    """processor time of the process that puts the blocks together"""


def task(plan: Plan, stage: str, block: int) -> tuple[float, int]:
    """Seconds of processor time and peak kilobytes of one task."""
    process = subprocess.Popen(task_command(plan, stage, block))
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{stage} of block {block} ended with status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


@dataclass(frozen=True)
class Done:
    """A plan whose tasks have run: seconds and kilobytes of each, and kilobytes of one that had nothing to do."""

    plan: Plan
    tasks: list[tuple[float, int]]
    idle_kb: int


def run_all(anchor: Path, folder: Path, blocks: int) -> Done:
    """Run the tasks of an archive. A child's peak memory is at least this process's own: it must be small still."""
    folder.mkdir()
    plan = make_plan(str(anchor), folder, blocks, offsets=True)
    tasks = [task(plan, stage, block) for stage in plan.stages for block in range(blocks)]
    return Done(plan, tasks, task(plan, "match", 0)[1])


def gathered(anchor: Path, done: Done) -> Row:
    """Put the blocks together."""
    plan, blocks = done.plan, done.plan.blocks
    folder = Path(plan.folder)
    files = list(folder.iterdir())
    numbers = sum(
        sum(byte < 0x80 for byte in file.read_bytes()[8 * (4 + 3 * blocks) :]) for file in folder.glob("crossing-*")
    )
    before = time.process_time()
    read(str(anchor), 1, Progress(), ClockMode.offsets, shards=shards_of(plan))
    gather_s = time.process_time() - before
    return Row(
        blocks,
        sum(cpu for cpu, _ in done.tasks),
        max(peak for _, peak in done.tasks) - done.idle_kb,
        len(files),
        sum(file.stat().st_size for file in files),
        numbers // FIELDS,
        sum(file.stat().st_size for file in files if not file.name.startswith("decoded-")),
        gather_s,
    )


def main(options: list[str] | None = None) -> int:
    """Print a table; 1 where a bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks shards")
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--locations", type=int, default=LOCATIONS)
    given = parser.parse_args(options or [])
    with tempfile.TemporaryDirectory() as scratch:
        archive = Path(scratch) / "halo"
        subprocess.check_output([program("halo_archive"), archive, str(given.locations), str(given.events)])
        anchor = archive / "traces.otf2"
        finished = [run_all(anchor, Path(scratch) / str(blocks), blocks) for blocks in BLOCKS]
        rows = [gathered(anchor, done) for done in finished]
        before = time.process_time()
        read(str(anchor), 1, Progress(), ClockMode.offsets)
        whole_s = time.process_time() - before
    print(f"{given.events} events of {given.locations} locations; read by one process in {whole_s:.2f} s of CPU time")
    print("shards  CPU of tasks  of one shard  worker MB  x shards  files  file MB  crossing  B/crossing  gather CPU")
    missed = False
    one = rows[0]
    for row in rows:
        cpu = row.cpu_s / one.cpu_s
        memory = row.worker_kb * row.blocks / one.worker_kb
        each = row.crossing_bytes / row.crossing if row.crossing else 0.0
        missed |= cpu > CPU_BAR or memory > MEMORY_BAR or each > BYTES_BAR
        print(
            f"{row.blocks:6} {row.cpu_s:11.2f} s {cpu:13.2f} {row.worker_kb / 1024:10.0f} {memory:9.2f} {row.files:6} "
            f"{row.file_bytes / 1e6:8.1f} {row.crossing:9} {each:11.1f} {row.gather_s:9.2f} s"
        )
    print(f"bars: {CPU_BAR} of one shard's CPU time, {MEMORY_BAR} for worker x shards, {BYTES_BAR:.0f} B a crossing")
    return 1 if missed else 0
