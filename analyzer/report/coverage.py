"""How much time the ranks lose, and how much of it the findings explain.

Lost is all time of the ranks' accounts that is not computation. Two findings may contain the same waiting: what they
explain together is between the largest of them and their sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from logpost.analyzer.findings.finding import UNEXPLAINED

if TYPE_CHECKING:
    from logpost.analyzer.report.data import PlacedFinding, Share

OF_THREADS = ("thread_imbalance", "serial_part")
"""Findings about threads of OpenMP, whose time is not in the accounts of ranks."""

POLLS = ("MPI_Test", "MPI_Iprobe", "MPI_Improbe", "shmem_test")
"""Beginnings of the names of queries that return at once: a loop of them waits between its calls, as computation."""


@dataclass(frozen=True)
class Coverage:
    """The lost time of all ranks, and what of it the findings explain."""

    lost_ps: int
    """all categories but compute, summed over the ranks"""
    share: float
    """of the sum of the ranks' program times"""
    explained_low_ps: int
    """what the largest finding explains"""
    explained_high_ps: int
    """what all of them explain if no two contain the same waiting"""


def coverage(breakdown: Sequence[Share], found: Iterable[PlacedFinding]) -> Coverage:
    """The lost time by the accounts, and what of it the findings are about."""
    lost = sum(one.exposed_ps for one in breakdown if one.category != "compute")
    share = sum(one.share for one in breakdown if one.category != "compute")
    explained = [
        min(lost, one.exposed_ps)
        for one in found
        if one.kind not in (*OF_THREADS, UNEXPLAINED) and not one.region.startswith(POLLS)
    ]
    return Coverage(lost, share, max(explained, default=0), min(lost, sum(explained)))
