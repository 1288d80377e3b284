"""`--fail-if` expressions: conditions on a comparison that make a CI job fail.

    NAME OPERATOR VALUE        contention > +5%     wall >= +10 ms     late_sender > 20%     load_balance < 0.8

A value with a sign is a *change* from A to B: relative with `%`, absolute with a unit of time, in percentage points
with `pp` (efficiencies). A value without a sign is B's own: a time with its unit, a share of B's total time with `%`
(of 1 for efficiencies), or a plain fraction for efficiencies.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from logpost.analyzer.compare import Change, Comparison, names
from logpost.analyzer.efficiencies import NAMES
from logpost.analyzer.reporting.units import percent_text, time_text
from logpost.errors import InputError

_FORM = re.compile(
    r"\s*([A-Za-z_.]+)\s*(>=|<=|>|<)\s*([+\-\u2212]?)\s*(\d+(?:\.\d*)?(?:[eE][+\-]?\d+)?|\.\d+)\s*([^\s\d]*)\s*"
)
_TIMES = {"ps": 1, "ns": 10**3, "us": 10**6, "µs": 10**6, "μs": 10**6, "ms": 10**9, "s": 10**12}
_HOW = "write NAME > +5%, NAME > +3ms or NAME > 20%, as in 'contention > +5%'"


@dataclass(frozen=True)
class Gate:
    """A parsed expression."""

    text: str
    name: str
    operator: str
    is_change: bool
    value: float
    """signed where it is a change"""
    unit: str


@dataclass(frozen=True)
class Verdict:
    """Whether a gate's condition holds (then the job fails), and the figures that say so."""

    gate: Gate
    holds: bool
    sentence: str


def parse(text: str) -> Gate:
    """Parses one expression.

    Raises:
        InputError: it has another form, an unknown name, or a unit that does not fit the name.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise InputError(f"--fail-if {text!r} is not understood; {_HOW}")
    name, operator, sign, number, unit = match.groups()
    if name not in names() and name not in ("wait_at_barrier", "wait_at_nxn", "late_broadcast", "early_reduce"):
        raise InputError(f"--fail-if {text!r}: {name!r} is not known; known are {', '.join(names())}")
    allowed = ("%", "pp", "") if name in NAMES else ("%", *_TIMES)
    if unit not in allowed or (unit == "pp" and not sign) or (unit == "" and sign):
        fitting = (
            "%, pp (percentage points, with a sign) or a fraction without sign" if name in NAMES else "% or a time"
        )
        raise InputError(f"--fail-if {text!r}: {unit or 'no unit'!r} does not fit {name}; give {fitting}; {_HOW}")
    if name == "wall" and unit == "%" and not sign:
        raise InputError(
            f"--fail-if {text!r}: wall as a share of itself says nothing; give a sign for a change, or a time"
        )
    return Gate(
        text=text.strip(),
        name=name,
        operator=operator,
        is_change=bool(sign),
        value=-float(number) if sign not in ("", "+") else float(number),
        unit=unit,
    )


def check(gate: Gate, comparison: Comparison) -> Verdict:
    """Evaluates a gate.

    Raises:
        InputError: the quantity was not computed in one of the runs.
    """
    change = comparison.quantity(gate.name)
    if change is None or change.after is None or (gate.is_change and change.before is None):
        raise InputError(
            f"--fail-if {gate.text!r}: {gate.name} is not computed in "
            f"{'both runs' if change is None or change.before is None else 'run B'}; gate on another quantity"
        )
    measured = _measured(gate, change, comparison)
    bound = gate.value * {"%": 0.01, "pp": 0.01, "": 1.0}.get(gate.unit, float(_TIMES.get(gate.unit, 1)))
    holds = {
        ">": measured > bound,
        "<": measured < bound,
        ">=": measured >= bound,
        "<=": measured <= bound,
    }[gate.operator]
    return Verdict(gate, holds, f"{gate.text}: {_sentence(gate, change, measured)}: {'FAIL' if holds else 'ok'}")


def _measured(gate: Gate, change: Change, comparison: Comparison) -> float:
    after = change.after or 0.0
    if gate.is_change:
        if gate.unit == "%":
            return change.relative or 0.0
        return change.difference or 0.0
    if gate.unit == "%" and gate.name not in NAMES:
        total = comparison.total(before=False)
        return after / total if total else 0.0
    return after


def _sentence(gate: Gate, change: Change, measured: float) -> str:
    show = percent_text if gate.name in NAMES else time_text
    figures = f"{gate.name} is {show(change.after or 0.0)}"
    if gate.is_change:
        figures = f"{gate.name} went from {show(change.before or 0.0)} to {show(change.after or 0.0)}"
        relative = change.relative or 0.0
        if gate.unit == "%":
            figures += f" ({signed_percent(relative)})"
    elif gate.unit == "%" and gate.name not in NAMES:
        figures += f" ({percent_text(measured)} of the time of all ranks)"
    return figures


def signed_percent(relative: float) -> str:
    """`+12.5 %`, `-3.0 %`, `new` for nothing to something."""
    if relative in (float("inf"), float("-inf")):
        return "new"
    return f"{'+' if relative > 0 else ''}{percent_text(relative)}"
