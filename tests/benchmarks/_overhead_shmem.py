"""What recording adds to an OpenSHMEM call, as a difference within one run."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks._overhead import STACKS, Row, environment, recording

_SOURCE = Path(__file__).with_name("shmem_calls.c")


def _record(folder: Path, stack: int) -> dict[str, float]:
    """Run the program under `logpost record`; return its figures."""
    program = folder / "shmem_calls"
    subprocess.run(["oshcc", "-O2", "-w", "-o", str(program), str(_SOURCE), "-ldl"], check=True)
    env = {**environment(), "OMPI_MCA_memory": "^patcher"}  # Debian's library crashes in its own finalization
    command = [*recording(folder, "--stack", str(stack)), "oshrun", "-n", "1", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def rows() -> Iterator[Row]:
    """Of a put and a get of a word, for each length of the stack that is kept."""
    if shutil.which("oshcc") is None or shutil.which("oshrun") is None:
        print("no OpenSHMEM is installed")
        return
    for stack in STACKS:
        with tempfile.TemporaryDirectory() as folder:
            figures = _record(Path(folder), stack)
        for what, key in (("shmem_long_p", "put"), ("shmem_long_g", "get")):
            text = f"{what}, own PE, --stack {stack}"
            yield Row("shmem, Open MPI", text, figures[f"{key}_ns"], figures[f"{key}_traced_ns"])
