"""Write an estimate as a machine file, because every run holds the machine that it was split with."""

from __future__ import annotations

import datetime
import re
from typing import Any

from logpost.analyzer.machine.estimate import TOTAL, Estimate, Interval
from logpost.machines import LOCALITIES, Machine, ReplayParameters
from logpost.machines.parameters import PARAMETERS
from logpost.machines.schema.write import to_toml

SOURCE = "TRACE"


def estimated_machine(parameters: ReplayParameters, guess: Estimate, notes: list[str], date: datetime.date) -> str:
    """The text of a machine file whose replay parameters are these, to the last bit, with the interval of each."""
    classes: dict[str, Any] = {}
    totals = []
    for name in guess.classes or ("other_node",):
        table: dict[str, Any] = {"range": [_range(parameters, guess, name)]}
        if (limit := parameters.eager_limit(name)) is not None:
            table["eager_limit"] = _quantity(float(limit), "B")
        classes[name] = table
        totals += [
            f"{name}: {TOTAL} between {known.low:.6g} and {known.high:.6g} ps: {known.reason}"
            for parameter, _, known in (guess.stated(name, parameters) if name in guess.classes else ())
            if parameter == TOTAL
        ]
    raw = {
        "format": 1,
        "name": re.sub(r"[^a-z0-9_.-]", "-", parameters.machine.lower()).lstrip("_.-") or "estimate",
        "title": f"Estimate from the trace {parameters.machine}",
        "date": date.isoformat(),
        "kind": "measurement",
        "notes": [*notes, *totals],
        "sources": {SOURCE: {"kind": "estimate", "text": "calls and messages of the trace itself"}},
        "nic": {"per_node": _quantity(float(parameters.nics_per_node), "1")},
        "loggp": classes,
    }
    return to_toml(Machine.model_validate(raw))


def _range(parameters: ReplayParameters, guess: Estimate, name: str) -> dict[str, Any]:
    row = int(parameters.class_start[LOCALITIES.index(name)])
    known = {p: interval for p, _, interval in guess.stated(name, parameters)} if name in guess.classes else {}
    values: dict[str, Any] = {}
    for parameter, column in PARAMETERS.items():
        unit = "ps/B" if column.endswith("per_byte") else "ps"
        values[parameter] = _quantity(float(getattr(parameters, column)[row]), unit, known.get(parameter))
    return values


def _quantity(value: float, unit: str, known: Interval | None = None) -> dict[str, Any]:
    given: dict[str, Any] = {"value": value, "unit": unit, "source": SOURCE, "basis": "estimated"}
    if known is None:
        return given
    if known.bound_only:
        given["note"] = f"a bound only, not a measurement: {known.reason}"
    else:
        given |= {"note": known.reason, "samples": known.n}
    return {**given, "interval": (known.low, known.high)}
