"""Numbers of findings as text: evidence, confidence and gain, with their units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from logpost.analyzer.reporting.names import ranks_text
from logpost.analyzer.reporting.units import bytes_text, percent_text, time_text

SURE, LIKELY = 0.75, 0.45
"""Thresholds above which a confidence is high, or medium."""


def evidence_text(evidence: Sequence[Mapping[str, Any]]) -> str:
    """The numbers with their units: `exposed: 77.0 ms; computing (relax): 100.0 %`."""
    ranks: dict[str, list[int]] = {}
    for one in evidence:
        if one["unit"] in ("rank", "rank_in_order", "thread"):
            ranks.setdefault(one["name"], []).append(int(one["value"]))
    pieces: dict[str, None] = {}
    for one in evidence:
        name = one["name"]
        value = number_text(one["value"], one["unit"])
        if one["unit"] == "rank_in_order":
            value = " ← ".join(str(rank) for rank in ranks[name])
        elif name in ranks:
            value = ranks_text(ranks[name])
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
    return f"{value:,.0f}" if unit in ("count", "rank", "thread") else f"{value:.4g} {unit}".rstrip()


def confidence_text(confidence: float, certainty: str) -> str:
    """`high (0.9): compute time is measured`."""
    level = "high" if confidence >= SURE else "medium" if confidence >= LIKELY else "low"
    return f"{level} ({confidence:.2g}): {certainty}"


BOUNDS = (
    "A time saved bounds what the advised cure saves of the slowest rank's program time, as far as its replay or sums "
    "of times say it; another change may save more. In brackets: the same cure with the machine's values at their ends."
)
"""What a gain is, and its interval."""


def saved_text(gain: float) -> str:
    """`up to 21.0 % of the time`: the share of the slowest rank's program time that a cure saves at most."""
    return f"up to {percent_text(gain)} of the time"


def gain_text(gain: float, low: float | None = None, high: float | None = None) -> str:
    """`time saved: up to 21.0 % (18.0 to 24.0 %)`."""
    return f"time saved: {bound_text(gain, low, high)}"


def bound_text(gain: float, low: float | None = None, high: float | None = None) -> str:
    """`up to 21.0 % (18.0 to 24.0 %)`; without the ends where none is computed."""
    text = f"up to {percent_text(gain)}"
    if low is None or high is None:
        return text
    ends = span_of(low, high)
    return f"{text} ({ends})" if ends else text


def span_of(low: float, high: float) -> str:
    """`18.0 to 24.0 %`; empty where both ends are the same to a reader."""
    ends = percent_text(low), percent_text(high)
    return "" if ends[0] == ends[1] else f"{ends[0].removesuffix(' %')} to {ends[1]}"
