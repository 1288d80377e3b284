"""Write an estimate as a machine file, because every run holds the machine that it was split with."""

from __future__ import annotations

import datetime
import re
from typing import Any

import numpy as np

from logpost.machines import LOCALITIES, Machine, ReplayParameters
from logpost.machines.parameters import PARAMETERS, UNLIMITED
from logpost.machines.schema.write import to_toml

SOURCE = "TRACE"


def estimated_machine(parameters: ReplayParameters, notes: list[str], date: datetime.date) -> str:
    """The text of a machine file whose replay parameters are these, to the last bit."""
    classes: dict[str, Any] = {}
    for c, name in enumerate(LOCALITIES):
        if int(parameters.class_origin[c]) != c:
            continue
        rows = range(int(parameters.class_start[c]), int(parameters.class_start[c + 1]))
        table: dict[str, Any] = {"range": [_range(parameters, row) for row in rows]}
        if (limit := parameters.eager_limit(name)) is not None:
            table["eager_limit"] = _quantity(float(limit), "B", float("nan"))
        classes[name] = table
    raw = {
        "format": 1,
        "name": re.sub(r"[^a-z0-9_.-]", "-", parameters.machine.lower()).lstrip("_.-") or "estimate",
        "title": f"Estimate from the trace {parameters.machine}",
        "date": date.isoformat(),
        "kind": "measurement",
        "notes": notes,
        "sources": {SOURCE: {"kind": "estimate", "text": "lower envelope of the message times of the trace itself"}},
        "nic": {"per_node": _quantity(float(parameters.nics_per_node), "1", float("nan"))},
        "loggp": classes,
    }
    return to_toml(Machine.model_validate(raw))


def _range(parameters: ReplayParameters, row: int) -> dict[str, Any]:
    upper = int(parameters.max_bytes[row])
    values: dict[str, Any] = {} if upper == UNLIMITED else {"up_to_bytes": upper}
    for name, column in PARAMETERS.items():
        unit = "ps/B" if column.endswith("per_byte") else "ps"
        value = float(getattr(parameters, column)[row])
        values[name] = _quantity(value, unit, float(parameters.errors[column][row]))
    return values


def _quantity(value: float, unit: str, error: float) -> dict[str, Any]:
    given = {"value": value, "unit": unit, "source": SOURCE, "basis": "estimated"}
    return given if np.isnan(error) else {**given, "uncertainty": error}
