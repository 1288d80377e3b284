"""What-if predictions against truth: the simulator's programs recorded on machine A, predicted for and run on B.

The simulator (tests/truth) is no replay: it runs the programs, with separate code for queues, progress and collective
trees. B has one of A's values multiplied. Without a model of contention the bar is a mean error of 3 %.
Programs whose order of messages follows their arrival (any source, Test loops) may do other things on B, and a replay
does not: they are listed like the others.

Needs build/dev/truth/simulate (CMake's -DLOGPOST_TESTS=ON).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from tests.truth.programs import program_ps

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.supervise import analyze
from logpost.analyzer.predict.whatif import Ask, predict
from logpost.analyzer.run.directory import Run

SIMULATE = Path(__file__).resolve().parents[2] / "build/dev/truth/simulate"
VARIANTS = ("L=4", "L=0.25", "L=20", "o_s=4", "o_r=4", "g=4", "G=4", "G=0.25")
MEAN_BAR = 0.03


def simulated(folder: Path, setting: str | None) -> dict[str, int]:
    """Simulates every case into `folder`; its length in picoseconds by name."""
    changes = [] if setting is None else ["--set", setting]
    subprocess.run([SIMULATE, folder, *changes], check=True)
    return {place.name: program_ps(place) for place in sorted(folder.iterdir()) if (place / "truth.json").is_file()}


def recorded(folder: Path, runs: Path) -> dict[str, Run]:
    """The cases as runs, split with the machine that they were simulated on."""
    found = {}
    for place in sorted(folder.iterdir()):
        asynchronous = place.name.startswith("asynchronous_progress")
        request = Request(
            str(place / "traces.otf2"),
            str(runs / f"{place.name}.run"),
            machine=str(place / "machine.toml"),
            asynchronous_progress=asynchronous,
        )
        found[place.name] = Run.open(analyze(request))
    return found


def table(runs: dict[str, Run], lengths: dict[str, dict[str, int]]) -> float:
    """Prints the errors, a row per variant; the mean of all."""
    every: list[float] = []
    print(f"{'B':8}{'programs':>9}{'mean':>9}{'median':>9}{'worst':>9}{'covered':>9}  worst program (true change)")
    for variant, truth in lengths.items():
        name, _, factor = variant.partition("=")
        errors, covered = {}, 0
        for program, run in runs.items():
            found = predict(run, Ask(settings=(f"{name}=x{factor}",)))
            errors[program] = found.predicted_ps / truth[program] - 1
            covered += found.interval_ps[0] <= truth[program] <= found.interval_ps[1]
        sizes = np.abs(list(errors.values()))
        every += sizes.tolist()
        worst = max(errors, key=lambda program: abs(errors[program]))
        change = truth[worst] / runs[worst].manifest.clock.length_ps - 1
        print(
            f"{variant:8}{len(sizes):>9}{100 * sizes.mean():>8.2f}%{100 * np.median(sizes):>8.3f}%"
            f"{100 * errors[worst]:>8.1f}%{covered:>9}  {worst} ({100 * change:+.0f} %)",
            flush=True,
        )
    return float(np.mean(every))


def main() -> int:
    """Print the table; 1 where the bar is missed."""
    if not SIMULATE.is_file():
        print(f"{SIMULATE} is missing: cmake -S . -B build/dev -DLOGPOST_TESTS=ON, then build it", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        simulated(folder / "A", None)
        runs = recorded(folder / "A", folder / "runs")
        lengths = {variant: simulated(folder / variant, variant) for variant in VARIANTS}
        start = time.perf_counter()
        mean = table(runs, lengths)
        seconds = time.perf_counter() - start
        print(f"mean of all {100 * mean:.2f} % (bar {100 * MEAN_BAR:.0f} %); {seconds:.1f} s for all predictions")
    return int(mean > MEAN_BAR)
