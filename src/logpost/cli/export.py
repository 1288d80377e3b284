"""`logpost export`: a run as CSV, for Perfetto, or as a GOAL schedule."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from logpost.cli.output import print_json
from logpost.cli.schedule_unit import Unit


class Format(str, Enum):
    """What to write."""

    csv = "csv"
    perfetto = "perfetto"
    goal = "goal"


_SUFFIX = {Format.csv: "_csv", Format.perfetto: ".pftrace", Format.goal: ".goal"}


def default_output(run: Path, to: Format) -> Path:
    """The default output: named after the run, in the current directory."""
    name = run.resolve().name
    stem = name[: -len(".run")] if name.endswith(".run") and name != ".run" else name
    return Path(f"{stem}{_SUFFIX[to]}")


def command(
    run: Annotated[Path, typer.Argument(help="A run directory that `logpost analyze` wrote.")],
    to: Annotated[
        Format,
        typer.Option(
            "--to", help="csv: a directory of tables; perfetto: for ui.perfetto.dev; goal: for LogGOPSim and its kin."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Directory (csv) or file (perfetto, gzipped if it ends in .gz; goal) to write."
        ),
    ] = None,
    table: Annotated[list[str] | None, typer.Option("--table", help="csv: only this table. Repeatable.")] = None,
    map_file: Annotated[
        Path | None,
        typer.Option(
            "--map",
            metavar="FILE",
            help="goal: the map from operations to calls and messages, .parquet or .csv (default: OUTPUT.map.parquet).",
        ),
    ] = None,
    unit: Annotated[
        Unit | None, typer.Option("--unit", help="goal: unit of the times (default: ns, LogGOPSim's).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an earlier export.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print only errors.")] = False,
) -> None:
    """Export a run for other programs: its tables as CSV, a timeline for ui.perfetto.dev, or a GOAL schedule.

    Example: logpost export app.run --to csv --table messages -o tables

    Example: logpost export app.run --to perfetto -o app.pftrace

    Example: logpost export app.run --to goal -o app.goal --map app.map.csv
    """
    from logpost.analyzer.run.directory import Run
    from logpost.analyzer.words.units import bytes_text, count_text
    from logpost.cli.progress import progress_bar
    from logpost.errors import InputError

    if table and to is not Format.csv:
        raise InputError(f"--table belongs to --to csv, not to --to {to.value}; leave it out")
    if to is not Format.goal and (map_file or unit):
        option = "--map" if map_file else "--unit"
        raise InputError(f"{option} belongs to --to goal, not to --to {to.value}; leave it out")
    opened = Run.open(run)
    path = output or default_output(run, to)
    facts: dict[str, object] = {"to": to.value, "path": str(path)}
    with progress_bar(quiet=quiet or as_json) as report:
        if to is Format.csv:
            from logpost.analyzer.export.csv import export_csv

            sizes = export_csv(opened, path, table or (), force=force, report=report)
            facts |= {"bytes": sum(sizes.values()), "tables_bytes": sizes}
            said = f"{count_text(len(sizes), 'table')}, {bytes_text(sum(sizes.values()))}; columns in {path}/README.md"
        elif to is Format.goal:
            from dataclasses import asdict

            from logpost.analyzer.export.goal import export_goal

            map_path = map_file or path.with_name(f"{path.name}.map.parquet")
            schedule = export_goal(opened, path, map_path, unit=(unit or Unit.ns).value, force=force, report=report)
            facts |= asdict(schedule)
            said = (
                f"{bytes_text(schedule.bytes)}; {count_text(schedule.ranks, 'rank')}, "
                f"{count_text(schedule.calcs, 'calc')}, {count_text(schedule.sends, 'send')}, "
                f"{count_text(schedule.recvs, 'recv')}; map: {map_path}"
            )
            for what, count in schedule.left_out.items():
                said += f"\nnot in the schedule as recorded: {count:,} × {what}"
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
        print_json(facts)
    elif not quiet:
        typer.echo(f"{path}: {said}")
