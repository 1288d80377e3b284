"""`logpost export`: a run as CSV or for Perfetto."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer


class Format(str, Enum):
    """What to write."""

    csv = "csv"
    perfetto = "perfetto"


def default_output(run: Path, to: Format) -> Path:
    """The default output: named after the run, in the current directory."""
    name = run.resolve().name
    stem = name[: -len(".run")] if name.endswith(".run") and name != ".run" else name
    return Path(f"{stem}_csv" if to is Format.csv else f"{stem}.pftrace")


def command(
    run: Annotated[Path, typer.Argument(help="A run directory that `logpost analyze` wrote.")],
    to: Annotated[Format, typer.Option("--to", help="csv: a directory of tables; perfetto: for ui.perfetto.dev.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Directory (csv) or file (perfetto; gzipped if it ends in .gz) to write."),
    ] = None,
    table: Annotated[list[str] | None, typer.Option("--table", help="csv: only this table. Repeatable.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an earlier export.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print only errors.")] = False,
) -> None:
    """Export a run for other programs: its tables as CSV, or a timeline for ui.perfetto.dev.

    Example: logpost export app.run --to csv --table messages -o tables

    Example: logpost export app.run --to perfetto -o app.pftrace
    """
    from logpost.analyzer.reporting.units import bytes_text, count_text
    from logpost.analyzer.run import Run
    from logpost.cli.progress import progress_bar
    from logpost.errors import InputError

    if table and to is not Format.csv:
        raise InputError(f"--table belongs to --to csv, not to --to {to.value}; leave it out")
    opened = Run.open(run)
    path = output or default_output(run, to)
    facts: dict[str, object] = {"to": to.value, "path": str(path)}
    with progress_bar(quiet=quiet or as_json) as report:
        if to is Format.csv:
            from logpost.analyzer.export.csv import export_csv

            sizes = export_csv(opened, path, table or (), force=force, report=report)
            facts |= {"bytes": sum(sizes.values()), "tables_bytes": sizes}
            said = f"{count_text(len(sizes), 'table')}, {bytes_text(sum(sizes.values()))}; columns in {path}/README.md"
        else:
            from dataclasses import asdict

            from logpost.analyzer.export.perfetto import export_perfetto

            written = export_perfetto(opened, path, force=force, report=report)
            facts |= asdict(written)
            said = (
                f"{bytes_text(written.bytes)}; {count_text(written.slices, 'call')}, "
                f"{count_text(written.flows, 'message arrow')}, {count_text(written.counters, 'counter value')}"
            )
            if written.flows_left_out:
                said += f"; no arrow for {count_text(written.flows_left_out, 'message')} without ordered ends"
            said += "\nopen it at https://ui.perfetto.dev (the page reads the file in your browser)"
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
    elif not quiet:
        typer.echo(f"{path}: {said}")
