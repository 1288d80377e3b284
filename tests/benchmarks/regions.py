"""What a region that the program names costs, begin and end together (at most 80 ns: 40 a record, as for a call), and
what a call costs while recording is switched off (at most the 40 ns that it may cost while it is on).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.pingpong import BAR_NS, MPIS
from tests.collectors.recording import environment

from logpost import collectors

SOURCE = Path(__file__).with_name("regions.c")


def _figures(text: str) -> dict[str, float]:
    return {name: float(value) for name, value in re.findall(r"(\w+)_ns=([\d.]+)", text)}


def main() -> int:
    """Print the table; 1 when a bar is missed."""
    missed, measured = 0, 0
    for name, (mpicc, mpirun) in MPIS.items():
        if shutil.which(mpicc) is None or shutil.which(mpirun) is None:
            print(f"{name:10} is not installed")
            continue
        measured += 1
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "regions"
            include = f"-I{Path(collectors.__file__).parent}"
            subprocess.run([mpicc, "-O2", "-w", include, "-o", str(program), str(SOURCE)], check=True)
            run = [mpirun, "-n", "1", str(program)]
            record = [
                sys.executable,
                "-m",
                "logpost.cli.app",
                "record",
                "-q",
                "-o",
                folder,
                "--calibrate",
                "none",
                "--",
            ]
            alone, recorded = (
                _figures(subprocess.run(words, env=environment(), capture_output=True, text=True, check=True).stdout)
                for words in (run, [*record, *run])
            )
        rows = (
            ("region, begin and end", "pair", 2 * BAR_NS),
            ("the same while off", "pair_off", 2 * BAR_NS),
            ("MPI_Iprobe", "call", BAR_NS),
            ("the same while off", "call_off", BAR_NS),
        )
        for what, key, bar in rows:
            cost = recorded[key] - alone[key]
            missed += cost > bar
            verdict = f"bar {bar:.0f}  {'MISSED' if cost > bar else 'ok'}"
            print(f"{name:10} {what:24} {alone[key]:7.1f} ns {recorded[key]:7.1f} ns {cost:7.1f} ns  {verdict}")
    if not measured:
        print("no MPI is installed: nothing was measured")
    return int(missed > 0 or not measured)


if __name__ == "__main__":
    sys.exit(main())
