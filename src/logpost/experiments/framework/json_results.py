"""The results as one JSON object: every number with its unit, its origin and its machine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from logpost.experiments.framework.result import Cell, Number, Result, Table
from logpost.experiments.framework.runner import Outcome


def as_json(outcomes: Sequence[Outcome], *, quick: bool, host: Sequence[str]) -> dict[str, Any]:
    """What `logpost experiments run --json` prints."""
    return {"quick": quick, "host": list(host), "experiments": [_outcome(outcome) for outcome in outcomes]}


def _outcome(outcome: Outcome) -> dict[str, Any]:
    one = outcome.experiment
    head = {
        "name": one.name,
        "title": one.title,
        "paper": one.paper,
        "where": one.where,
        "seconds": round(outcome.seconds, 2),
        "not_run": outcome.reason or None,
    }
    return head if outcome.result is None else {**head, **_result(outcome.result)}


def _result(result: Result) -> dict[str, Any]:
    return {
        "summary": result.summary,
        "claims": [
            {
                "text": c.text,
                "printed": c.printed,
                "reached": c.reached,
                "holds": c.holds,
                "standing": c.standing.value,
                "why": c.why or None,
            }
            for c in result.claims
        ],
        "tables": [_table(table) for table in result.tables],
        "differences": [{"what": d.what, "reason": d.reason} for d in result.differences],
        "notes": list(result.notes),
        "runs": [{"label": run.label, "path": run.path} for run in result.runs],
    }


def _table(table: Table) -> dict[str, Any]:
    return {
        "title": table.title,
        "reference": table.reference or None,
        "columns": [
            {"heading": c.heading, "origin": c.origin.name.lower(), "machine": c.machine or None} for c in table.columns
        ],
        "rows": [[_cell(cell, table.deviation(row, i)) for i, cell in enumerate(row)] for row in table.rows],
        "note": table.note,
    }


def _cell(cell: Cell, deviation: float | None) -> Any:
    if not isinstance(cell, Number):
        return cell
    value = cell.value if math.isfinite(cell.value) else None
    said: dict[str, Any] = {"value": value, "unit": cell.unit}
    if cell.error is not None:
        said["error"] = cell.error
    if deviation is not None:
        said["deviation"] = deviation
    return said
