"""One analysis in this process, stage by stage: `python -m tests.benchmarks._stages ARCHIVE RUN PLAN` prints JSON."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

from logpost.analyzer.pipeline import build
from logpost.analyzer.pipeline.read_ahead import ReadAhead
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.stage import Stage

RESET_PEAK = "5"
"""To /proc/self/clear_refs: the largest resident memory is from then on counted anew (proc(5))."""


def peak_bytes() -> int:
    """The largest resident memory since the last look, which this is."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    Path("/proc/self/clear_refs").write_text(RESET_PEAK)
    return int(found[1]) * 1024


def measured(stage: Stage, rows: list[dict[str, Any]]) -> Stage:
    """The stage, which notes what it needed. A thread behind it counts for the stage in which it works."""

    @wraps(stage.run)
    def run(**facts: Any) -> Any:
        begin = time.process_time()
        result = stage.run(**facts)
        name = f"{stage.run.__module__.rpartition('.')[2]}.{stage.run.__name__}"
        rows.append({"stage": name, "processor_s": time.process_time() - begin, "peak_bytes": peak_bytes()})
        return result

    return replace(stage, run=run)


def main(archive: str, run: str, plan: str) -> None:
    """Print what each stage needed."""
    rows: list[dict[str, Any]] = []
    build.STAGES = tuple(measured(stage, rows) for stage in build.STAGES)  # type: ignore[assignment]
    threads = len(os.sched_getaffinity(0))
    idle = peak_bytes()
    source = ReadAhead(archive, threads, shards=plan)
    build.build_run(Request(archive, run, threads=threads, shards=plan), source, lambda *_: None, lambda _: None)
    print(json.dumps({"idle_bytes": idle, "stages": rows}))


if __name__ == "__main__":
    main(*sys.argv[1:])
