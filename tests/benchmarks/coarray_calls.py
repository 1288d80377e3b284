"""What recording adds to an access to a coarray: at most 40 ns, as a difference between alternating runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.pingpong import BAR_NS

_SOURCE = Path(__file__).with_name("coarray_calls.f90")
_REPEATS = 3


def _least(command: list[str], least: dict[str, float]) -> None:
    """Run the program; keep the smaller figures."""
    env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    for name, figure in json.loads(done.stdout).items():
        least[name] = min(figure, least.get(name, figure))


def main() -> int:
    """Print the table; 1 when the bar is missed."""
    if shutil.which("mpif90.openmpi") is None or shutil.which("gfortran") is None:
        print("no Fortran compiler of Open MPI is installed: nothing was measured")
        return 1
    print(f"{'':37} {'without':>9} {'with':>9} {'per call':>9}   bar {BAR_NS:.0f} ns")
    without: dict[str, float] = {}
    traced: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "coarray_calls")
        build = ["mpif90.openmpi", "-O2", "-fcoarray=lib", str(_SOURCE), "-o", program, "-lcaf_openmpi"]
        subprocess.run(build, check=True, cwd=folder)
        launch = ["mpirun.openmpi", "--oversubscribe", "-n", "2", program]
        record = [sys.executable, "-m", "logpost.cli.app", "record", "-q", "--calibrate", "none", "-o", folder, "--"]
        for _ in range(_REPEATS):
            _least(launch, without)
            _least([*record, *launch], traced)
    missed = 0
    for name in without:
        more = traced[name] - without[name]
        missed += more > BAR_NS
        print(
            f"coarray {name} of a word, own image      {without[name]:6.1f} ns {traced[name]:6.1f} ns {more:6.1f} ns   "
            f"{'MISSED' if more > BAR_NS else 'ok'}"
        )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
