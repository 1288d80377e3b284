"""Whether two runs are of one program: only then does a difference of their times say something about a change."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.wide import wide_sum

LEAST_SHARED = 0.5
"""Share of all call paths that both runs have, and of each run's time that these take: versions of a program differ in
a few functions; two programs have `main` and some calls of MPI in common, which is all where no function of the user's
was recorded."""
OF_EVERY_PROGRAM = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize")


def path_times(run: Run) -> dict[str, int]:
    """The call paths of a run, as region names from the root, and the time of all locations in each itself; ps."""
    spent = run.table("profile").group_by("callpath").agg(wide_sum("exclusive_ps"))
    paths = run.table("callpaths").select("callpath", "path").join(spent, on="callpath", how="left")
    times: dict[str, int] = {}
    for path, time in paths.select("path", pl.col("exclusive_ps").fill_null(0)).collect().iter_rows():
        times[path] = times.get(path, 0) + time
    return times


def same_program(a: Mapping[str, int], b: Mapping[str, int]) -> bool:
    """Whether the runs that spend these times in their call paths are of one program."""
    a, b = ({path: time for path, time in one.items() if _is_specific(path)} for one in (a, b))
    shared = a.keys() & b.keys()
    return len(shared) >= LEAST_SHARED * len(a.keys() | b.keys()) and all(
        sum(one[path] for path in shared) >= LEAST_SHARED * sum(one.values()) for one in (a, b)
    )


def _is_specific(path: str) -> bool:
    return path.rsplit(" / ", 1)[-1] not in OF_EVERY_PROGRAM
