"""A comparison as one JSON object: seconds as floats, relative changes as fractions (null for nothing to something)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from logpost.analyzer.compare.change import Change
from logpost.analyzer.compare.two_runs import Comparison
from logpost.analyzer.render.compare.gate import Verdict
from logpost.analyzer.render.report.json import PS_PER_S, finding_json


def as_json(comparison: Comparison, verdicts: Iterable[Verdict]) -> dict[str, Any]:
    """The object that `logpost compare A B --json` prints; its keys are a promise to scripts."""
    return {
        "a": comparison.a.run,
        "b": comparison.b.run,
        "ranks": [comparison.a.ranks, comparison.b.ranks],
        "notes": [*comparison.warnings, *comparison.notes],
        **{f"{change.name}_s": _times(change) for change in comparison.lengths},
        "gains": {change.name: _plain(change, 1) for change in comparison.gains},
        "categories_s": {change.name: _times(change) for change in comparison.categories},
        "groups_s": {change.name: _times(change) for change in comparison.groups},
        "efficiencies": {change.name: _plain(change, 1) for change in comparison.efficiencies},
        "wait_states_s": {change.name: _times(change) for change in comparison.wait_states},
        "wait_state_counts": {change.name: _plain(change, 1) for change in comparison.wait_counts},
        "regions": [
            {
                "region": change.region,
                "was": change.was,
                "kind": change.kind,
                "time_s": _times(change.time),
                "count": _plain(change.count, 1),
            }
            for change in comparison.regions
        ],
        "findings": {
            "gone": [finding_json(found) for found in comparison.gone],
            "measured_saving": None if comparison.wall.relative is None else -comparison.wall.relative,
            "new": [finding_json(found) for found in comparison.appeared],
            "both": [{"a": finding_json(before), "b": finding_json(after)} for before, after in comparison.stayed],
        },
        "gates": [
            {"expression": verdict.gate.text, "fails": verdict.holds, "sentence": verdict.sentence}
            for verdict in verdicts
        ],
    }


def _times(change: Change) -> dict[str, float | None]:
    return _plain(change, PS_PER_S)


def _plain(change: Change, divisor: int) -> dict[str, float | None]:
    relative = change.relative
    return {
        "a": None if change.before is None else change.before / divisor,
        "b": None if change.after is None else change.after / divisor,
        "difference": None if change.difference is None else change.difference / divisor,
        "relative": relative if relative is not None and math.isfinite(relative) else None,
    }
