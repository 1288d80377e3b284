"""Call sites of a run as file:line, where known."""

from __future__ import annotations

import polars as pl

from logpost.analyzer.run.directory import Run


def call_sites(run: Run) -> dict[int, str]:
    """Callpath to `file:line`, the file by its last part; only those that are known."""
    paths = run.table("callpaths")
    if not {"file", "line"} <= set(paths.collect_schema().names()):
        return {}
    known = paths.filter(pl.col("file") != "").select("callpath", "file", "line").collect()
    return {
        callpath: f"{file.rsplit('/', 1)[-1]}:{line}" if line > 0 else file.rsplit("/", 1)[-1]
        for callpath, file, line in known.iter_rows()
    }


def finding_sites(run: Run) -> dict[int, str]:
    """Number of a row of the run's findings to the call site of its callpath."""
    sites = call_sites(run)
    of = run.table("findings").select("callpath").collect()["callpath"]
    return {number: sites[callpath] for number, callpath in enumerate(of) if callpath in sites}
