"""What the efficiencies say, in a line each."""

from __future__ import annotations

from collections.abc import Sequence

from logpost.analyzer.efficiencies import Efficiency
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


MUCH = 0.1
"""Of message time: from here on, a residual is worth a word where it counts as something else."""


def residual_text(known: Sequence[Efficiency], residual_share: float) -> str:
    """That serialization holds what no model explains, where it is known and that is much; empty otherwise."""
    if residual_share < MUCH or all(one.value is None for one in known if one.name == "serialization"):
        return ""
    return (
        "Serialization includes what the machine's model does not explain: residual, "
        f"{percent_text(residual_share)} of message time, stays in the replay on the ideal network"
    )
