"""A comparison of repeats as one JSON object: seconds as floats, efficiencies, gains and relative changes as
fractions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from logpost.analyzer.compare.repeats.compare import RepeatedChange, Repeats
from logpost.analyzer.compare.two_runs import (
    EFFICIENCY_PREFIX,
    GAIN,
    GROUPS,
    LENGTHS,
    REGION_PREFIX,
    WAIT_STATE_PREFIX,
    is_fraction,
)
from logpost.analyzer.render.compare.gate import is_share
from logpost.analyzer.render.repeats.gate import Decision
from logpost.analyzer.render.report.json import PS_PER_S, finding_json
from logpost.analyzer.report.efficiencies import NAMES
from logpost.analyzer.run.schema import WAIT_STATES
from logpost.analyzer.run.undivided import SHOWN
from logpost.analyzer.statistics.contrast import LEVEL


def as_json(repeats: Repeats, decisions: Iterable[Decision]) -> dict[str, Any]:
    """The object that `logpost compare A... --with B... --json` prints; its keys are a promise to scripts."""
    efficiencies = (f"{EFFICIENCY_PREFIX}{name}" for name in NAMES)
    states = (f"{WAIT_STATE_PREFIX}{name}" for name in WAIT_STATES)
    return {
        "a": [str(run.path) for run in repeats.before],
        "b": [str(run.path) for run in repeats.after],
        "level": LEVEL,
        "notes": [*repeats.warnings, *repeats.notes],
        "quantities": {
            change.name: _plain(change, 1 if is_fraction(change.name) else PS_PER_S)
            for change in repeats.changes([*LENGTHS, *SHOWN, *GROUPS, *efficiencies, *states, GAIN])
        },
        "regions": {change.name.removeprefix(REGION_PREFIX): _plain(change, PS_PER_S) for change in repeats.regions()},
        "renames": dict(repeats.comparisons[0].renames),
        "findings": {
            "gone": [finding_json(found) for found in repeats.gone],
            "new": [finding_json(found) for found in repeats.appeared],
        },
        "gates": [_gate(decision) for decision in decisions],
    }


def _plain(change: RepeatedChange, divisor: int) -> dict[str, Any]:
    contrast, relative = change.contrast, change.relative
    return {
        "a": [value / divisor for value in change.a],
        "b": [value / divisor for value in change.b],
        "difference": contrast.value / divisor,
        "interval": _interval(contrast.interval, divisor),
        "relative": relative if relative is not None and math.isfinite(relative) else None,
        "verdict": change.verdict,
    }


def _interval(interval: tuple[float, float] | None, divisor: float) -> list[float] | None:
    return None if interval is None else [end / divisor for end in interval]


def _gate(decision: Decision) -> dict[str, Any]:
    place = decision.slower
    divisor = 1 if is_fraction(decision.gate.name) or is_share(decision.gate) else PS_PER_S
    return {
        "expression": decision.gate.text,
        "outcome": decision.outcome,
        "above_limit": decision.contrast.value / divisor,
        "interval": _interval(decision.contrast.interval, divisor),
        "repeats_needed": decision.repeats_needed,
        "slower": None
        if place is None
        else {
            "category": place.category,
            "region": place.region,
            "rank": place.rank.removeprefix("rank "),
            "a_s": place.before_ps / PS_PER_S,
            "b_s": place.after_ps / PS_PER_S,
        },
        "sentence": decision.sentence,
    }
