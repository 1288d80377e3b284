"""`logpost sql`: a query on the tables of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from logpost.cli.output import print_json


def command(
    run: Annotated[Path, typer.Argument(help="A run directory that `logpost analyze` wrote.")],
    query: Annotated[str | None, typer.Argument(help="In DuckDB's SQL; without one, the columns are shown.")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print the rows of a query on the tables of a run; times are in picoseconds.

    Example: logpost sql app.run "select location, count(*) as calls from calls group by all order by all"

    Example: logpost sql app.run
    """
    from logpost.analyzer.export.sql import COLUMNS
    from logpost.analyzer.export.sql import query as rows_of
    from logpost.analyzer.run.directory import Run

    rows = rows_of(Run.open(run), query or COLUMNS)
    if as_json:
        import json

        print_json({"rows": json.loads(rows.write_json())})
    elif as_csv:
        print(rows.write_csv(), end="")
    else:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        from logpost.analyzer.words.units import safe

        table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
        for name, dtype in rows.schema.items():
            table.add_column(safe(name), justify="right" if dtype.is_numeric() else "left", overflow="fold")
        for row in rows.iter_rows():
            table.add_row(*("" if value is None else Text(safe(str(value))) for value in row))
        Console(highlight=False).print(table)
