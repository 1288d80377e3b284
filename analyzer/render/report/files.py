"""The time in files, as rows and in a line."""

from __future__ import annotations

from logpost.analyzer.report.files import Files
from logpost.analyzer.words.units import count_text, percent_text, safe, shorten, time_text

HEADINGS = ("time", "longest", "calls", "ranks", "call")
NAME = 40
"""Characters of a call's name in a line."""


def files_text(found: Files) -> str:
    """`Compute contains 1.90 s in files (12.3 %): rank 0 in read input.fifo, 1.90 s`."""
    first, *others = found.uses
    rest = f", and {count_text(len(others), 'other')}" if others else ""
    return (
        f"Compute contains {time_text(found.exposed_ps)} in files ({percent_text(found.share)}): {first.where} in "
        f"{safe(shorten(first.name, NAME))}, {time_text(first.exposed_ps)}{rest}"
    )


def file_rows(found: Files, top: int | None) -> list[tuple[str, ...]]:
    """The cells of each use; those of `HEADINGS`."""
    return [
        (time_text(use.exposed_ps), time_text(use.longest_ps), f"{use.calls:,}", use.where, use.name)
        for use in found.uses[:top]
    ]
