"""What samples cost: the processor time of work with them, over that of the same work without them in the same run.

The median of the ratios of neighbouring blocks, so that other load, which both have alike, cancels.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks._overhead import MPIS, environment, recording

BAR = 0.01
"""Fraction of processor time that sampling may cost at the rate of the default."""
_SOURCE = Path(__file__).with_name("sampling.c")


def main() -> int:
    """Print a row per MPI; 1 when the bar is missed, or nothing could be measured."""
    missed, shown = 0, 0
    for name, (mpicc, mpirun) in MPIS.items():
        if shutil.which(mpicc) is None or shutil.which(mpirun) is None:
            print(f"{name} is not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "sampling"
            subprocess.run([mpicc, "-O2", "-g", "-pthread", "-o", str(program), str(_SOURCE)], check=True)
            command = [*recording(Path(folder)), mpirun, "-n", "1", str(program)]
            done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
            anchor = next(Path(folder).glob("logpost_*/traces.otf2"))
            events = subprocess.run(["otf2-print", str(anchor)], capture_output=True, text=True, check=True).stdout
        samples = len(re.findall(r"^CALLING_CONTEXT_SAMPLE\s", events, re.MULTILINE))
        assert samples > 0, "nothing was sampled"
        pairs: list[tuple[float, float]] = json.loads(done.stdout)
        ratios = [with_samples / without - 1 for without, with_samples in pairs]
        cost = statistics.median(ratios)
        assert abs(cost) < 1, "the blocks do not do the same work"
        error = statistics.stdev(ratios) / len(ratios) ** 0.5
        verdict = "MISSED" if cost > BAR else "ok"
        print(
            f"sampling, {name:10} {100 * cost:6.2f} ± {100 * error:.2f} % of processor time, {samples} samples   bar "
            f"{100 * BAR:.0f} %   {verdict}"
        )
        shown += 1
        missed += cost > BAR
    return int(missed > 0 or not shown)


if __name__ == "__main__":
    sys.exit(main())
