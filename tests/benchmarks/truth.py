"""Labels and findings judged on programs of known cause: `make setup` builds their simulator.

A line a program: the message part that is off most (share of all message time), the share of the time in MPI that has
the right label, the first finding, and its gain next to what the cure really saves. Bars: labels within 5 % and 95 %;
the first finding right in 90 % of the programs, the gain within a quarter of the true one in 90 %, nothing said of
clean ones. Counted without a bar: true gains that are no more than stated.

Then the same programs without their machine file, see `_estimates`; with `--held-out SEED` programs that are drawn from
a seed instead of all these, see `_held_out`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks import _held_out
from tests.benchmarks._estimates import table
from tests.truth.compare import span_of
from tests.truth.programs import SIMULATE, Judged, judge, judged_gains, simulate

RIGHT_FIRST, RIGHT_GAIN = 0.9, 0.9
MOST_OFF, RIGHTLY_LABELLED = 0.05, 0.95


def _line(case: Judged) -> str:
    labels, verdict = case.labels, case.verdict
    return (
        f"{case.name:26} {100 * labels.category_error:5.1f} % {labels.category:20} {100 * labels.all_ranks:5.1f} %  "
        f"{verdict.expected or '-':20} {verdict.kind or '-':20} {'right' if verdict.right else 'WRONG'}  "
        f"{100 * verdict.gain:5.1f} % {span_of(verdict):15} {100 * verdict.true_gain:5.1f} % "
        f"{'' if case.gain_is_right else 'WRONG'}{'' if case.is_bounded else ' MORE'}".rstrip()
    )


def main(options: Sequence[str] = ()) -> int:
    """Print the table; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(prog="truth")
    parser.add_argument("--held-out", type=int, metavar="SEED", help="take programs drawn from this seed")
    seed = parser.parse_args(options).held_out
    if not SIMULATE.exists():
        print(f"{SIMULATE}: not built; run make setup", file=sys.stderr)
        return 1
    if seed is not None:
        return 0 if _held_out.table(seed) else 1
    print(f"{'program':26} {'off most':28} labelled  {'cause':20} {'first finding':20}        gain           true")
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        place, runs = Path(folder) / "cases", Path(folder) / "runs"
        runs.mkdir()
        for name in simulate(place):
            cases.append(judge(place, name, runs))
            print(_line(cases[-1]), flush=True)
    labelled = [
        case for case in cases if case.labels.category_error <= MOST_OFF and case.labels.all_ranks >= RIGHTLY_LABELLED
    ]
    right = sum(case.verdict.right for case in cases)
    gains = sum(case.gain_is_right for case in cases)
    clean = [case.name for case in cases if case.clean and case.verdict.kind]
    print(f"rightly labelled {len(labelled)} of {len(cases)}   bar {len(cases)}")
    print(f"first finding right {right} of {len(cases)}   bar {RIGHT_FIRST:.0%}")
    print(f"gain within a quarter {gains} of {len(cases)}   bar {RIGHT_GAIN:.0%}")
    stated = judged_gains(cases)
    held = sum(case.is_bounded for case in stated)
    print(f"true gain no more than stated {held} of {len(stated)}")
    print(f"found on clean programs: {', '.join(clean) or 'nothing'}   bar nothing")
    met = len(labelled) == len(cases) and right >= RIGHT_FIRST * len(cases)
    met = met and gains >= RIGHT_GAIN * len(cases)
    print("\nestimated machines")
    return 0 if table() and met and not clean else 1
