"""Queueing: the servers that messages wait for, apart from waits for a late partner."""

from __future__ import annotations

from collections.abc import Sequence

from logpost.analyzer.words.units import time_text
from logpost.dashboards.figures.heat import Measure

QUEUES = ("endpoint_contention_ps", "network_contention_ps", "processor_queueing_ps")
"""Columns of messages, transfers and pairs: NICs, links, and processors that attend to one message at a time."""
QUEUEING = Measure("Queueing", "queueing time", time_text, largest=True)

_CROWDS = frozenset({"hot_receiver", "hot_sender", "shared_nic", "hot_link", "unattended"})
"""Findings whose cause queueing shows, and bytes may not: crowded ranks need not get more than others."""


def first_view(measures: Sequence[Measure], kind: str) -> int:
    """The measure that a chart starts with where the finding to look at is of this kind: queueing, or the first."""
    return measures.index(QUEUEING) if kind in _CROWDS else 0
