"""Whether the stated interval of a what-if prediction contains the truth, and how wide it is.

Programs of known cause (tests/truth) are recorded on machine A, predicted for B, and simulated on B. B has one of A's
values multiplied. Each is predicted twice: with A's own machine file, and with the machine estimated from the trace.
`written` are the programs that are written down, with exact clocks and with clocks of 100 ns ticks and 50 ns noise;
`drawn` are drawn from a seed, each with a separate machine and clock. A fix of what one seed shows is judged on a
fresh seed: `--seed N`, and `--only drawn`.

Covered: the truth lies within the interval. Half width and error are medians over the cases, in % of the truth. Wide:
cases whose half width is above both 10 times the error and 10 % of the truth. Bar: 90 % covered in all rows that sum
up.

Needs build/dev/truth/simulate (CMake's -DLOGPOST_TESTS=ON).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tests.analyzer.in_process import analyze
from tests.truth.programs import SIMULATE, program_ps, simulate

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.predict.whatif import Ask
from logpost.analyzer.predict.whatif.ask import Replay
from logpost.analyzer.run.directory import Run

VARIANTS = ("L=4", "L=0.25", "L=20", "o_s=4", "o_r=4", "g=4", "G=4", "G=0.25")
CLOCKS = {"exact": (), "coarse": ("--tick", "100000", "--noise", "50000")}
MACHINES = ("stated", "estimated")
PROGRAMS, SEED = 32, 3101
COVERED = 0.9


@dataclass(frozen=True)
class Case:
    """A prediction and the truth; ps."""

    programs: str
    machine: str
    variant: str
    name: str
    measured: int
    predicted: int
    low: int
    high: int
    true: int

    @property
    def covered(self) -> bool:
        """The truth lies within the interval."""
        return self.low <= self.true <= self.high

    @property
    def error(self) -> float:
        """(predicted - true) / true"""
        return self.predicted / self.true - 1

    @property
    def half_width(self) -> float:
        """Half of the interval over the truth."""
        return (self.high - self.low) / 2 / self.true

    @property
    def wide(self) -> bool:
        """Says little of a prediction that is good."""
        return self.half_width > max(0.1, 10 * abs(self.error))


def predictions(programs: str, options: Sequence[str], folder: Path) -> Iterator[Case]:
    """Every program on every B, with both machines."""
    names = simulate(folder / "A", *options)
    truth = {}
    for variant in VARIANTS:
        simulate(folder / variant, *options, "--set", variant)
        for name in names:
            truth[name, variant] = program_ps(folder / variant / name)
    for name in names:
        place = folder / "A" / name
        asynchronous = json.loads((place / "truth.json").read_text()).get("asynchronous_progress", False)
        for machine in MACHINES:
            request = Request(
                str(place / "traces.otf2"),
                str(folder / f"{name}.{machine}.run"),
                machine=str(place / "machine.toml") if machine == "stated" else "estimate",
                asynchronous_progress=asynchronous or name.startswith("asynchronous_progress"),
            )
            replay = Replay(Run.open(analyze(request)))
            for variant in VARIANTS:
                parameter, _, factor = variant.partition("=")
                found = replay.predict(Ask(settings=(f"{parameter}=x{factor}",)))
                yield Case(
                    programs,
                    machine,
                    variant,
                    name,
                    found.measured_ps,
                    found.predicted_ps,
                    *found.interval_ps,
                    truth[name, variant],
                )


def line(what: str, cases: Sequence[Case]) -> bool:
    """Prints a row; whether the bar is met."""
    covered = sum(case.covered for case in cases)
    widths, errors = (
        [100 * value for value in values]
        for values in ((case.half_width for case in cases), (abs(case.error) for case in cases))
    )
    print(
        f"{what:34}{len(cases):>7}{100 * covered / len(cases):>9.1f}%{np.median(widths):>11.2f}%"
        f"{np.percentile(widths, 90):>9.1f}%{np.median(errors):>9.2f}%{np.percentile(errors, 90):>9.1f}%"
        f"{sum(case.wide for case in cases):>7}",
        flush=True,
    )
    return covered >= COVERED * len(cases)


def main(options: Sequence[str] = ()) -> int:
    """Print the table; 1 where the bar is missed."""
    parser = argparse.ArgumentParser(prog="coverage")
    parser.add_argument("--seed", type=int, default=SEED, help="of the drawn programs")
    parser.add_argument("--programs", type=int, default=PROGRAMS, help="how many are drawn")
    parser.add_argument("--only", choices=("written", "drawn"))
    parser.add_argument("--cases", type=Path, help="write every case to this file (JSON lines)")
    chosen = parser.parse_args(options)
    if not SIMULATE.is_file():
        print(f"{SIMULATE}: not built; run make setup", file=sys.stderr)
        return 1
    groups = {f"written, {clock}": of for clock, of in CLOCKS.items()} if chosen.only != "drawn" else {}
    if chosen.only != "written":
        groups[f"drawn {chosen.seed}"] = ("--drawn", str(chosen.programs), "--seed", str(chosen.seed))
    cases: list[Case] = []
    for programs, of in groups.items():
        with tempfile.TemporaryDirectory() as folder:
            for case in predictions(programs, of, Path(folder)):
                cases.append(case)
                if chosen.cases:
                    with chosen.cases.open("a") as file:
                        file.write(json.dumps({**case.__dict__}) + "\n")
    print(f"{'':34}{'cases':>7}{'covered':>10}{'half width':>12}{'90th':>10}{'error':>10}{'90th':>10}{'wide':>7}")
    met = []
    for programs in groups:
        for machine in MACHINES:
            own = [case for case in cases if (case.programs, case.machine) == (programs, machine)]
            for variant in VARIANTS:
                line(f"  {variant}", [case for case in own if case.variant == variant])
            met.append(line(f"{programs}, {machine} machine", own))
    met.append(line("all", cases))
    return 0 if all(met) else 1
