"""What a start of the command line costs, as a ratio to `python -c pass` in one run.

The bars are design's: 0.15 s for the overview and 0.6 s for the report of a small run where an empty Python needs
15 ms, so 10 and 40 starts of it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.analyzer.two_phases import two_phases

ROUNDS = 15
BARS = {"--version": 10.0, "--help": 10.0, "report RUN": 40.0}


def _fastest(command: list[str]) -> float:
    """The fastest of several starts: what others do on the machine can only add."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> int:
    """Print the table; 1 when a bar is missed."""
    python = [sys.executable, "-c"]
    empty = _fastest([*python, "pass"])
    print(f"{'python -c pass':16} {empty * 1e3:7.1f} ms")
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        run = two_phases().write(Path(folder) / "late.run").path
        for name, bar in BARS.items():
            words = [str(run) if word == "RUN" else word for word in name.split()]
            took = _fastest([*python, "from logpost.cli.app import main; main()", *words])
            missed += took / empty > bar
            print(f"{name:16} {took * 1e3:7.1f} ms {took / empty:6.1f} starts   bar {bar:.0f}")
    return 1 if missed else 0
