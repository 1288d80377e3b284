"""Programs drawn from a seed: what the analysis says of programs, machines and clocks that are not in the repository.

A line a program: with its machine the part that is off most of all message time, and the first finding; with the
machine estimated from the trace the intervals that do not contain the truth, the part that is off most of the messages'
and of the ranks' time (undivided parts taken as one), the deficit, and the first finding. A fix of what one seed shows
is judged on a fresh seed.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.benchmarks._estimates import CONTAINED, MOST_OFF
from tests.truth.compare import span_of
from tests.truth.estimates import Estimated, judge_estimate
from tests.truth.programs import Judged, judge, judged_gains, simulate

PROGRAMS = 48
OFF_WITH_MACHINE = 0.05
RIGHT_FIRST, RIGHT_GAIN = 0.9, 0.9


def _line(exact: Judged, guess: Estimated) -> str:
    wrong = "; ".join(f"{w.name} [{w.low:.4g}, {w.high:.4g}] true {w.true:.4g}" for w in guess.wrong)
    return (
        f"{exact.name:28} {100 * exact.labels.category_error:5.1f} % {exact.labels.category:19} {_found(exact)}  |"
        f" {guess.points:2} of {guess.intervals:2} {len(guess.wrong):2} "
        f"{100 * max(guess.off_by, guess.off_account_by):5.1f} % {guess.off:19} {100 * guess.deficit:5.1f} %"
        f"{' refused' if guess.refused else ''} {_found(guess.judged)} {wrong}".rstrip()
    )


def _found(case: Judged) -> str:
    verdict = case.verdict
    marks = ("" if verdict.right else " WRONG") + ("" if case.gain_is_right else " GAIN")
    marks += "" if case.is_bounded else " MORE"
    gain = f"{100 * verdict.gain:5.1f} {span_of(verdict):15}"
    return f"{verdict.kind or '-':19} {gain} / {100 * verdict.true_gain:5.1f} %{marks:15}"


def _findings(what: str, cases: list[Judged]) -> bool:
    right, gains = sum(case.verdict.right for case in cases), sum(case.gain_is_right for case in cases)
    clean = [case.name for case in cases if case.clean and case.verdict.kind]
    print(f"{what}: first finding right {right} of {len(cases)}   bar {RIGHT_FIRST:.0%}")
    print(f"{what}: gain within a quarter {gains} of {len(cases)}   bar {RIGHT_GAIN:.0%}")
    print(f"{what}: found on clean programs: {', '.join(clean) or 'nothing'}   bar nothing")
    stated = judged_gains(cases)
    held = sum(case.is_bounded for case in stated)
    print(f"{what}: true gain no more than stated {held} of {len(stated)}")
    met = right >= RIGHT_FIRST * len(cases) and gains >= RIGHT_GAIN * len(cases)
    return met and not clean


def table(seed: int) -> bool:
    """Prints the table; whether the bars are met."""
    exact, guessed = [], []
    with tempfile.TemporaryDirectory() as folder:
        place, runs, others = (Path(folder) / name for name in ("cases", "runs", "estimates"))
        runs.mkdir()
        others.mkdir()
        for name in simulate(place, "--drawn", str(PROGRAMS), "--seed", str(seed)):
            exact.append(judge(place, name, runs))
            guessed.append(judge_estimate(place / name, others / name))
            print(_line(exact[-1], guessed[-1]), flush=True)
    some = [case for case in guessed if case.messages]
    labelled = sum(case.labels.category_error <= OFF_WITH_MACHINE for case in exact)
    contained = sum(not case.wrong for case in some)
    divided = sum(max(case.off_by, case.off_account_by) <= MOST_OFF for case in some)
    agree = sum(case.refused or case.deficit <= MOST_OFF for case in some)
    print(f"with the machine: no part off by more than {OFF_WITH_MACHINE:.0%} {labelled} of {len(exact)}   bar all")
    print(f"estimated: all intervals contain the truth {contained} of {len(some)}   bar {CONTAINED:.0%}")
    print(f"estimated: nothing divided off by more than {MOST_OFF:.0%} {divided} of {len(some)}   bar all")
    print(f"estimated: deficit of at most {MOST_OFF:.0%}, or refused {agree} of {len(some)}   bar all")
    measured, stated = sum(case.points for case in some), sum(case.intervals for case in some)
    print(f"of {stated} stated intervals {measured} measure, the others bound")
    found = [_findings("with the machine", exact), _findings("estimated", [case.judged for case in guessed])]
    return (
        all(found) and labelled == len(exact) and contained >= CONTAINED * len(some) and divided == agree == len(some)
    )
