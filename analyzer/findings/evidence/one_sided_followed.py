"""Whether a replay follows the waits of one-sided communication: those that end at no recorded instant keep their
length."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from logpost.analyzer.findings.evidence.graph import Graph, Reason, lasts_longer
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.run.wide import exact_sum
from logpost.replay._native import wait_reasons

MAINLY = 0.5
"""More than half of the waiting must have its end in the graph."""


def follows(evidence: Evidence, graph: Graph, reasons: Iterable[Reason], waited_ps: float) -> bool:
    """Whether the graph has the ends of most of this waiting, of the whole program, for these reasons; ps."""
    codes = [wait_reasons().index(reason) for reason in reasons]
    calls = np.unique(graph.waits["call"][np.isin(graph.waits["reason"], codes)])
    in_graph = float(exact_sum((graph.length - graph.work_ps)[calls]))
    return in_graph * lasts_longer(evidence, graph) >= MAINLY * waited_ps
