"""Export a run as CSV: one streamed file per table, and a description of every column with its unit."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from logpost.analyzer.export.files import Progress, atomic_output
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.place import MANIFEST
from logpost.analyzer.run.schema import TABLES, Column
from logpost.analyzer.run.undivided import TITLE, UNDIVIDED, together
from logpost.analyzer.words.units import safe
from logpost.errors import InputError

README = "README.md"
COLUMNS = "columns.csv"


def export_csv(
    run: Run, path: Path, tables: Sequence[str] = (), *, force: bool = False, report: Progress | None = None
) -> dict[str, int]:
    """Write tables of a run as UTF-8 CSV files into a new directory.

    The header of each file is the names of the table's columns; `columns.csv` holds type, unit and meaning of each,
    `README.md` says the same in prose, `manifest.json` is the run's. The tables are streamed: memory does not grow
    with the run.

    Args:
        run: a finished run.
        path: the directory to make.
        tables: names of the tables to write; all without any.
        force: replace an earlier export.
        report: receives the progress by tables.

    Returns:
        Bytes written per table.

    Raises:
        InputError: a table does not exist, or the directory cannot be written.
    """
    chosen = tuple(dict.fromkeys(tables)) or tuple(TABLES)
    unknown = [name for name in chosen if name not in TABLES]
    if unknown:
        raise InputError(f"unknown table {unknown[0]!r}; a run has {', '.join(TABLES)}")
    with atomic_output(path, force=force, directory=True) as folder:
        for number, name in enumerate(chosen):
            if report:
                report(name, number, len(chosen))
            _flat(_shown(run, name), name).sink_csv(folder / f"{name}.csv", quote_style="necessary")
        _documentation(run, chosen).write_csv(folder / COLUMNS)
        (folder / README).write_text(readme(run, chosen), encoding="utf-8")
        shutil.copyfile(run.path / MANIFEST, folder / MANIFEST)
        return {name: (folder / f"{name}.csv").stat().st_size for name in chosen}


def _shown(run: Run, name: str) -> pl.LazyFrame:
    """A table as people see it: times that the machine does not divide have one column, or one row, for their sum."""
    undivided, names = run.manifest.machine.undivided, TABLES[name].schema.names()
    if not undivided:
        return run.table(name)
    if "category" in names:
        times = [column for column in names if column.endswith("_ps")]
        others = [column for column in names if column not in times]
        return run.shown(name).group_by(others, maintain_order=True).agg(pl.col(times).sum()).select(names)
    return together(run.table(name), undivided, None) if _divided(run, name) else run.table(name)


def _divided(run: Run, name: str) -> list[str]:
    """Columns of a table whose times the machine does not divide."""
    return [part for one in run.manifest.machine.undivided if (part := f"{one}_ps") in TABLES[name].schema.names()]


def _columns(run: Run, name: str) -> list[Column]:
    """The columns that are written."""
    columns = list(TABLES[name].columns)
    if parts := _divided(run, name):
        sentence = f"{TITLE}: the sum of {', '.join(parts)}, which are empty"
        columns.append(Column(f"{UNDIVIDED}_ps", pl.Int64(), "ps", sentence))
    return columns


def _flat(table: pl.LazyFrame, name: str) -> pl.LazyFrame:
    """Lists as text, since a CSV field holds no list: numbers separated by blanks, named numbers as JSON."""
    columns = []
    for column in TABLES[name].columns:
        if isinstance(column.dtype, pl.List):
            item = pl.element()
            text = item.struct.json_encode() if isinstance(column.dtype.inner, pl.Struct) else item.cast(pl.String)
            columns.append(pl.col(column.name).list.eval(text).list.join(" "))
    return table.with_columns(columns)


def _documentation(run: Run, chosen: Sequence[str]) -> pl.DataFrame:
    rows = [
        (name, column.name, str(column.dtype).split("(")[0], _unit(run, column.unit), column.sentence)
        for name in chosen
        for column in _columns(run, name)
    ]
    return pl.DataFrame(rows, schema=["table", "column", "type", "unit", "meaning"], orient="row")


def _unit(run: Run, unit: str) -> str:
    """The unit, with the length of a tick: a bare tick means nothing outside the run."""
    return f"1/{run.manifest.clock.ticks_per_second} s" if unit == "ticks" else unit


def readme(run: Run, chosen: Sequence[str]) -> str:
    """The README of the directory, for readers who do not know logpost."""
    machine = run.manifest.machine
    lines = [
        f"# Tables of {safe(run.manifest.source.anchor)}",
        "",
        f"Written by logpost {run.manifest.tool_version}. UTF-8, comma separated, one header line, quoted where",
        "needed; an empty field is a missing value. Times are in picoseconds (ps) from the start of the trace, ids are",
        "-1 for none.",
        f"Parts of messages were split with the machine {safe(machine.name)} ({safe(machine.label)}).",
        "Names are copied verbatim from the trace: import them as text, because a spreadsheet may read a leading",
        "`=` as a formula.",
    ]
    if undivided := machine.undivided:
        lines.append(f"The trace does not distinguish {', '.join(undivided)}: their sum is `{UNDIVIDED}`, {TITLE}.")
    for name in chosen:
        table = TABLES[name]
        lines += [
            "",
            f"## {name}.csv",
            "",
            f"A row is {table.row}.",
            "",
            "| column | unit | meaning |",
            "|---|---|---|",
        ]
        lines += [f"| {c.name} | {_unit(run, c.unit)} | {c.sentence.replace('|', '/')} |" for c in _columns(run, name)]
    return "\n".join(lines) + "\n"
