"""A machine that was estimated from a program of known cause, and the machine that the program ran on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from logpost.analyzer.machine.estimate import TOTAL
from logpost.analyzer.run.manifest import MachineValue
from logpost.analyzer.run.schema import CATEGORIES
from logpost.analyzer.run.undivided import UNDIVIDED, merged
from logpost.machines import LOCALITIES, replay_parameters
from logpost.machines.parameters import PARAMETERS
from logpost.machines.schema.load import load_machine_file

from .compare import parts_of, true_parts, truth_of
from .programs import Judged, analyzed, judged


@dataclass(frozen=True)
class Wrong:
    """A stated interval that does not contain the truth; ps, or ps/B."""

    name: str
    low: float
    high: float
    true: float


@dataclass(frozen=True)
class Estimated:
    """What an analysis without a machine file said of a program whose machine is known."""

    name: str
    messages: int
    intervals: int
    """that were stated"""
    points: int
    """of them those that are no mere bounds"""
    wrong: tuple[Wrong, ...]
    undivided: tuple[str, ...]
    off: str
    """the part of all message time that is off most, undivided parts taken as one"""
    off_by: float
    """by how much of all message time"""
    off_account: str
    """likewise of the ranks' time in communication calls"""
    off_account_by: float
    deficit: float
    """over the sum of envelopes"""
    refused: bool
    judged: Judged
    """what is said of the program's cause"""


def judge_estimate(case: Path, run_path: Path) -> Estimated:
    """Analyzes a simulated case with the machine that the trace shows, and compares both with the truth."""
    run, truth = analyzed(case, run_path, "estimate"), truth_of(case)
    machine = run.manifest.machine
    known = replay_parameters(load_machine_file(case / "machine.toml"))
    stated = [v for v in machine.values if v.low is not None and v.high is not None]
    wrong = []
    for value in stated:
        c = LOCALITIES.index(value.locality)
        row = int(known.class_start[c])
        true = _true(value, known, row)
        assert value.low is not None
        assert value.high is not None
        if not value.low <= true <= value.high:
            wrong.append(Wrong(f"{value.locality} {value.parameter}", value.low, value.high, true))
    off, by = _most_off(parts_of(run), true_parts(truth), machine.undivided)
    rows = run.table("accounting").group_by(pl.col("category").cast(pl.String)).agg(pl.col("exposed_ps").sum())
    exposed = {c: int(t) for c, t in rows.collect().iter_rows() if c != "compute"}
    true_exposed = {c: sum(a.get(c, 0) for a in truth["accounts"]) for c in CATEGORIES if c != "compute"}
    off_account, account_by = _most_off(exposed, true_exposed, machine.undivided)
    return Estimated(
        name=case.name,
        messages=run.manifest.messages,
        intervals=len(stated),
        points=sum(not v.bound_only for v in stated),
        wrong=tuple(wrong),
        undivided=tuple(machine.undivided),
        off=off,
        off_by=by,
        off_account=off_account,
        off_account_by=account_by,
        deficit=machine.deficit_share,
        refused=machine.refused,
        judged=judged(case, run),
    )


def _true(value: MachineValue, known: Any, row: int) -> float:
    if value.parameter == TOTAL:
        return float(known.L_ps[row] + known.o_s_ps[row] + known.o_r_ps[row])
    return float(getattr(known, PARAMETERS[value.parameter])[row])


def _most_off(ours: Mapping[str, int], true: Mapping[str, int], undivided: Sequence[str]) -> tuple[str, float]:
    """The part that differs most, over all time."""
    whole = max(1, sum(true.values()))
    mine, theirs = merged(ours, undivided), merged(true, undivided)
    errors = {part: abs(mine.get(part, 0) - theirs.get(part, 0)) / whole for part in {*mine, *theirs}}
    worst = max(errors, key=lambda part: (errors[part], part), default=UNDIVIDED)
    return worst, errors.get(worst, 0.0)
