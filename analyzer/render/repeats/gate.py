"""`--fail-if` where repeats show the noise: a gate fails, passes, or is inconclusive.

The condition becomes a contrast of the means (a relative change of +5 % is B - 1.05 A, a share is of each run's own
time), and it fails or passes only where the contrast's 95 % interval excludes 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from logpost.analyzer.compare.repeats.compare import RepeatedChange, Repeats
from logpost.analyzer.compare.repeats.slowdown import Slowdown, slowdown
from logpost.analyzer.compare.two_runs import REGION_PREFIX, is_fraction
from logpost.analyzer.render.compare.gate import (
    Gate,
    bound_of,
    exceeds,
    is_share,
    quantity_of,
    signed_percent,
    whole_of,
)
from logpost.analyzer.run.undivided import title
from logpost.analyzer.statistics.contrast import MOST_REPEATS, Contrast, Side
from logpost.analyzer.words.labels import folded
from logpost.analyzer.words.units import percent_text, safe, time_text

PASSES, FAILS, INCONCLUSIVE = "passes", "fails", "inconclusive"


@dataclass(frozen=True)
class Decision:
    """What the repeats say about a gate."""

    gate: Gate
    change: RepeatedChange
    contrast: Contrast
    """its value: by how much the quantity lies above the limit"""
    outcome: str
    """`PASSES`, `FAILS` or `INCONCLUSIVE`"""
    repeats_needed: int | None
    """runs of each side that would decide, if inconclusive; None: not known, or more than `MOST_REPEATS`"""
    slower: Slowdown | None
    """where most was added, if it fails"""

    @property
    def sentence(self) -> str:
        """One line: the figures, the limit, the outcome and what follows."""
        mark = {PASSES: "ok", FAILS: "FAIL", INCONCLUSIVE: "INCONCLUSIVE"}[self.outcome]
        return f"{self.gate.text}: {_figures(self)}: {mark}{_why(self)}"


def decide(gate: Gate, repeats: Repeats) -> Decision:
    """Evaluates a gate.

    Raises:
        InputError: the quantity was not computed in one of the runs.
    """
    change = repeats.change(gate.name)
    if change is None:
        for comparison in repeats.comparisons:
            quantity_of(gate, comparison)
    assert change is not None
    contrast = _contrast(gate, change, repeats)
    outcome = (FAILS if exceeds(gate, contrast.value, 0.0) else PASSES) if contrast.decided else INCONCLUSIVE
    return Decision(
        gate=gate,
        change=change,
        contrast=contrast,
        outcome=outcome,
        repeats_needed=contrast.repeats_to_decide() if outcome == INCONCLUSIVE else None,
        slower=slowdown(repeats, gate.name) if outcome == FAILS else None,
    )


def _contrast(gate: Gate, change: RepeatedChange, repeats: Repeats) -> Contrast:
    bound = bound_of(gate)
    a, b = Side.of(change.a), Side.of(change.b)
    if gate.is_change:
        return Contrast(a, b, weight_a=1 + bound) if gate.unit == "%" else Contrast(a, b, bound=bound)
    if is_share(gate):
        wholes_a = [comparison.total(before=True) for comparison in repeats.comparisons]
        wholes_b = [whole_of(gate, comparison) for comparison in repeats.comparisons]
        a, b = (
            Side.of([value / whole if whole else 0.0 for value, whole in zip(values, wholes, strict=False)])
            for values, wholes in ((change.a, wholes_a), (change.b, wholes_b))
        )
    return Contrast(a, b, weight_a=0.0, bound=bound)


def _figures(decision: Decision) -> str:
    gate, change, contrast = decision.gate, decision.change, decision.contrast
    show = percent_text if is_fraction(gate.name) else time_text
    means = change.contrast
    text = f"{gate.name} is {show(means.b.mean)}"
    if gate.is_change:
        text = f"{gate.name} went from {show(means.a.mean)} to {show(means.b.mean)}"
        if change.relative is not None and not is_fraction(gate.name):
            text += f" ({signed_percent(change.relative)})"
    if is_share(gate):
        text += f", {percent_text(contrast.b.mean)} of the time"
        show = percent_text
    side = "above" if contrast.value >= 0 else "below"
    text += f", {show(abs(contrast.value))} {side} the limit"
    interval = contrast.interval
    if interval is not None and interval[0] != interval[1]:
        low, high = sorted(interval if contrast.value >= 0 else (-interval[0], -interval[1]))
        text += f" (95 %: {show(low)} to {show(high)})"
    return text


def _why(decision: Decision) -> str:
    if decision.outcome == INCONCLUSIVE:
        if decision.contrast.interval is None:
            return "; one run of each shows no noise: give at least two of either"
        if decision.repeats_needed is None:
            return f"; the noise hides it even from {MOST_REPEATS} repeats of each"
        return f"; {decision.repeats_needed} repeats of each would decide, if means and scatter stay"
    place = decision.slower
    if place is None:
        return ""
    return (
        f"; most was added by {title(place.category)} in {safe(folded(place.region))} on {place.rank}: "
        f"{time_text(place.before_ps)} → {time_text(place.after_ps)}"
    )


def region_name(change: RepeatedChange) -> str:
    """A region's name for people."""
    return safe(folded(change.name.removeprefix(REGION_PREFIX)))
