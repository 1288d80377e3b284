"""What recording adds to an OpenSHMEM call: at most 40 ns, as a difference within one run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.pingpong import BAR_NS, STACKS

_SOURCE = Path(__file__).with_name("shmem_calls.c")


def _record(folder: Path, stack: int) -> dict[str, float]:
    """Run the program under `logpost record`; return its figures."""
    program = folder / "shmem_calls"
    subprocess.run(["oshcc", "-O2", "-w", "-o", str(program), str(_SOURCE), "-ldl"], check=True)
    env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    env["OMPI_MCA_memory"] = "^patcher"  # Debian's library crashes in its own finalization
    command = [sys.executable, "-m", "logpost.cli.app", "record", "--quiet", "--calibrate", "none", "-o", str(folder)]
    command += ["--stack", str(stack), "--", "oshrun", "-n", "1", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def main() -> int:
    """Print the table; 1 when the bar is missed."""
    if shutil.which("oshcc") is None or shutil.which("oshrun") is None:
        print("no OpenSHMEM is installed: nothing was measured")
        return 1
    print(f"{'':37} {'without':>9} {'with':>9} {'per call':>9}   bar {BAR_NS:.0f} ns")
    missed = 0
    for stack in STACKS:
        with tempfile.TemporaryDirectory() as folder:
            figures = _record(Path(folder), stack)
        for what, key in (("shmem_long_p, own PE", "put"), ("shmem_long_g, own PE", "get")):
            without, traced = figures[f"{key}_ns"], figures[f"{key}_traced_ns"]
            missed += traced - without > BAR_NS
            print(
                f"--stack {stack:2} {what:26} {without:6.1f} ns {traced:6.1f} ns {traced - without:6.1f} ns   "
                f"{'MISSED' if traced - without > BAR_NS else 'ok'}"
            )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
