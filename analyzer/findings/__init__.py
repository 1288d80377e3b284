"""Findings: one file per pattern, each a function `find(evidence) -> Iterable[Finding]`.

A new pattern is a new file with such a function (copy `load_imbalance.py`, the smallest), an entry in `FINDERS`, and
its name in `schema.FINDING_KINDS`. Thresholds are fractions of time with their reason beside them, never figures of one
program. The same waiting may be seen from two sides (load imbalance and collective wait, say): findings do not add up.
Where one of them states the cause of another better, the other is left out (`processor_queueing.stated_better`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

import polars as pl

from logpost.analyzer.findings import (
    collective_wait,
    hot_receiver,
    hot_sender,
    late_sender_chain,
    load_imbalance,
    many_small_messages,
    processor_queueing,
)
from logpost.analyzer.findings.evidence import Evidence
from logpost.analyzer.findings.finding import Finding, frame
from logpost.analyzer.manifest import Manifest

FINDERS: tuple[Callable[[Evidence], Iterable[Finding]], ...] = (
    hot_receiver.find,
    hot_sender.find,
    late_sender_chain.find,
    processor_queueing.find,
    load_imbalance.find,
    many_small_messages.find,
    collective_wait.find,
)


def find_all(tables: Mapping[str, pl.LazyFrame], manifest: Manifest) -> pl.DataFrame:
    """Every finding of a run, worst first, as a frame of `schema.FINDINGS`.

    Arguments:
        tables: every other table of `schema.TABLES`, lazily; `messages` may have 10^7 rows and is read in chunks, by
            columns, and only where the small tables say that a pattern could cost anything.
        manifest: of the run; its windows, hosts and machine are used.
    """
    evidence = Evidence(tables, manifest)
    if evidence.slowest_wall_ps == 0:
        return frame([])
    # Side by side: each waits for tables by turns, and what they share is only read.
    with ThreadPoolExecutor(max_workers=len(FINDERS)) as pool:
        found = pool.map(lambda find: list(find(evidence)), FINDERS)
        every = [finding for findings in found for finding in findings]
    return frame(finding for finding in every if not processor_queueing.stated_better(finding, every))
