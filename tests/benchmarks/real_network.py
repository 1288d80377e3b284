"""Predictions of other delays and rates against truth: programs over TCP, recorded on one network, run on others.

The networks are a relay's (`tests/real_network`): nodes of this machine, the real TCP stack and MPI library. Recorded
once at 50 us and 1 Gbit/s, the middle one of three runs by length; predicted by the change of the link alone; the truth
is the middle one of three runs there. Both without MPI_Init and MPI_Finalize. The bars: a mean error of 10 %, and 90 %
of the truths within the stated interval.

Needs root, namespaces and Open MPI; without them it says so and measures nothing.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from tests.real_network import Link, NoNetworkError
from tests.real_network.trial import Program, length_ps, predictions, run, traffic

from logpost.analyzer.run.directory import Run

MEAN_BAR, COVERED_BAR = 0.10, 0.90
REPEATS = 3
RECORDED = Link(50, 1000)
PLANNED = [Link(200, 1000), Link(500, 1000), Link(50, 200), Link(500, 100)]
MELT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 6 0 6 0 6
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
fix 1 all nve
run 100
"""


def programs(folder: Path) -> dict[str, Program]:
    """What is run; LAMMPS where it is installed."""
    binary = str(traffic(folder))
    found = {
        f"ping-pong {size} B": Program(2, (binary, "pingpong", str(size), str(rounds)))
        for size, rounds in ((8, 200), (4096, 200), (32768, 100), (262144, 20))
    }
    found["halo, 2 ranks"] = Program(2, (binary, "halo", "16384", "100"))
    found["halo, 4 ranks"] = Program(4, (binary, "halo", "16384", "100"))
    if shutil.which("lmp") is not None:
        melt = folder / "in.melt"
        melt.write_text(MELT)
        found["LAMMPS, 2 ranks"] = Program(2, ("lmp", "-log", "none", "-screen", "none", "-in", str(melt)))
    return found


def middle(program: Program, link: Link, folder: Path) -> tuple[Run, float]:
    """Of several runs, the middle one by length, and the largest distance from it as a share of it."""
    runs = sorted((run(program, link, folder / str(i))[0] for i in range(REPEATS)), key=length_ps)
    found = runs[REPEATS // 2]
    length = length_ps(found)
    return found, max(abs(length_ps(one) - length) for one in runs) / length


def main() -> int:
    """Print the table; 1 where a bar is missed."""
    errors: list[float] = []
    covered = 0
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; recorded at {RECORDED}")
    print(f"{'':20}{'link':>20}{'recorded':>12}{'predicted':>12}{'interval':>24}{'truth':>12}{'noise':>8}{'error':>8}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            for number, (what, program) in enumerate(programs(folder).items()):
                base = folder / str(number)
                recorded, _ = middle(program, RECORDED, base / "recorded")
                for link, prediction in zip(PLANNED, predictions(recorded, RECORDED, PLANNED), strict=True):
                    found, (low, high) = prediction.predicted_ps, prediction.interval_ps
                    truth_run, noise = middle(program, link, base / f"{link.delay_us:g}-{link.mbit_per_s:g}")
                    truth = length_ps(truth_run)
                    errors.append(found / truth - 1)
                    covered += low <= truth <= high
                    print(
                        f"{what:20}{link!s:>20}{length_ps(recorded) / 1e9:>9.1f} ms{found / 1e9:>9.1f} ms"
                        f"{f'{low / 1e9:.1f} .. {high / 1e9:.1f} ms':>24}{truth / 1e9:>9.1f} ms{100 * noise:>7.1f}%"
                        f"{100 * errors[-1]:>7.1f}%",
                        flush=True,
                    )
        except (NoNetworkError, RuntimeError) as reason:
            print(f"no network of its own here: {reason}", file=sys.stderr)
            return 0 if isinstance(reason, NoNetworkError) else 1
    sizes = np.abs(errors)
    print(
        f"{len(sizes)} cases: mean {100 * sizes.mean():.1f} % (bar {100 * MEAN_BAR:.0f} %), worst "
        f"{100 * sizes.max():.1f} %; within the interval {covered} (bar {100 * COVERED_BAR:.0f} %); "
        f"load {os.getloadavg()[0]:.1f}"
    )
    return int(sizes.mean() > MEAN_BAR or covered < COVERED_BAR * len(sizes))
