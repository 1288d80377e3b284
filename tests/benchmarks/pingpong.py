"""What recording adds to an MPI call: at most 40 ns, as a difference within one run, and how much of it `--stack` is.

A block of calls fills more than one window of the log, so the figures include the moves from window to window.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

BAR_NS = 40.0
READINGS = 2
"""Of the clock per call."""
STACKS = (16, 1, 0)
"""Callers kept of each call: as by default, the direct one, none. The bar holds for each."""
_SOURCE = Path(__file__).with_name("pingpong.c")
MPIS = {"Open MPI": ("mpicc.openmpi", "mpirun.openmpi"), "MPICH": ("mpicc.mpich", "mpirun.mpich")}


def record(mpicc: str, mpirun: str, folder: Path, options: tuple[str, ...]) -> tuple[dict[str, float], str]:
    """Run the program under `logpost record` with some options.

    Returns its figures, and what otf2-print shows of its window moves.
    """
    program = folder / "pingpong"
    subprocess.run([mpicc, "-O2", "-o", str(program), str(_SOURCE), "-ldl"], check=True)
    env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = [sys.executable, "-m", "logpost.cli.app", "record", "--quiet", "--calibrate", "none", "-o", str(folder)]
    command += [*options, "--", mpirun, "-n", "2", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
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


def costs(figures: dict[str, float]) -> Iterator[tuple[str, str, float, float, float]]:
    """Of each exchange its name and key, what it takes without and with recording, and what that adds to a call; ns."""
    for what, key, calls in (("half round trip, 8 B", "half", 2), ("Isend + Recv + Wait, self", "self", 3)):
        without, traced = figures[f"{key}_ns"], figures[f"{key}_traced_ns"]
        yield what, key, without, traced, (traced - without) / calls


def main() -> int:
    """Print the table; 1 when a bar is missed."""
    print(f"{'':10} {'':37} {'without':>9} {'with':>9} {'per call':>9}   bar {BAR_NS:.0f} ns")
    missed, measured = 0, 0
    added: dict[tuple[str, int], float] = {}
    for name, (mpicc, mpirun) in MPIS.items():
        if shutil.which(mpicc) is None or shutil.which(mpirun) is None:
            print(f"{name:10} is not installed")
            continue
        measured += 1
        for stack in STACKS:
            with tempfile.TemporaryDirectory() as folder:
                figures, moves = record(mpicc, mpirun, Path(folder), ("--stack", str(stack)))
            # two of each exchange and three to oneself, per block: the recorded half of the calls must all be there
            assert figures["calls"] > 400 * 2000 * 5, figures["calls"]
            for what, key, without, traced, cost in costs(figures):
                added[key, stack] = cost
                missed += cost > BAR_NS
                print(
                    f"{name:10} --stack {stack:2} {what:26} {without:6.1f} ns {traced:6.1f} ns {cost:6.1f} ns   "
                    f"{'MISSED' if cost > BAR_NS else 'ok'}, {cost / figures['clock_ns']:.1f} readings of the clock"
                )
            print(f"{name:10} --stack {stack:2} {moves}: {figures['window_ns_per_call']:.1f} ns per call over the run")
        shares = ", ".join(f"{added['self', depth] - added['self', 0]:.1f} ns for {depth}" for depth in STACKS[:-1])
        print(f"{name:10} one reading of the clock: {figures['clock_ns']:.1f} ns; recording takes {READINGS} per call")
        print(f"{name:10} callers kept, of the calls to oneself: {shares}")
    if not measured:
        print("no MPI is installed: nothing was measured")
    return int(missed > 0 or not measured)


if __name__ == "__main__":
    sys.exit(main())
