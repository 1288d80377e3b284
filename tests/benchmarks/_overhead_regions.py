"""What a region that the program names costs, of which begin and end are a record each, and what a call costs while
recording is switched off.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks._overhead import MPIS, Row, environment, recording

from logpost import collectors

_SOURCE = Path(__file__).with_name("regions.c")


def _figures(text: str) -> dict[str, float]:
    return {name: float(value) for name, value in re.findall(r"(\w+)_ns=([\d.]+)", text)}


def rows() -> Iterator[Row]:
    """Of regions and of a call that returns at once, recorded and switched off."""
    for name, (mpicc, mpirun) in MPIS.items():
        if shutil.which(mpicc) is None or shutil.which(mpirun) is None:
            print(f"{name} is not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "regions"
            include = f"-I{Path(collectors.__file__).parent}"
            subprocess.run([mpicc, "-O2", "-w", include, "-o", str(program), str(_SOURCE)], check=True)
            run = [mpirun, "-n", "1", str(program)]
            alone, recorded = (
                _figures(subprocess.run(words, env=environment(), capture_output=True, text=True, check=True).stdout)
                for words in (run, [*recording(Path(folder)), *run])
            )
        for collector, what, key, calls in (
            ("pmpi", "MPI_Iprobe", "call", 1),
            ("pmpi", "MPI_Iprobe, recording off", "call_off", 1),
            ("regions", "region of the program, begin and end", "pair", 2),
            ("regions", "region of the program, recording off", "pair_off", 2),
        ):
            yield Row(f"{collector}, {name}", what, alone[key], recorded[key], calls)
