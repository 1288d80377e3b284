"""The last run of a history as a badge: one line as an SVG picture."""

from __future__ import annotations

from logpost.analyzer.compare.history import Entry
from logpost.analyzer.words.units import percent_text

SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" width="118" height="20" role="img" aria-label="{what}: {figure}">
<title>{what}: {figure}</title>
<rect width="118" height="20" rx="3" fill="#33415c"/><rect x="62" width="56" height="20" rx="3" fill="#1f6feb"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
<text x="31" y="14" textLength="50">{what}</text><text x="90" y="14">{figure}</text>
</g></svg>
"""


def badge(one: Entry) -> str:
    """How much of its ranks' time a run lost. No colour judges it: what is much depends on the program."""
    return SVG.format(what="time lost", figure=percent_text(one.lost))
