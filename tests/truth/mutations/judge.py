"""Plays programs on the testbed or on this machine, and compares a report's first finding with the truth."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

from tests.truth.expected import NOTHING, Expected, Explained, First, Span, Verdict, first_finding, lost, risen, verdict
from tests.truth.pairs.build import COMPILERS, LAUNCHER, environment_of_ranks
from tests.truth.pairs.judge import logpost, recorded, report
from tests.truth.pairs.measure import gain

from .draw import Drawn
from .script import Program, source

COMPUTE_HEADER = Path(__file__).parents[3] / "collectors" / "workloads"
SECONDS = "seconds"
"""Of a program that was played, next to its archive."""
NO_LOSS = 0.01
"""A program that loses less than this has nothing to find."""


def simulated(program: Program, machine: Path, folder: Path) -> tuple[float, Path]:
    """Seconds of a program on the testbed, and its archive; of a folder that was kept, those of then."""
    lasts = folder / SECONDS
    if lasts.exists():
        (archive,) = folder.glob("*/traces.otf2")
        return float(lasts.read_text()), archive
    folder.mkdir(parents=True)
    file = folder / f"{program.name}.c"
    file.write_text(source(program))
    out = logpost("testbed", "run", "-q", "-m", machine, "-n", program.ranks, file, "-o", folder)
    said = re.search(r"^seconds ([0-9.]+)$", out, re.MULTILINE)
    if said is None:
        raise RuntimeError(f"{file} does not end: {out}")
    (archive,) = folder.glob("*/traces.otf2")
    lasts.write_text(said[1])
    return float(said[1]), archive


def built(program: Program, folder: Path) -> list[str]:
    """The command of a program on this machine, where computation needs no core."""
    folder.mkdir(parents=True)
    file = folder / f"{program.name}.c"
    file.write_text(source(program))
    binary = file.with_suffix("")
    flags = ["-g", "-O1", "-DSLEEP", f"-I{COMPUTE_HEADER}"]
    subprocess.run([COMPILERS["C"], *flags, "-o", str(binary), str(file)], check=True)
    return [LAUNCHER, "-n", str(program.ranks), str(binary)]


def on_testbed(drawn: Drawn, machine: Path, folder: Path) -> Verdict:
    """With two losses, the one that the finding fits better is compared; of equal ones, the larger; both, where it
    names the culprits of both. Of a program that
    has losses without them, too, the finding that these raise most is compared."""
    lasts, archive = simulated(drawn.program, machine, folder / "program")
    unharmed_lasts, unharmed = simulated(drawn.base, machine, folder / "without_any")
    said, before = report(archive, folder / "program.run"), report(unharmed, folder / "without_any.run")
    first, gains = risen(said, before, unharmed_lasts / lasts), []
    for number, without in enumerate(drawn.without):
        shorter, _ = simulated(without, machine, folder / f"without_{number}")
        gains.append(1 - shorter / lasts)
    nothing_to_find = max(gains) < NO_LOSS
    verdicts = [
        compared(drawn.name, drawn.program.ranks, Span(true, true, true), first, loss.expected, nothing_to_find)
        for loss, true in zip(drawn.losses, gains, strict=True)
    ]
    lost_s, whole_s, explained_s = lost(said)
    own_lost_s, _, own_explained_s = lost(before)
    if len(verdicts) > 1 and all(
        one.right and loss.expected.ranks for one, loss in zip(verdicts, drawn.losses, strict=True)
    ):
        both = 1 - unharmed_lasts / lasts  # a finding that names the culprits of both
        verdicts = [
            compared(drawn.name, drawn.program.ranks, Span(both, both, both), first, drawn.losses[0].expected, False)
        ]
    best = max(verdicts, key=lambda one: (one.cause + one.place + one.cure, one.true.middle))
    by_findings, in_truth = explained_s - own_explained_s, lost_s - own_lost_s
    return replace(best, explained=Explained(by_findings / whole_s, in_truth / whole_s) if whole_s else None)


def on_this_machine(drawn: Drawn, folder: Path, runs: int) -> Verdict:
    """The same for a single loss, measured."""
    (loss,), variables = drawn.losses, environment_of_ranks()
    lossy = built(drawn.program, folder / "program")
    true = gain(lossy, built(drawn.base, folder / "base"), variables, runs)
    first = first_finding(report(recorded(lossy, folder, variables), folder / "program.run"))
    return compared(drawn.name, drawn.program.ranks, true, first, loss.expected, true.high < NO_LOSS)


def compared(name: str, ranks: int, true: Span, first: First, expected: Expected, nothing_to_find: bool) -> Verdict:
    """Silence is right about losses that cost nothing, and wrong about all others."""
    if nothing_to_find and (first is NOTHING or first.gain.middle < NO_LOSS):
        return Verdict(name, ranks, true, first, True, True, True, True)
    return verdict(name, ranks, true, first, expected)
