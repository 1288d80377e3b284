"""Machines estimated from traces of programs of known cause, compared with the machines that they ran on.

A line a program and setting (clock, machine): how many intervals were stated, of them those that measure, and how many
do not contain the truth; the part that is off most of all message time and of the ranks' time in calls, undivided parts
taken as one; the deficit. Bars: every stated interval of a case contains the truth in 90 of 96 cases; nothing that is
divided is off by more than 10 %, nor is there a deficit beyond 10 % in an estimate that is not refused.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.truth.estimates import Estimated, judge_estimate
from tests.truth.programs import simulate

SETTINGS: Mapping[str, tuple[str, ...]] = {
    "exact": (),
    "coarse": ("--tick", "100000", "--noise", "50000"),
    "short": ("--set", "L=0.2", "--set", "o_s=0.5", "--set", "G=0.3", "--set", "g=2"),
    "slow": ("--set", "o_r=3", "--set", "L=3", "--tick", "1000", "--noise", "20000", "--seed", "5"),
}
"""Name -> options of the simulator."""
CONTAINED = 90 / 96
MOST_OFF = 0.10


def _line(setting: str, case: Estimated) -> str:
    wrong = "; ".join(f"{w.name} [{w.low:.4g}, {w.high:.4g}] true {w.true:.4g}" for w in case.wrong)
    return (
        f"{case.name:26} {setting:7} {case.points:2} of {case.intervals:2} {len(case.wrong):5}  "
        f"{100 * case.off_by:5.1f} % {case.off:20} {100 * case.off_account_by:5.1f} % {case.off_account:20} "
        f"{100 * case.deficit:5.1f} %{' refused' if case.refused else ''} {wrong}".rstrip()
    )


def table() -> bool:
    """Prints the table; whether the bars are met."""
    print(
        f"{'program':26} {'setting':7} measured  wrong  {'off most, messages':28} {'off most, ranks':28} deficit",
    )
    cases = []
    for setting, options in SETTINGS.items():
        with tempfile.TemporaryDirectory() as folder:
            place, runs = Path(folder) / "cases", Path(folder) / "runs"
            runs.mkdir()
            for name in simulate(place, *options):
                cases.append(judge_estimate(place / name, runs / name))
                print(_line(setting, cases[-1]), flush=True)
    some = [case for case in cases if case.messages]
    contained = sum(not case.wrong for case in some)
    divided = sum(max(case.off_by, case.off_account_by) <= MOST_OFF for case in some)
    agree = sum(case.refused or case.deficit <= MOST_OFF for case in some)
    print(f"all intervals contain the truth {contained} of {len(some)}   bar {CONTAINED:.0%}")
    print(f"nothing divided off by more than {MOST_OFF:.0%} {divided} of {len(some)}   bar {len(some)}")
    print(f"deficit of at most {MOST_OFF:.0%}, or refused {agree} of {len(some)}   bar {len(some)}")
    measured, stated = sum(case.points for case in some), sum(case.intervals for case in some)
    print(f"of {stated} stated intervals {measured} measure, the others bound")
    return contained >= CONTAINED * len(some) and divided == agree == len(some)
