"""What the efficiencies over time say, in a line."""

from __future__ import annotations

from collections.abc import Sequence

from logpost.analyzer.efficiency_windows import Stretch, lowest
from logpost.analyzer.reporting.units import percent_text, span_text


def lowest_text(stretches: Sequence[Stretch]) -> str:
    """When parallel efficiency is lowest, and why; empty where time is not divided."""
    worst = lowest(stretches)
    if worst is None:
        return ""
    why = ""
    if worst.load_balance is not None:
        why = f" = load balance {percent_text(worst.load_balance)} × communication "
        why += percent_text(worst.communication_efficiency)
    when = span_text(worst.begin_ps, worst.end_ps)
    return f"Parallel efficiency is lowest from {when}: {percent_text(worst.parallel_efficiency)}{why}"
