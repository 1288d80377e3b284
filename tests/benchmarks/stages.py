"""What each stage of a sharded analysis needs, and how that grows with the events: two archives of one kind.

    python -m tests.benchmarks stages --events 100000000 --locations 16384 --shards 7 --folder DIRECTORY

The archives are halo exchanges (`halo_archive.c`), the smaller one with a fifth of the events; they, the files of the
blocks and the runs are made in the folder and removed. Processor times are those of the process that joins the blocks;
its memory is the largest of each stage, beyond that of the interpreter and the libraries. A slope is the difference of
the two archives over that of their events.

The bar is the design's: bytes at the peak for each event of communication, 34 of the 44 of a step.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.reader import program, verdict

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.shards import task
from logpost.analyzer.pipeline.shards.plan import OF_ALL, STAGES, Plan, make_plan

SMALLER = 5
"""Times by which the smaller archive has fewer events."""
OF_COMMUNICATION = 34 / 44
PEAK_BAR = 48.0
"""Bytes."""
BOUNDED = ("findings.look_for_findings", "findings.finish")
"""Stages whose memory is that of a sample of the run: more than all others need of a small archive."""


def apart(plan: Plan, stage: str, block: int) -> tuple[float, int]:
    """Processor time and largest memory of a task, which runs in a separate process."""
    pid = os.fork()
    if pid == 0:
        os._exit(0 if task.problem(plan, stage, block) is None else 1)
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        raise RuntimeError(f"{stage} of block {block} ended with status {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def needs(folder: Path, locations: int, events: int, shards: int) -> list[dict[str, Any]]:
    """By stage: processor time, largest memory."""
    with tempfile.TemporaryDirectory(prefix="logpost-bench-", dir=folder) as name:
        place = Path(name)
        subprocess.check_output([program("halo_archive"), place / "halo", str(locations), str(events)])
        (place / "blocks").mkdir()
        plan = make_plan(Request(str(place / "halo"), ""), place / "blocks", shards)
        rows: list[dict[str, Any]] = []
        for stage in STAGES:
            tasks = [apart(plan, stage, block) for block in plan.tasks(stage)]
            rows.append({"stage": stage, "processor_s": sum(one[0] for one in tasks), "peak_bytes": max(tasks)[1]})
        idle = min(apart(plan, STAGES[-1], block)[1] for block in range(shards))  # its files are whole
        command = [sys.executable, "-m", "tests.benchmarks._stages", str(place / "halo"), str(place / "a.run")]
        joined = json.loads(subprocess.check_output([*command, plan.text()]))
        return [
            *(row | {"peak_bytes": row["peak_bytes"] - idle} for row in rows),
            *(row | {"peak_bytes": row["peak_bytes"] - joined["idle_bytes"]} for row in joined["stages"]),
        ]


def main(options: Sequence[str] = ()) -> int:
    """Print the table; 1 if the bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks stages")
    parser.add_argument("--events", type=int, default=20_000_000)
    parser.add_argument("--locations", type=int, default=256)
    parser.add_argument("--shards", type=int, default=7)
    parser.add_argument("--folder", type=Path, default=Path("."))
    given = parser.parse_args(options)
    less = given.events // SMALLER
    small, large = (needs(given.folder, given.locations, events, given.shards) for events in (less, given.events))
    between = given.events - less
    print(f"{given.events / 1e6:g} M events of {given.locations} locations, {given.shards} shards")
    print(f"{'stage':<28} {'CPU s':>8} {'ns/event':>9} {'peak MB':>9} {'B/event':>8}")
    for smaller, row in zip(small, large, strict=True):
        time_slope = (row["processor_s"] - smaller["processor_s"]) / between * 1e9
        # A task holds its block.
        of = between / given.shards if row["stage"] in STAGES and row["stage"] not in OF_ALL else between
        slope = (row["peak_bytes"] - smaller["peak_bytes"]) / of
        numbers = f"{row['processor_s']:8.2f} {time_slope:9.1f} {row['peak_bytes'] / 1e6:9.1f} {slope:8.1f}"
        print(f"{row['stage']:<28} {numbers}")
    least, most = (max(row["peak_bytes"] for row in rows if row["stage"] not in BOUNDED) for rows in (small, large))
    each = (most - least) / between / OF_COMMUNICATION
    print(f"peak: {each:.1f} B an event of communication <= {PEAK_BAR:g} {verdict(each <= PEAK_BAR)}")
    return 0 if each <= PEAK_BAR else 1
