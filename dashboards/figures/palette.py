"""Colours: one per category of time, the same in every figure, in a light and a dark set.

Compute is muted and waits are loud. Hue follows the family (waits warm, contention purple, transport blue, overhead
green) and lightness separates the members of a family, so that the sets stay readable with protanopia, deuteranopia
and in grey; the anchors are those of Okabe and Ito, "Color Universal Design", 2008. Shape repeats the message where
lightness alone is thin: a pattern marks the members that are easily confused.
"""

from __future__ import annotations

from dataclasses import dataclass

from logpost.analyzer.run.undivided import SHOWN, UNDIVIDED, title


@dataclass(frozen=True)
class Ink:
    """How a category looks: its colour on light and on dark paper, and a bar pattern ("" for none)."""

    light: str
    dark: str
    pattern: str
    family: str


INKS: dict[str, Ink] = {
    "compute": Ink("#d3d8e0", "#3b4656", "", "computing"),
    "late_sender": Ink("#d55e00", "#f07c3c", "", "waiting"),
    "late_receiver": Ink("#f0a202", "#f7c14d", "/", "waiting"),
    "lock_wait": Ink("#8c1c13", "#d9695f", "/", "waiting"),
    "collective_wait": Ink("#b3246b", "#e4609f", "", "waiting"),
    "endpoint_contention": Ink("#7a4fc0", "#b9a0f5", "", "contention"),
    "network_contention": Ink("#b9a3e0", "#d6c9f5", "\\", "contention"),
    "processor_queueing": Ink("#45108a", "#7048c4", "", "contention"),
    "latency": Ink("#0072b2", "#2b86d1", "", "transport"),
    "serialization": Ink("#56b4e9", "#94d3f7", "", "transport"),
    "send_overhead": Ink("#009e73", "#2fc79b", "", "overhead"),
    "recv_overhead": Ink("#7ccfb0", "#9ae6cb", "/", "overhead"),
    "middleware": Ink("#00593f", "#1d8a6b", "", "overhead"),
    "collective": Ink("#8a7a1f", "#d9c960", "", "collective"),
    "mpi_other": Ink("#98a1ae", "#7a8596", "", "other"),
    UNDIVIDED: Ink("#2f5d73", "#7fb2c8", ".", "transport"),
    "residual": Ink("#3d4756", "#e8ecf2", "x", "other"),
}
"""Category -> ink; the order is the order of stacking: after compute, the categories that a user can act on."""

assert set(INKS) == set(SHOWN), "every category of the accounting has an ink"

SCALES: dict[str, dict[str, list[str]]] = {
    "light": {"magnitude": ["#e8eef6", "#b5d2ea", "#5fa5d2", "#1f6fb0", "#0a2f5c"]},
    "dark": {"magnitude": ["#1d2a3a", "#1f4e79", "#2f82bd", "#7fc3ec", "#f0f8ff"]},
}
"""Sequential scales for magnitudes: lightness is monotone, so order survives without colour."""


def label(category: str) -> str:
    """The name people read."""
    return "MPI other" if category == "mpi_other" else title(category)


def theme() -> dict[str, dict[str, object]]:
    """What the page's script needs to recolour a figure: per theme the categories' colours and the scales, and the
    number of each category in heat maps of categories."""
    themes: dict[str, dict[str, object]] = {
        name: {"categories": {category: getattr(ink, name) for category, ink in INKS.items()}, **SCALES[name]}
        for name in ("light", "dark")
    }
    return {**themes, "order": {category: number for number, category in enumerate(SHOWN)}}
