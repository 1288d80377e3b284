"""`logpost workloads`: list, show, build and run the papers' applications."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from logpost.cli.output import print_json

if TYPE_CHECKING:
    from logpost.collectors.workloads.catalogue import Workload

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="List, show, build and run the papers' applications. Example: logpost workloads run -n 4 em3d",
)

NAME = typer.Argument(help="A name of `logpost workloads list`.")
JSON = typer.Option(False, "--json", help="Print one JSON object instead of text.")
QUIET = typer.Option(False, "--quiet", "-q", help="Print only names, or only a path.")
COMPILER = typer.Option(None, "--mpicc", metavar="WRAPPER", help="Compiler wrapper (default: mpicc, or oshcc).")
PROGRAM = typer.Option(None, "--program", help="Which of the workload's programs (default: the first).")

OUTPUT = typer.Option(None, "--output", "-o", help="Folder for the executable (default: the cache).")
ARGUMENTS = typer.Argument(default_factory=list, help="The application's own arguments, after --.")


@app.command("list")
def list_workloads(as_json: bool = JSON, quiet: bool = QUIET) -> None:
    """List the applications: what each is, and from which paper.

    Example: logpost workloads list
    """
    from rich.console import Console
    from rich.table import Table

    from logpost.collectors.workloads.catalogue import WORKLOADS

    if as_json:
        print_json({"workloads": [_summary(entry) for entry in WORKLOADS]})
        return
    if quiet:
        print("\n".join(entry.name for entry in WORKLOADS))
        return
    table = Table(title="Workloads (options: logpost workloads run NAME -- --help)")
    for column in ("name", "what", "paper"):
        table.add_column(column, overflow="fold", no_wrap=column == "name")
    for entry in WORKLOADS:
        table.add_row(entry.name, entry.what, entry.paper)
    Console().print(table)


@app.command()
def show(name: str = NAME, as_json: bool = JSON, quiet: bool = QUIET) -> None:
    """Show one application: its paper, programs, sources and example arguments.

    Example: logpost workloads show em3d
    """
    from logpost.collectors.workloads.catalogue import workload

    entry = workload(name)
    summary = _summary(entry)
    if as_json:
        print_json(summary)
        return
    if quiet:
        print(entry.folder)
        return
    print(f"{entry.name}: {entry.what}\npaper: {entry.paper}\nsources: {entry.folder}")
    for program in entry.programs:
        print(f"program: {program.name} ({program.paradigm})")
    print(f"example: logpost workloads run {entry.name} -- {' '.join(entry.demo)}")
    print(f"record:  logpost record -- mpirun -n 4 $(logpost workloads build {entry.name} -q) {' '.join(entry.demo)}")


@app.command()
def build(
    name: str = NAME,
    output: Path | None = OUTPUT,
    compiler: str | None = COMPILER,
    program: str | None = PROGRAM,
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Compile an application with your MPI, and print the executable's path.

    Example: logpost workloads build em3d --mpicc mpicc.mpich -o .
    """
    from logpost.collectors.workloads.build import build as build_program
    from logpost.collectors.workloads.catalogue import workload

    executable = build_program(workload(name).program(program), compiler, output)
    if as_json:
        print_json({"executable": str(executable)})
    else:
        print(executable if quiet else f"built {executable}")


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def run(
    name: str = NAME,
    arguments: list[str] = ARGUMENTS,
    ranks: int = typer.Option(4, "--ranks", "-n", min=1, help="Processes to start."),
    compiler: str | None = COMPILER,
    launcher: str | None = typer.Option(None, "--mpirun", help="Launcher (default: the one in the compiler's folder)."),
    program: str | None = PROGRAM,
) -> None:
    """Compile an application if necessary and run it; logpost's options are before the name.

    Example: logpost workloads run -n 4 em3d -- --order improved
    """
    from logpost.collectors.workloads.build import run as run_program
    from logpost.collectors.workloads.catalogue import workload

    own = [*arguments[1:]] if arguments[:1] == ["--"] else [*arguments]
    status = run_program(workload(name).program(program), own, ranks, compiler, launcher)
    raise typer.Exit(status)


def _summary(entry: Workload) -> dict[str, Any]:
    return {
        "name": entry.name,
        "what": entry.what,
        "paper": entry.paper,
        "folder": str(entry.folder),
        "programs": [{"name": p.name, "paradigm": p.paradigm} for p in entry.programs],
        "quick": [list(arguments) for arguments in entry.quick],
        "demo": list(entry.demo),
    }
