"""`logpost machines`: list, show and check machine files, and print a commented template."""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from logpost.cli.output import print_json

if TYPE_CHECKING:
    from logpost.machines.schema import Machine


class Foreign(str, Enum):
    """Whose description of a machine is read."""

    dimemas = "dimemas"


app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="List, show and check machine files.\n\nExample: logpost machines show alewife",
)

OF = typer.Argument(help="dimemas: a configuration (.cfg) of Dimemas.")
FILE = typer.Argument(help="The file to read.")
JSON = typer.Option(False, "--json", help="Print one JSON object instead of a table.")
QUIET = typer.Option(False, "--quiet", "-q", help="Print only names; check prints only problems.")
FILES = typer.Argument(help="Machine files, or names of `logpost machines list`.")
OUTPUT = typer.Option(None, "--output", "-o", help="Write to a file instead of the terminal.")


@app.command("list")
def list_machines(as_json: bool = JSON, quiet: bool = QUIET) -> None:
    """List the machines that come with logpost, with the verbs and models that each feeds as it is.

    What is missing for the others: logpost machines show NAME, or --json.

    Example: logpost machines list
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from logpost.machines.parameters.feeds import feeds
    from logpost.machines.parameters.verbs import verbs
    from logpost.machines.schema.load import library_names, load_machine
    from logpost.machines.show.document import summary

    if quiet and not as_json:
        print("\n".join(library_names()))
        return
    machines = [load_machine(name) for name in library_names()]
    if as_json:
        print_json({"machines": [summary(machine) for machine in machines]})
        return
    table = Table(title="Machines (logpost machines show NAME lists what a machine lacks)", box=box.SIMPLE_HEAD)
    for column in ("name", "year", "topology", "verbs", "predict"):
        table.add_column(column, overflow="fold", no_wrap=column in ("name", "year"))
    for machine in machines:
        able = [verb for verb, gaps in verbs(machine).items() if not gaps and verb != "predict"]
        models = [model for model, gaps in feeds(machine).items() if not gaps]
        table.add_row(
            machine.name, str(machine.year), _topology(machine), ", ".join(able) or "-", ", ".join(models) or "-"
        )
    Console().print(table)


@app.command()
def show(
    machine: str = typer.Argument(help="A name of `logpost machines list`, or the path of a machine file."),
    as_json: bool = JSON,
    quiet: bool = QUIET,
    plot: bool = typer.Option(True, "--plot/--no-plot", help="Draw the piecewise lines over the message size."),
    whole: bool = typer.Option(False, "--all", help="Print each value of long tables, too."),
) -> None:
    """Show a machine's lines over the message size, and its parameters with units, sources and uncertainties.

    A table of more than 16 entries, as a calibration makes, is a row per quantity; --all prints each value.
    With --json, `tables` holds the file's tables, and `values` every value by its key, with its coordinates
    (size, stride, burst, processors, name) in `at`. A value whose source states no uncertainty has none here.

    Example: logpost machines show alewife
    """
    from rich.console import Console

    from logpost.machines.schema.load import load_machine
    from logpost.machines.show.document import document
    from logpost.machines.show.figures import figures
    from logpost.machines.show.rows import observation_rows, rows, shortened, shortened_observations, source_lines
    from logpost.machines.show.sheet import paragraph, sheet

    found = load_machine(machine)
    if as_json:
        print_json(document(found))
        return
    console = Console()
    width = min(console.width, 120)
    heading = f"{found.title}  ({found.name}, {found.date}, {found.kind})"
    console.print(paragraph(heading, width), style="bold", markup=False, highlight=False)
    if plot and not quiet:
        from logpost.machines.show.plot import figure_text

        for figure in figures(found):
            console.print(figure_text(figure, width=min(console.width, 100)))
    for line in source_lines(found):
        console.print(paragraph(line, width, "  "), markup=False, highlight=False)
    console.print()
    every, seen = rows(found), shortened(found)
    console.print(sheet("Parameters", every if whole else seen, width))
    observed = shortened_observations(found)
    if found.observed:
        title = "Observations (results to compare with, not parameters)"
        console.print(sheet(title, observation_rows(found) if whole else observed, width))
    if not whole and (len(seen), len(observed)) != (len(every), len(found.observed)):
        console.print(
            paragraph("Long tables are a row per quantity; --all prints each value, and --json has it.", width)
        )
    if not quiet:
        _print_rest(console, found, width)


@app.command()
def check(files: list[Path] = FILES, as_json: bool = JSON, quiet: bool = QUIET) -> None:
    """Check machine files. Each problem names file, key, value and remedy. Exit status 2 if any is found.

    Example: logpost machines check my-cluster.toml
    """
    from logpost.machines.parameters.feeds import feeds
    from logpost.machines.schema.load import LIBRARY, check_machine_file, library_names

    results = {}
    for path in files:
        of_library = str(path) in library_names() and not path.exists()
        results[str(path)] = check_machine_file(LIBRARY / f"{path}.toml" if of_library else path)
    problems = [line for _, found in results.values() for line in found]
    if as_json:
        print_json({"files": {file: found for file, (_, found) in results.items()}})
    for line in problems if not as_json else ():
        print(f"logpost: {line}", file=sys.stderr)
    for file, (machine, _) in results.items():
        if machine is not None and not quiet and not as_json:
            able = [model for model, gaps in feeds(machine).items() if not gaps]
            clock = "; values in cycles become times with [clock] processor" if machine.lacks_clock else ""
            print(f"{file}: good; feeds {', '.join(able) or 'no model yet'}{clock}")
    if problems:
        raise typer.Exit(2)


@app.command()
def template(
    output: Path | None = OUTPUT,
    force: bool = typer.Option(False, "--force", help="Overwrite an existing file."),
    quiet: bool = QUIET,
) -> None:
    """Print a commented machine file to fill in; it passes `check` unchanged.

    Example: logpost machines template -o my-cluster.toml
    """
    from logpost.errors import InputError
    from logpost.machines.schema.load import template_text
    from logpost.whole_file import write_whole

    if output is None:
        sys.stdout.write(template_text())
        return
    if output.exists() and not force:
        raise InputError(f"{output} already exists; pass --force to overwrite it")
    write_whole(output, template_text())
    if not quiet:
        print(f"{output} written; fill it in, then: logpost machines check {output}")


@app.command("import")
def import_machine(
    of: Foreign = OF,
    file: Path = FILE,
    output: Path | None = OUTPUT,
    name: str | None = typer.Option(None, "--name", help="Name of the machine (default: made of the file's)."),
    force: bool = typer.Option(False, "--force", help="Overwrite an existing file."),
    as_json: bool = typer.Option(False, "--json", help="Print what was read and left out as one JSON object."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Do not say what has no counterpart."),
) -> None:
    """Make a machine file of another tool's description, and say what has no counterpart.

    Example: logpost machines import dimemas mn.cfg -o mn.toml
    """
    from logpost.errors import InputError
    from logpost.machines.exchange.dimemas import import_dimemas
    from logpost.machines.schema.save import save_machine
    from logpost.machines.schema.write import to_toml
    from logpost.whole_file import refuse_existing

    if output is None and as_json:
        raise InputError("--json says what was read; write the machine file with -o FILE")
    if output is not None:
        refuse_existing(output, force=force)
    imported = import_dimemas(file, name)
    if output is None:
        sys.stdout.write(to_toml(imported.machine))
    else:
        save_machine(imported.machine, output)
    if as_json:
        print_json(
            {
                "machine": imported.machine.name,
                "path": str(output),
                "scale_compute": list(imported.scale_compute),
                "left_out": list(imported.left_out),
            }
        )
    elif not quiet:
        options = " ".join(f"--scale-compute {factor}" for factor in imported.scale_compute)
        place = output or "FILE.toml"
        print(
            f"logpost: use it: logpost whatif RUN --machine {place}{' ' + options if options else ''}", file=sys.stderr
        )
        for line in imported.left_out:
            print(f"logpost: not in a machine file: {line}", file=sys.stderr)


def _topology(machine: Machine) -> str:
    return machine.topology.describe() if machine.topology is not None else "-"


def _print_rest(console: Any, machine: Machine, width: int) -> None:
    from logpost.machines.parameters.feeds import feeds
    from logpost.machines.parameters.verbs import missing_text, verbs
    from logpost.machines.show.sheet import paragraph

    if machine.topology is not None:
        console.print(f"Topology: {machine.topology.describe()}", highlight=False)
        for name, fact in machine.topology.facts().items():
            shown = ", ".join(f"{k} {v:.4g}" for k, v in fact.items()) if isinstance(fact, dict) else f"{fact:.6g}"
            console.print(f"  {name}: {shown}", highlight=False)
    for heading, found in (("Verbs:", verbs(machine)), ("Models of predict:", feeds(machine))):
        console.print(heading, highlight=False)
        for name, gaps in found.items():
            needs = "takes it" if not gaps else f"lacks {missing_text(gaps)}"
            console.print(paragraph(f"{name}: {needs}", width, "  "), markup=False, highlight=False)
    for note in machine.notes:
        console.print(paragraph(f"Note: {note}", width), markup=False, highlight=False)
