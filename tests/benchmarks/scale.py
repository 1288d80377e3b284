"""Growth with the ranks against truth: programs recorded on SimGrid at some sizes, predicted for larger ones, and run.

The programs are those of `network_programs/traffic.c`, on a crossbar of as many nodes as ranks. Predicted from two and
from three sizes, with the replay and (`alone`) by growth only. A truth should lie within the interval in 90 % of the
cases; the bar for the mean error of predictions from three sizes is 10 %.

    python -m tests.benchmarks scale --held-out SEED --programs 8 --known 8,27,64 --targets 125

draws programs instead (pattern, bytes, iterations, computation), which were not seen while the rules were made. A fix
of what a seed shows is judged on a fresh seed.

Needs SimGrid (`logpost doctor`).
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from unittest.mock import patch

import numpy as np
from tests.benchmarks.network import HERE

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.supervise import analyze
from logpost.analyzer.predict.scale import scale, scaling
from logpost.analyzer.predict.scale.observed import observed
from logpost.analyzer.run.directory import Run
from logpost.errors import InputError
from logpost.testbed import run_on_testbed

MEAN_BAR = 0.10
COVERED_BAR = 0.90
PROGRAMS = {
    "halo": ("halo", "65536", "10", "50"),
    "halo, short": ("halo", "2048", "20", "20"),
    "cg": ("cg", "32768", "10", "50"),
    "pipeline": ("pipeline", "65536", "20", "50"),
    "transpose": ("transpose", "512", "4", "50"),
}
KNOWN = (27, 64, 125)
TARGETS = (216, 512)
SLOW = {("transpose", 512), ("pipeline", 512)}
"""Truths that take SimGrid many minutes."""
PATTERNS = ("halo", "cg", "pipeline", "transpose")
"""of the drawn programs; the partners of `random` are others on each number of ranks"""


def drawn(seed: int, count: int) -> dict[str, tuple[str, ...]]:
    """Programs by name: pattern, bytes, iterations, microseconds of computation."""
    chance = random.Random(seed)
    found: dict[str, tuple[str, ...]] = {}
    for i in range(count):
        pattern = PATTERNS[i % len(PATTERNS)]
        size = round(2 ** chance.uniform(6, 12 if pattern == "transpose" else 18))
        iterations = chance.randint(3, 6) if pattern == "transpose" else chance.randint(5, 20)
        compute_us = round(10 ** chance.uniform(0.5, 2.5))
        found[f"{pattern} {size}/{compute_us}"] = (pattern, str(size), str(iterations), str(compute_us))
    return found


def simulated(arguments: Sequence[str], ranks: int, folder: Path) -> Run:
    """A program on a crossbar of so many nodes, analyzed."""
    folder.mkdir(parents=True)
    archive = run_on_testbed(
        HERE / "cluster.toml",
        sources=[HERE / "traffic.c"],
        arguments=arguments,
        ranks=ranks,
        settings={"topology": f"crossbar:{ranks}"},
        output=folder,
    ).archive
    return Run.open(analyze(Request(str(archive / "traces.otf2"), f"{folder}.run")))


def table(
    programs: Iterable[str],
    run: Callable[[str, int], Run],
    known: tuple[int, ...] = KNOWN,
    targets: Sequence[int] = TARGETS,
) -> int:
    """Prints predictions next to truths; `run` gives the run of a program on so many ranks. 1 where a bar is missed."""
    errors: list[float] = []
    covered: list[bool] = []
    print(
        f"{'program':20}{'from':>14}{'to':>6}{'truth':>12}{'predicted':>12}{'interval':>22}{'error':>9}{'alone':>9}"
        "  most time"
    )
    for program in programs:
        for target in targets:
            if (program, target) in SLOW:
                continue
            truth_of = observed(run(program, target), [])
            truth = sum(time.mean for time in truth_of.times.values())
            first = max(truth_of.times, key=lambda name: truth_of.times[name].mean)
            for taken in (known[:2], known):
                runs = [run(program, size) for size in taken]
                sizes = ",".join(map(str, taken))
                try:
                    found = scale(runs, target)
                except InputError as refusal:
                    print(f"{program:20}{sizes:>14}{target:>6}{truth / 1e9:>9.3f} ms  refused: {refusal}")
                    continue
                with patch.object(scaling, "Enlarged", side_effect=InputError("growth alone")):
                    alone = scale(runs, target).total[-1].mean / truth - 1
                there = found.total[-1]
                error, inside = there.mean / truth - 1, there.low <= truth <= there.high
                covered.append(inside)
                if taken == known:
                    errors.append(abs(error))
                said = found.categories[0].name
                print(
                    f"{program:20}{sizes:>14}{target:>6}{truth / 1e9:>9.3f} ms{there.mean / 1e9:>9.3f} ms"
                    f"{there.low / 1e9:>10.3f}-{there.high / 1e9:.3f} ms{' ' if inside else '!'}"
                    f"{100 * error:>8.1f}%{100 * alone:>8.1f}%"
                    f"  {said}{'' if said == first else f' (in truth {first})'}",
                    flush=True,
                )
    if not errors:
        print("nothing was predicted from three sizes")
        return 1
    mean = float(np.mean(errors))
    print(
        f"from three sizes: mean error {100 * mean:.1f} % (bar {100 * MEAN_BAR:.0f} %), "
        f"worst {100 * max(errors):.1f} %; "
        f"within the interval {sum(covered)} of {len(covered)} (bar {100 * COVERED_BAR:.0f} %)"
    )
    return int(mean > MEAN_BAR or sum(covered) < COVERED_BAR * len(covered))


def main(options: Sequence[str] = ()) -> int:
    """Print the table; 1 where a bar is missed."""
    parser = argparse.ArgumentParser(prog="scale")
    parser.add_argument("--held-out", type=int, metavar="SEED")
    parser.add_argument("--programs", type=int, default=8)
    parser.add_argument("--known", type=_numbers, default=KNOWN)
    parser.add_argument("--targets", type=_numbers, default=TARGETS)
    chosen = parser.parse_args(options)
    programs = PROGRAMS if chosen.held_out is None else drawn(chosen.held_out, chosen.programs)
    if shutil.which("smpicc") is None:
        print("SimGrid is missing: apt install libsimgrid-dev", file=sys.stderr)
        return 1
    runs: dict[tuple[str, int], Run] = {}
    with tempfile.TemporaryDirectory() as name:

        def run(program: str, ranks: int) -> Run:
            key = (program, ranks)
            if key not in runs:
                runs[key] = simulated(programs[program], ranks, Path(name) / f"{list(programs).index(program)}_{ranks}")
            return runs[key]

        return table(programs, run, chosen.known, chosen.targets)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in text.split(","))
