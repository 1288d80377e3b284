"""What recording into a ring adds to an MPI call while it turns (`record --keep`): at most 40 ns, as for a log.

The same program as `overhead` runs, whose calls fill a ring of 2 MB many times over.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from tests.benchmarks._overhead import BAR_NS, MPIS, header, line
from tests.benchmarks._overhead_mpi import exchanges, record

KEEP = "2MB"


def main() -> int:
    """Print the table; 1 when a bar is missed."""
    print(header())
    missed, measured = 0, 0
    for name, (mpicc, mpirun) in MPIS.items():
        if shutil.which(mpicc) is None or shutil.which(mpirun) is None:
            print(f"{name:10} is not installed")
            continue
        measured += 1
        with tempfile.TemporaryDirectory() as folder:
            figures, moves = record(mpicc, mpirun, Path(folder), ("--keep", KEEP))
        assert figures["calls"] < 400 * 2000 * 5 / 10, "most of them are overwritten"
        for row in exchanges(name, f"--keep {KEEP}", figures):
            missed += row.missed
            print(line(row), flush=True)
        turning = figures["window_ns_per_call"]
        print(f"{name:10} slots, summed up and written: {moves}: {turning:.1f} ns per call over the run")
        missed += turning > BAR_NS
    if not measured:
        print("no MPI is installed: nothing was measured")
    return int(missed > 0 or not measured)


if __name__ == "__main__":
    sys.exit(main())
