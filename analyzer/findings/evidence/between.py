"""Locate computation between two communication calls: from leaving one to entering the next.

Calls that do not locate code (MPI_Wtime, MPI_Comm_rank) do not end a stretch of code.
"""

from __future__ import annotations

from logpost.analyzer.findings.evidence.tables import Evidence


def between_text(evidence: Evidence, pair: tuple[int, int]) -> str:
    """`between MPI_Recv (cg.c:10) and MPI_Send (cg.c:31)`."""
    return " and ".join([f"between {_named(evidence, pair[0])}", _named(evidence, pair[1])])


def before_text(evidence: Evidence, callpath: int) -> str:
    """`before MPI_Send (cg.c:31)`: behind calls of several paths."""
    return f"before {_named(evidence, callpath)}"


def _named(evidence: Evidence, callpath: int) -> str:
    place = evidence.places.get(callpath)
    source = place.source if place is not None and place.is_site else ""
    return evidence.region(callpath) + (f" ({source})" if source else "")
