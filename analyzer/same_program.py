"""Whether two runs are of one program: only then does a difference of their times say something about a change."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from logpost.analyzer.run import Run

LEAST_SHARED = 0.5
"""Share of all call paths that both runs have: versions of a program differ in a few functions; two programs have
`main` and some calls of MPI in common."""


def path_names(run: Run) -> frozenset[str]:
    """The call paths of a run, as region names from the root."""
    return frozenset(run.table("callpaths").select("path").collect()["path"].to_list())


def same_program(a: AbstractSet[str], b: AbstractSet[str]) -> bool:
    """Whether the runs that have these call paths are of one program: at least half of all paths are of both."""
    return len(a & b) >= LEAST_SHARED * len(a | b)
