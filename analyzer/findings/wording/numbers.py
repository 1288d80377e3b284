"""Numbers of findings as text: evidence, confidence and gain, with their units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from logpost.analyzer.words.location_names import named_of_number, named_text, spans_text
from logpost.analyzer.words.units import bytes_text, percent_text, time_text

LEVELS = {0.9: "high", 0.6: "medium", 0.3: "low"}
"""Confidence of what is measured, of what a model says of measured times, and of what has another explanation. Each is
a floor: at least that fraction of such statements is right (docs/accuracy.md has the table;
`python -m tests.truth.mutations` makes it, and ends with status 1 where a level is below its floor)."""


def evidence_text(evidence: Sequence[Mapping[str, Any]]) -> str:
    """The numbers with their units: `exposed: 77.0 ms; computing (relax): 100.0 %`."""
    several: dict[str, list[Mapping[str, Any]]] = {}
    for one in evidence:
        several.setdefault(one["name"], []).append(one)
    pieces: dict[str, None] = {}
    for one in evidence:
        name, unit = one["name"], one["unit"]
        if unit == "thread":
            value = spans_text(int(each["value"]) for each in several[name])
        elif unit.removesuffix("_in_order") in ("rank", "process"):
            named = [named_of_number(each) for each in several[name]]
            plain = unit.startswith("rank") and all(each.thread is None for each in named)
            if unit.endswith("_in_order"):
                value = " ← ".join(each.short if plain else each.text for each in named)
            else:
                value = spans_text(each.number for each in named) if plain else named_text(named)
        else:
            value = number_text(one["value"], unit)
        pieces.setdefault(f"{_words(name)}: {value}")
    return "; ".join(pieces)


def _words(name: str) -> str:
    head, bracket, place = name.partition("[")
    return head.replace("_", " ") + (f" ({place.removesuffix(']')})" if bracket else "")


def number_text(value: float, unit: str) -> str:
    """A number of the evidence with its unit."""
    if unit == "ps":
        return time_text(value)
    if unit == "B":
        return bytes_text(value)
    if unit == "1":
        return percent_text(value)
    if unit == "x":
        return f"{value:.2f} ×" if value < 9.995 else f"{value:,.1f} ×" if value < 99.95 else f"{value:,.0f} ×"
    return (
        (f"{value:,.0f}" if value % 1 == 0 else f"{value:,.1f}") if unit == "count" else f"{value:.4g} {unit}".rstrip()
    )


def confidence_text(confidence: float, certainty: str) -> str:
    """`high (0.9): compute time is measured`."""
    level = LEVELS[min(LEVELS, key=lambda level: abs(level - confidence))]
    return f"{level} ({confidence:.2g}): {certainty}"


TIME_SAVED = (
    "A time saved is a part of the slowest rank's program time: what a replay without all of the cause saves. A fix "
    "that leaves some of the cause saves less; another change may save more. In brackets: the interval of that replay, "
    "with the machine's values and what the trace does not show at their ends."
)
"""What a gain is, and its interval."""


def saved_text(gain: float) -> str:
    """`21.0 % of the time`: the share of the slowest rank's program time that a cure saves."""
    return f"{percent_text(gain)} of the time"


def gain_text(gain: float, low: float | None = None, high: float | None = None) -> str:
    """`time saved: 21.0 % (18.0 to 24.0 %)`."""
    return f"time saved: {between_text(gain, low, high)}"


def between_text(gain: float, low: float | None = None, high: float | None = None) -> str:
    """`21.0 % (18.0 to 24.0 %)`; without the ends where none is computed."""
    text = percent_text(gain)
    if low is None or high is None:
        return text
    ends = span_of(low, high)
    return f"{text} ({ends})" if ends else text


def span_of(low: float, high: float) -> str:
    """`18.0 to 24.0 %`; empty where both ends are the same to a reader."""
    ends = percent_text(low), percent_text(high)
    return "" if ends[0] == ends[1] else f"{ends[0].removesuffix(' %')} to {ends[1]}"
