"""`logpost machines`: list, show and check machine files, and print a commented template."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from logpost.machines.schema import Machine

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="List, show and check machine files.\n\nExample: logpost machines show alewife",
)

JSON = typer.Option(False, "--json", help="Print one JSON object instead of a table.")
QUIET = typer.Option(False, "--quiet", "-q", help="Print only what was asked for: names, or nothing when all is well.")
FILES = typer.Argument(help="Machine files; a name of `logpost machines list` is that machine's file.")
OUTPUT = typer.Option(None, "--output", "-o", help="Write it to a file instead of the terminal.")


@app.command("list")
def list_machines(as_json: bool = JSON, quiet: bool = QUIET) -> None:
    """List the machines that come with logpost, and which models each can feed.

    Example: logpost machines list
    """
    from rich.console import Console
    from rich.table import Table

    from logpost.machines.document import summary
    from logpost.machines.feeds import feeds
    from logpost.machines.load import library_names, load_machine

    if quiet and not as_json:
        print("\n".join(library_names()))
        return
    machines = [load_machine(name) for name in library_names()]
    if as_json:
        _print_json({"machines": [summary(machine) for machine in machines]})
        return
    table = Table(title="Machines (details: logpost machines show NAME)")
    for column in ("name", "year", "topology", "feeds"):
        table.add_column(column, overflow="fold", no_wrap=column in ("name", "year"))
    for machine in machines:
        able = [model for model, gaps in feeds(machine).items() if not gaps]
        table.add_row(machine.name, str(machine.year), _topology(machine), ", ".join(able) or "-")
    Console().print(table)


@app.command()
def show(
    machine: str = typer.Argument(help="A name of `logpost machines list`, or the path of a machine file."),
    as_json: bool = JSON,
    quiet: bool = QUIET,
    plot: bool = typer.Option(True, "--plot/--no-plot", help="Draw the piecewise lines over the message size."),
) -> None:
    """Show a machine's parameters with units, sources and uncertainties, and its lines over the message size.

    With --json, `tables` holds the tables of the file, and `values` every value by its place, with its coordinates
    (size, stride, burst, processors, name) in `at`. A value without uncertainty, interval or range has none stated.

    Example: logpost machines show alewife
    """
    from rich.console import Console

    from logpost.machines.document import document
    from logpost.machines.load import load_machine
    from logpost.machines.sheet import paragraph, sheet
    from logpost.machines.show import figures, observation_rows, rows, source_lines

    found = load_machine(machine)
    if as_json:
        _print_json(document(found))
        return
    console = Console()
    width = min(console.width, 120)
    heading = f"{found.title}  ({found.name}, {found.date}, {found.kind})"
    console.print(paragraph(heading, width), style="bold", markup=False, highlight=False)
    for line in source_lines(found):
        console.print(paragraph(line, width, "  "), markup=False, highlight=False)
    console.print()
    console.print(sheet("Parameters", rows(found), width))
    if found.observed:
        title = "Observed on it (no parameters: results to compare with)"
        console.print(sheet(title, observation_rows(found), width))
    if not quiet:
        _print_rest(console, found, width)
    if plot and not quiet:
        from logpost.machines.plot import figure_text

        for figure in figures(found):
            console.print(figure_text(figure, width=min(console.width, 100)))


@app.command()
def check(files: list[Path] = FILES, as_json: bool = JSON, quiet: bool = QUIET) -> None:
    """Check machine files; every problem names file, key, value and the way out. Exit status 2 if there is any.

    Example: logpost machines check my-cluster.toml
    """
    from logpost.machines.feeds import feeds
    from logpost.machines.load import LIBRARY, check_machine_file, library_names

    results = {}
    for path in files:
        of_library = str(path) in library_names() and not path.exists()
        results[str(path)] = check_machine_file(LIBRARY / f"{path}.toml" if of_library else path)
    problems = [line for _, found in results.values() for line in found]
    if as_json:
        _print_json({"files": {file: found for file, (_, found) in results.items()}})
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
    """Print a commented machine file to start from; it passes `check` as it is.

    Example: logpost machines template -o my-cluster.toml
    """
    from logpost.errors import InputError
    from logpost.machines.load import template_text
    from logpost.whole_file import write_whole

    if output is None:
        sys.stdout.write(template_text())
        return
    if output.exists() and not force:
        raise InputError(f"{output} already exists; pass --force to overwrite it")
    write_whole(output, template_text())
    if not quiet:
        print(f"{output} written; fill it in, then: logpost machines check {output}")


def _print_json(content: dict[str, Any]) -> None:
    print(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))


def _topology(machine: Machine) -> str:
    return machine.topology.describe() if machine.topology is not None else "-"


def _print_rest(console: Any, machine: Machine, width: int) -> None:
    from logpost.machines.feeds import feeds
    from logpost.machines.sheet import paragraph

    if machine.topology is not None:
        console.print(f"Topology: {machine.topology.describe()}", highlight=False)
        for name, fact in machine.topology.facts().items():
            shown = ", ".join(f"{k} {v:.4g}" for k, v in fact.items()) if isinstance(fact, dict) else f"{fact:.6g}"
            console.print(f"  {name}: {shown}", highlight=False)
    console.print("Models:", highlight=False)
    for model, gaps in feeds(machine).items():
        needs = "fed" if not gaps else f"needs {', '.join(gaps)}"
        console.print(paragraph(f"{model}: {needs}", width, "  "), markup=False, highlight=False)
    for note in machine.notes:
        console.print(paragraph(f"Note: {note}", width), markup=False, highlight=False)
