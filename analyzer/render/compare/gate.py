"""`--fail-if` expressions: conditions on a comparison that make a CI job fail.

    NAME OPERATOR VALUE        contention > +5%     wall >= +10 ms     late_sender > 20%     load_balance < 0.8
                               start_up > +10%      gain > 15%         gain.late_receiver > 0.05
                               region.MPI_Allreduce > +20%            efficiency.serialization < 0.9

All are about the program between start-up and shut-down, `wall` its length on the slowest rank; only `start_up`,
`shut_down` and `run` (the whole) are about what is outside of it. `gain` is that of the first finding.

A value with a sign is a *change* from A to B: relative with `%`, absolute with a unit of time, in percentage points
with `pp` (efficiencies, gains). A value without a sign is B's own: a time with its unit, a share of B's total time with
`%` (of 1 for efficiencies and gains), or a plain fraction for these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from logpost.analyzer.compare.change import Change
from logpost.analyzer.compare.two_runs import LENGTHS, REGION_PREFIX, Comparison, compare, is_fraction, names
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import WAIT_STATES
from logpost.analyzer.words.units import change_text, percent_text, time_text
from logpost.errors import InputError, suggestion

_FORM = re.compile(
    r"\s*(region\.[^<>=]*[^<>=\s]|[A-Za-z_.]+)\s*(>=|<=|>|<)\s*([+\-\u2212]?)\s*(\d+(?:\.\d*)?(?:[eE][+\-]?\d+)?|\.\d+)\s*([^\s\d]*)\s*"
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
        raise InputError(f"--fail-if {text!r} is not a valid condition; {_HOW}")
    name, operator, sign, number, unit = match.groups()
    known = name in names() or name.startswith(REGION_PREFIX)
    if not known and name not in WAIT_STATES:
        raise InputError(
            f"--fail-if {text!r}: unknown name {name!r}; use one of {', '.join(names())}, or region.NAME"
            f"{suggestion(name, names())}"
        )
    allowed = ("%", "pp", "") if is_fraction(name) else ("%", *_TIMES)
    if unit not in allowed or (unit == "pp" and not sign) or (unit == "" and sign):
        fitting = (
            "%, pp (percentage points, with a sign) or a fraction without sign" if is_fraction(name) else "% or a time"
        )
        raise InputError(f"--fail-if {text!r}: {unit or 'no unit'!r} does not fit {name}; give {fitting}; {_HOW}")
    if name in ("wall", "run") and unit == "%" and not sign:
        raise InputError(
            f"--fail-if {text!r}: {name} as a share of itself is meaningless; add a sign for a change, or give a time"
        )
    return Gate(
        text=text.strip(),
        name=name,
        operator=operator,
        is_change=bool(sign),
        value=-float(number) if sign not in ("", "+") else float(number),
        unit=unit,
    )


def quantity_of(gate: Gate, comparison: Comparison) -> Change:
    """The gate's quantity.

    Raises:
        InputError: it was not computed in one of the runs.
    """
    change = comparison.quantity(gate.name)
    if change is None and gate.name.startswith(REGION_PREFIX):
        raise InputError(
            f"--fail-if {gate.text!r}: neither run has a region {gate.name.removeprefix(REGION_PREFIX)!r}; "
            "report RUN --json lists them under places"
        )
    if gate.name in comparison.undivided:
        raise InputError(
            f"--fail-if {gate.text!r}: an estimated machine does not distinguish {gate.name} from the rest of the "
            "transport; analyze both runs with --machine FILE, or gate on transport_undivided"
        )
    if change is None or change.after is None or (gate.is_change and change.before is None):
        raise InputError(
            f"--fail-if {gate.text!r}: {gate.name} is not computed in "
            f"{'both runs' if change is None or change.before is None else 'run B'}; gate on another quantity"
        )
    return change


def bound_of(gate: Gate) -> float:
    """The gate's limit: ps, or a fraction of 1."""
    return gate.value * {"%": 0.01, "pp": 0.01, "": 1.0}.get(gate.unit, float(_TIMES.get(gate.unit, 1)))


def exceeds(gate: Gate, measured: float, bound: float) -> bool:
    """Whether the gate's condition holds."""
    return {
        ">": measured > bound,
        "<": measured < bound,
        ">=": measured >= bound,
        "<=": measured <= bound,
    }[gate.operator]


def check(gate: Gate, comparison: Comparison) -> Verdict:
    """Evaluates a gate.

    Raises:
        InputError: the quantity was not computed in one of the runs.
    """
    change = quantity_of(gate, comparison)
    measured = _measured(gate, change, comparison)
    holds = exceeds(gate, measured, bound_of(gate))
    return Verdict(gate, holds, f"{gate.text}: {_sentence(gate, change, measured)}: {'FAIL' if holds else 'ok'}")


def check_alone(texts: Iterable[str], run: Run) -> list[Verdict]:
    """Evaluates gates on one run: on what it shares with itself.

    Raises:
        InputError: an expression is not valid, is about a change, or about what the run has not.
    """
    gates = [parse(text) for text in texts]
    for gate in gates:
        if gate.is_change:
            raise InputError(
                f"--fail-if {gate.text!r} is about a change between two runs; leave out the sign, or use compare"
            )
    comparison = compare(run, run)
    return [check(gate, comparison) for gate in gates]


def is_share(gate: Gate) -> bool:
    """Whether the gate is about a part of B's time."""
    return not gate.is_change and gate.unit == "%" and not is_fraction(gate.name)


def whole_of(gate: Gate, comparison: Comparison) -> float:
    """What such a part is of: lengths are of the slowest rank; what is outside of the program is a part of its whole
    time."""
    return comparison.b.slowest_wall_ps if gate.name in LENGTHS else comparison.total(before=False)


def _measured(gate: Gate, change: Change, comparison: Comparison) -> float:
    after = change.after or 0.0
    if gate.is_change:
        if gate.unit == "%":
            return change.relative or 0.0
        return change.difference or 0.0
    if is_share(gate):
        total = whole_of(gate, comparison)
        return after / total if total else 0.0
    return after


def _sentence(gate: Gate, change: Change, measured: float) -> str:
    show = percent_text if is_fraction(gate.name) else time_text
    figures = f"{gate.name} is {show(change.after or 0.0)}"
    if gate.is_change:
        figures = f"{gate.name} went from {show(change.before or 0.0)} to {show(change.after or 0.0)}"
        relative = change.relative or 0.0
        if gate.unit == "%":
            figures += f" ({signed_percent(relative)})"
    elif is_share(gate):
        figures += (
            f" ({percent_text(measured)} of the time of {'the slowest rank' if gate.name in LENGTHS else 'all ranks'})"
        )
    return figures


def signed_percent(relative: float) -> str:
    """`+12.5 %`, `-3.0 %`, `new` for nothing to something."""
    if relative in (float("inf"), float("-inf")):
        return "new"
    return change_text(relative, minus="-")
