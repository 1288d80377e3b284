"""What recording into a ring adds to an MPI call while it turns (`record --keep`): at most 40 ns, as for a log.

The same program as `pingpong`, whose calls fill a ring of 2 MB many times over.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.pingpong import BAR_NS, MPIS, costs, record

KEEP = "2MB"


def main() -> int:
    """Print the table; 1 when a bar is missed."""
    print(f"{'':10} {'':26} {'without':>9} {'with':>9} {'per call':>9}   bar {BAR_NS:.0f} ns")
    missed, measured = 0, 0
    for name, (mpicc, mpirun) in MPIS.items():
        if shutil.which(mpicc) is None or shutil.which(mpirun) is None:
            print(f"{name:10} is not installed")
            continue
        measured += 1
        with tempfile.TemporaryDirectory() as folder:
            figures, moves = record(mpicc, mpirun, Path(folder), ("--keep", KEEP))
        assert figures["calls"] < 400 * 2000 * 5 / 10, "most of them are overwritten"
        for what, _, without, traced, cost in costs(figures):
            missed += cost > BAR_NS
            verdict = "MISSED" if cost > BAR_NS else "ok"
            print(f"{name:10} {what:26} {without:6.1f} ns {traced:6.1f} ns {cost:6.1f} ns   {verdict}")
        turning = figures["window_ns_per_call"]
        print(f"{name:10} slots, summed up and written: {moves}: {turning:.1f} ns per call over the run")
        missed += turning > BAR_NS
    if not measured:
        print("no MPI is installed: nothing was measured")
    return int(missed > 0 or not measured)


if __name__ == "__main__":
    sys.exit(main())
