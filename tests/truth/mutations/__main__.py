"""`python -m tests.truth.mutations [--seed N] [--single N] [--double N] [--clean N] [--keep DIR]` draws programs with
losses, plays them on the testbed and prints the table of `tests.truth.pairs`, and how often statements of each
confidence and kind are right; `--real` plays those with one loss on
this machine."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.truth.expected import HEADER, NOTHING, Verdict, below_floor, calibration, first_finding, line, summary
from tests.truth.pairs.judge import report

from .draw import clean, drawn
from .judge import NO_LOSS, on_testbed, on_this_machine, simulated
from .machine import machine
from .recorded import WORKLOADS, recorded


def main(words: Sequence[str]) -> int:
    """Exit status 1 where a program could not be played or analyzed, or what was stated is right less often than its
    confidence says."""
    parser = argparse.ArgumentParser(prog="tests.truth.mutations", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="the first program's; the others follow (default: 1)")
    parser.add_argument("--single", type=int, default=30, help="programs with one loss (default: 30)")
    parser.add_argument("--double", type=int, default=15, help="programs with two losses (default: 15)")
    parser.add_argument("--clean", type=int, default=10, help="programs without a loss (default: 10)")
    parser.add_argument("--recorded", type=int, default=10, help="papers' applications with one loss (default: 10)")
    parser.add_argument("--real", action="store_true", help="those with one loss, on this machine")
    parser.add_argument("--runs", type=int, default=5, help="with --real: runs of each variant (default: 5)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep programs, archives and runs there")
    chosen = parser.parse_args(words)
    with ExitStack() as stack:
        folder = chosen.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="logpost-mutations-")))
        folder = folder.absolute()
        seeds = range(chosen.seed, chosen.seed + chosen.single)
        if chosen.real:
            return table(
                "one loss, this machine",
                seeds,
                lambda seed: on_this_machine(drawn(seed, 1, real=True), folder / f"real_{seed}", chosen.runs),
                [],
            )
        every: list[Verdict] = []
        failed = table(
            "one loss, testbed",
            seeds,
            lambda seed: on_testbed(drawn(seed, 1), machine(seed, folder), folder / f"single_{seed}"),
            every,
        )
        failed += table(
            "two losses, testbed",
            range(chosen.seed, chosen.seed + chosen.double),
            lambda seed: on_testbed(drawn(seed, 2), machine(seed, folder), folder / f"double_{seed}"),
            every,
        )
        failed += table(
            "one loss in an application, testbed",
            range(chosen.seed, chosen.seed + chosen.recorded),
            lambda seed: application(seed, folder / f"recorded_{seed}"),
            every,
        )
        failed += without_loss(range(chosen.seed, chosen.seed + chosen.clean), folder)
        print("\nhow often what is stated is right\n", *calibration(every), sep="\n")
        return int(bool(failed or below_floor(every)))


def application(seed: int, folder: Path) -> Verdict:
    """One of the papers' applications with one loss."""
    names, place = sorted(WORKLOADS), machine(seed, folder)
    base = recorded(names[seed % len(names)], place, folder / "base")
    return on_testbed(drawn(seed, 1, base), place, folder)


def table(title: str, seeds: Sequence[int], judge: Callable[[int], Verdict], every: list[Verdict]) -> int:
    """Prints a line a program, and adds what was found to every verdict; how many failed."""
    print(f"\n{title}\n\n{HEADER}", flush=True)
    verdicts, failed = [], 0
    for seed in seeds:
        try:
            one = judge(seed)
        except Exception as failure:
            failed += 1
            print(f"seed {seed}: {failure}", file=sys.stderr)
            continue
        verdicts.append(one)
        print(line(one).replace("| ", f"| {seed} ", 1), flush=True)
    print(f"\n{summary(verdicts)}", flush=True)
    every += verdicts
    return failed


def without_loss(seeds: Sequence[int], folder: Path) -> int:
    """Prints what is found in programs without a loss; how many failed."""
    found, failed = [], 0
    print("\nno loss, computation varies by 5 %, testbed\n")
    for seed in seeds:
        try:
            program = clean(seed)
            _, archive = simulated(program, machine(seed, folder), folder / f"clean_{seed}")
            first = first_finding(report(archive, folder / f"clean_{seed}.run"))
        except Exception as failure:
            failed += 1
            print(f"seed {seed}: {failure}", file=sys.stderr)
            continue
        if first is not NOTHING and first.gain.middle >= NO_LOSS:
            found.append(f"{program.name} (seed {seed}): {first.kind}, {100 * first.gain.middle:.1f} %")
    print(f"something found beyond 1 % in {len(found)} of {len(seeds) - failed}: {'; '.join(found) or 'nothing'}")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
