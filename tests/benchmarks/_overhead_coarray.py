"""What recording adds to an access to a coarray, as a difference between alternating runs."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks._overhead import Row, environment, recording

_SOURCE = Path(__file__).with_name("coarray_calls.f90")
_REPEATS = 3


def _least(command: list[str], least: dict[str, float]) -> None:
    """Run the program; keep the smaller figures."""
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    for name, figure in json.loads(done.stdout).items():
        least[name] = min(figure, least.get(name, figure))


def rows() -> Iterator[Row]:
    """Of a put and a get of a word."""
    if shutil.which("mpif90.openmpi") is None or shutil.which("gfortran") is None:
        print("no Fortran compiler of Open MPI is installed")
        return
    without: dict[str, float] = {}
    traced: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "coarray_calls")
        build = ["mpif90.openmpi", "-O2", "-fcoarray=lib", str(_SOURCE), "-o", program, "-lcaf_openmpi"]
        subprocess.run(build, check=True, cwd=folder)
        launch = ["mpirun.openmpi", "--oversubscribe", "-n", "2", program]
        for _ in range(_REPEATS):
            _least(launch, without)
            _least([*recording(Path(folder)), *launch], traced)
    for name in without:
        yield Row("coarray, Open MPI", f"coarray {name} of a word, own image", without[name], traced[name])
