"""What recording adds to an MPI call, as a difference within one run, and how much of it `--stack` is.

A block of calls fills more than one window of the log, so the figures include the moves from window to window.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks._overhead import MPIS, STACKS, Row, environment, recording

READINGS = 2
"""Of the clock per call."""
_SOURCE = Path(__file__).with_name("pingpong.c")


def record(mpicc: str, mpirun: str, folder: Path, options: tuple[str, ...]) -> tuple[dict[str, float], str]:
    """Run the program under `logpost record` with some options.

    Returns its figures, and what otf2-print shows of its window moves.
    """
    program = folder / "pingpong"
    subprocess.run([mpicc, "-O2", "-o", str(program), str(_SOURCE), "-ldl"], check=True)
    command = [*recording(folder, *options), mpirun, "-n", "2", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    anchor = next(folder.glob("logpost_*/traces.otf2"))
    shown = subprocess.run(["otf2-print", "-L", "0", str(anchor)], capture_output=True, text=True, check=True).stdout
    resolution = subprocess.run(["otf2-print", "-G", str(anchor)], capture_output=True, text=True, check=True).stdout
    figures: dict[str, float] = json.loads(done.stdout)
    ticks = re.search(r"Ticks per Seconds: (\d+)", resolution)
    assert ticks is not None
    moves = [
        (int(end) - int(begin)) / int(ticks[1])
        for begin, end in re.findall(r"^BUFFER_FLUSH\s+0\s+(\d+)\s+Stop Time: (\d+)", shown, re.MULTILINE)
    ]
    calls = len(re.findall(r"^ENTER\s", shown, re.MULTILINE))
    move = statistics.median(moves)
    figures["calls"] = calls
    figures["window_ns_per_call"] = move * len(moves) / calls * 1e9
    return figures, f"{len(moves)} window moves, median {move * 1e6:.0f} µs"


def exchanges(name: str, setting: str, figures: dict[str, float]) -> Iterator[Row]:
    """A row for each exchange of the program."""
    for what, key, calls in (("half round trip, 8 B", "half", 2), ("Isend + Recv + Wait, self", "self", 3)):
        without, traced = figures[f"{key}_ns"], figures[f"{key}_traced_ns"]
        readings = (traced - without) / calls / figures["clock_ns"]
        note = f", {readings:.1f} readings of the clock"
        yield Row(f"pmpi, {name}", f"{what}, {setting}", without, traced, calls, note)


def rows() -> Iterator[Row]:
    """Of each MPI, for each length of the stack that is kept."""
    for name, (mpicc, mpirun) in MPIS.items():
        if shutil.which(mpicc) is None or shutil.which(mpirun) is None:
            print(f"{name} is not installed")
            continue
        for stack in STACKS:
            with tempfile.TemporaryDirectory() as folder:
                figures, moves = record(mpicc, mpirun, Path(folder), ("--stack", str(stack)))
            # two of each exchange and three to oneself, per block: the recorded half of the calls must all be there
            assert figures["calls"] > 400 * 2000 * 5, figures["calls"]
            yield from exchanges(name, f"--stack {stack}", figures)
            print(f"  {moves}: {figures['window_ns_per_call']:.1f} ns per call over the run")
        print(f"  one reading of the clock: {figures['clock_ns']:.1f} ns; recording takes {READINGS} per call")
