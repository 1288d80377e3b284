"""Whether a run's tables are what `analyze` writes: checked after an error that only a bug or a damaged run explains.

A finished run is trusted: its tables are not read twice for every command. A copy that went wrong, or a table that
another program rewrote, is found here instead of in a traceback.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

import logpost
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.place import MANIFEST
from logpost.analyzer.run.schema import TABLES

REFERS_TO = {
    "location": "locations",
    "target": "locations",
    "callpath": "callpaths",
    "call": "calls",
    "region": "regions",
    "comm": "communicators",
}
"""The last word of an id's column, and the table whose rows it numbers; -1: none. It is the key of that table, equal to
the number of the row."""


def damage(directory: Path) -> str | None:
    """What the first damaged table of a run is, in one line; None: every table is sound, or this is no run."""
    if not (directory / MANIFEST).is_file():
        return None
    run = Run.open(directory)
    names = [name for name in run.manifest.tables if name in TABLES]
    # Of the footers, which were readable when the run was opened.
    heights = {
        name: int(pl.scan_parquet(_file(run, name), glob=False).select(pl.len()).collect().item())
        for name in names
        if name in REFERS_TO.values()
    }
    for name in names:
        found = _of_table(run, name, heights)
        if found is not None:
            return f"{directory}: the table {name}.parquet is damaged: {found}; analyze the archive again"
    return None


def _file(run: Run, name: str) -> Path:
    return run.path / f"{TABLES[name].name}.parquet"


def _of_table(run: Run, name: str, heights: Mapping[str, int]) -> str | None:
    try:
        written = pl.read_parquet_schema(_file(run, name))
        rows = run.facts(name).collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        return " ".join(str(error).split())
    except pl.exceptions.PanicException:
        return "it cannot be decoded"
    for column in TABLES[name].columns:
        if column.name not in written:
            if run.manifest.tool_version == logpost.__version__ and not column.nullable:
                return f"it has no column {column.name}"
            continue  # the run is older than it
        if not column.nullable and (missing := rows[column.name].null_count()):
            return f"{missing:,} of {rows.height:,} rows have no {column.name}"
        if REFERS_TO.get(column.name) == name:
            wrong = rows.with_row_index("row").filter(pl.col(column.name) != pl.col("row"))
            if wrong.height:
                return f"{column.name} {wrong[column.name][0]} is in row {wrong['row'][0]}"
        count = heights.get(REFERS_TO.get(column.name.rsplit("_", 1)[-1], ""))
        if count is not None and column.dtype == pl.Int32():
            wrong = rows[column.name].filter((rows[column.name] < -1) | (rows[column.name] >= count))
            if len(wrong):
                return f"{column.name} {wrong[0]} does not exist"
    return None
