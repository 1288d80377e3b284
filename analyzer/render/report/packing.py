"""Packing by hand, in a line."""

from __future__ import annotations

from logpost.analyzer.report.data import Report
from logpost.analyzer.words.units import count_text, percent_text, safe, time_text

NAMED = 4
"""Regions named; of more, how many others there are."""


def packing_text(report: Report) -> str:
    """What of compute is packing by hand, and the middleware's time with it; empty where no regions were named."""
    if report.packing is None:
        return ""
    names = ", ".join(safe(name) for name in report.packing.regions[:NAMED])
    rest = len(report.packing.regions) - NAMED
    names += f" and {count_text(rest, 'other')}" if rest > 0 else ""
    text = f"packing by hand: {time_text(report.packing.exposed_ps)}, {percent_text(report.packing.share)} of compute"
    text += f", in {names}" if names else ", as no rank entered such a region"
    middleware = next((share for share in report.breakdown if share.category == "middleware"), None)
    if middleware is None:
        return text
    return f"{text}; with middleware {time_text(report.packing.exposed_ps + middleware.exposed_ps)}"
