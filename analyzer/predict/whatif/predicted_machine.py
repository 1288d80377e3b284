"""The machine of a scenario as a machine file: readers of a predicted run compute with the replay's values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from logpost.analyzer.predict.whatif.mapping import Seats
from logpost.analyzer.predict.whatif.plan import Plan
from logpost.machines import LOCALITIES, Machine, ReplayParameters, replay_parameters
from logpost.machines.parameters import NO_SIDES, PARAMETERS, UNLIMITED
from logpost.machines.schema.write import to_toml

SOURCE = "whatif"


def predicted_machine(plan: Plan) -> str | None:
    """The text of the machine file; None: it is that of the machine which was named, or recorded, unchanged."""
    machine, values = plan.machine, plan.planned.machine
    stated = replay_parameters(machine)
    tables: dict[str, Any] = {}
    values = _measured_from_here(values, stated)
    if not values.same_messages(stated):
        tables["loggp"] = _classes(values)
    if values.nics_per_node != stated.nics_per_node:
        tables["nic"] = {"per_node": _quantity(values.nics_per_node, "1")}
    if values.log3p is None and stated.log3p is not None:
        tables["log3p"] = {"point": []}
    if values.beyond_loggp.bursts is None and stated.beyond_loggp.bursts is not None:
        tables["overlap"] = {"o": []}
    if values.beyond_loggp.G_m_ps_per_byte is None and stated.beyond_loggp.G_m_ps_per_byte is not None:
        tables["logpc"] = {"G_m": None, "header_before_interrupt": None}
    if (per_hop := values.beyond_loggp.per_hop_ps) != stated.beyond_loggp.per_hop_ps:
        tables["network"] = {"per_hop_message": None if per_hop is None else _quantity(per_hop, "ps")}
        if machine.topology is not None:
            tables["topology"] = {"per_hop": tables["network"]["per_hop_message"]}
    seats = plan.seats()
    if plan.planned.elsewhere is not None and seats is not None and machine.topology is not None:
        tables["mapping"] = _as_list(plan.seated(seats))
    if not tables and machine is plan.runs_on:
        return None
    return to_toml(Machine.model_validate(_with_tables(machine, tables, plan)))


def _measured_from_here(values: ReplayParameters, stated: ReplayParameters) -> ReplayParameters:
    """A file's L holds for the mean distance of its own topology: L(h) = L + per_hop (h - mean) stays what it was."""
    per_hop, mean = values.beyond_loggp.per_hop_ps, stated.beyond_loggp.mean_hops
    recorded = values.beyond_loggp.mean_hops
    if not per_hop or mean is None or recorded is None or mean == recorded:
        return values
    rows = np.isin(values.class_id, np.flatnonzero(values.class_origin == LOCALITIES.index("other_node")))
    moved = np.where(rows, np.maximum(values.L_ps + per_hop * (mean - recorded), 0), values.L_ps)
    columns: dict[str, Any] = {"L_ps": np.rint(moved).astype(values.L_ps.dtype)}
    return replace(values, **columns)


def _classes(values: ReplayParameters) -> dict[str, Any]:
    """Every class whose values are not another one's, in picoseconds."""
    found: dict[str, Any] = {}
    for c, name in enumerate(LOCALITIES):
        donor = int(values.class_origin[c])
        if donor != c and _rows(values, c) == _rows(values, donor):
            continue
        table: dict[str, Any] = {"range": _rows(values, c)}
        if (limit := values.eager_limit(name)) is not None:
            table["eager_limit"] = _quantity(limit, "B")
        found[name] = table
    return found


def _rows(values: ReplayParameters, c: int) -> list[dict[str, Any]]:
    rows = []
    for row in range(int(values.class_start[c]), int(values.class_start[c + 1])):
        upper = int(values.max_bytes[row])
        one: dict[str, Any] = {} if upper == UNLIMITED else {"up_to_bytes": upper}
        for parameter, column in PARAMETERS.items():
            one[parameter] = _quantity(
                float(getattr(values, column)[row]),
                "ps/B" if column.endswith("per_byte") else "ps",
                float(values.errors[column][row]),
                values.sides[column][row].tolist(),
            )
        rows.append(one)
    return rows


def _quantity(
    value: float, unit: str, error: float = float("nan"), sides: Sequence[float] = NO_SIDES
) -> dict[str, Any]:
    known: dict[str, Any] = {} if np.isnan(error) else {"uncertainty": error}
    if not np.isnan(sides).any():
        known = {"interval": (max(0.0, value - sides[0]), value + sides[1])}
    return {"value": value, "unit": unit, "source": SOURCE, "basis": "estimated", **known}


def _as_list(seats: Seats) -> dict[str, Any]:
    return {"kind": "list", "nodes_of_ranks": seats.nodes.tolist()}


def _with_tables(machine: Machine, tables: dict[str, Any], plan: Plan) -> dict[str, Any]:
    """The machine's document with some keys of its tables replaced; a table of values of messages is replaced whole."""
    document = machine.model_dump(exclude_none=True, by_alias=True)
    for name, table in tables.items():
        merged = table if name in ("loggp", "mapping") else {**document.get(name, {}), **table}
        document[name] = {key: item for key, item in merged.items() if item is not None}
    text = f"{machine.name} of {machine.date} with {', '.join(plan.ask.settings) or 'other places of ranks'}"
    document["sources"][SOURCE] = {"kind": "estimate", "text": text}
    document["name"] = f"{machine.name.removesuffix('-whatif')}-whatif"
    return document
