"""What the efficiencies say, in a line each."""

from __future__ import annotations

from collections.abc import Sequence

from logpost.analyzer.findings.finding import MUCH
from logpost.analyzer.report.data import Report
from logpost.analyzer.report.efficiency_windows import Stretch, lowest
from logpost.analyzer.words.units import percent_text, span_text


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


def residual_text(report: Report) -> str:
    """That transfer holds what no model explains, where it is known and that is much; empty otherwise."""
    if all(one.value is None for one in report.efficiencies if one.name == "transfer"):
        return ""
    shares = (
        (report.machine.residual_share, "message time"),
        (report.collective_residual_share, "the ranks' time, in collective operations"),
    )
    parts = [f"{percent_text(share)} of {whole}" for share, whole in shares if share >= MUCH]
    if not parts:
        return ""
    return (
        f"Transfer includes residual, which the machine's model does not explain: {' and '.join(parts)}. "
        "How much of it is waiting for other ranks, which is serialization, the trace does not show"
    )
