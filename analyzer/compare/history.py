"""Runs of a program over time, in one Parquet file: a row for each run and category of its time."""

from __future__ import annotations

import datetime
import os
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from logpost.analyzer.report.build import build
from logpost.analyzer.run.directory import Run
from logpost.errors import InputError
from logpost.whole_file import cannot_write

SCHEMA = pl.Schema(
    {
        "entry": pl.Int64(),
        "label": pl.String(),
        "added": pl.Datetime("us", "UTC"),
        "run": pl.String(),
        "ranks": pl.Int64(),
        "machine": pl.String(),
        "program_ps": pl.Int64(),
        "ranks_ps": pl.Int64(),
        "finding": pl.String(),
        "gain": pl.Float64(),
        "category": pl.String(),
        "exposed_ps": pl.Int64(),
    }
)
"""Of the file: `program_ps` is the slowest rank's program time, `ranks_ps` that of all ranks, `exposed_ps` a category's
part of it; `gain` is what the first finding's cure saves at most, a fraction of `program_ps`."""
COMPUTE = "compute"


@dataclass(frozen=True)
class Entry:
    """One run."""

    label: str
    added: datetime.datetime
    run: str
    ranks: int
    machine: str
    program_ps: int
    ranks_ps: int
    finding: str
    gain: float | None
    exposed_ps: dict[str, int]
    """by category"""

    @property
    def lost(self) -> float:
        """The part of the ranks' time that is not computation."""
        return 1.0 - self.share(COMPUTE)

    def share(self, category: str) -> float:
        """A category's part of the ranks' time."""
        return self.exposed_ps.get(category, 0) / max(1, self.ranks_ps)


def add(path: Path, run: Run, label: str) -> None:
    """Append a run to the history; the file is made where there is none.

    Raises:
        InputError: the file is no history, or cannot be written; one that was there is as before.
    """
    before = _read(path) if path.exists() else pl.DataFrame(schema=SCHEMA)
    report = build(run)
    first = next(iter(report.findings), None)
    row = {
        "entry": before.select(pl.col("entry").max().fill_null(0)).item() + 1,
        "label": label,
        "added": datetime.datetime.now(datetime.timezone.utc),
        "run": str(run.path),
        "ranks": run.manifest.ranks,
        "machine": run.manifest.machine.label,
        "program_ps": max((one.program_ps for one in report.rank_times), default=0),
        "ranks_ps": sum(one.program_ps for one in report.rank_times),
        "finding": first.title if first else "",
        "gain": first.gain if first else None,
    }
    rows = [{**row, "category": one.category, "exposed_ps": one.exposed_ps} for one in report.breakdown]
    after = pl.concat([before, pl.DataFrame(rows, schema=SCHEMA)])
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        after.write_parquet(scratch)
        scratch.replace(path)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        scratch.unlink(missing_ok=True)


def entries(path: Path) -> list[Entry]:
    """The runs of a history, in the order in which they were added.

    Raises:
        InputError: the file cannot be read, or is no history.
    """
    found = []
    for _, rows in _read(path).group_by("entry", maintain_order=True):
        row = rows.drop("entry", "category", "exposed_ps").row(0, named=True)
        times = dict(rows.select("category", "exposed_ps").iter_rows())
        found.append(Entry(**row, exposed_ps=times))
    return found


def _read(path: Path) -> pl.DataFrame:
    try:
        rows = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is no Parquet file"
        raise InputError(f"{path} cannot be read: {reason}; logpost history add {path} RUN makes one") from error
    if rows.schema != SCHEMA:
        raise InputError(f"{path} is no history: its columns are others; give the file that logpost history add made")
    return rows
