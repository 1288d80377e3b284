"""`logpost analyze`: an archive becomes a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from logpost.errors import InputError


def the_archive(place: Path) -> Path:
    """The archive that a path names: itself, or the only one in a directory that `record -o` was given."""
    if place.is_dir() and not any(place.glob("*.otf2")):
        inside = sorted({anchor.parent for anchor in place.glob("*/*.otf2")})
        if len(inside) == 1:
            return inside[0]
        if len(inside) > 1:
            names = ", ".join(path.name for path in inside[:4]) + (", ..." if len(inside) > 4 else "")
            raise InputError(f"{place} holds {len(inside)} archives ({names}); name one of them")
    return place


def command(
    archive: Annotated[Path, typer.Argument(help="The archive: its anchor file (*.otf2) or its directory.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Where to write the run.")] = None,
    machine: Annotated[
        str | None,
        typer.Option("-m", "--machine", help="Machine: a name of `logpost machines list`, a file, or `estimate`."),
    ] = None,
    threads: Annotated[int, typer.Option(min=0, help="Threads; 0: as many as there are cores.")] = 0,
    async_progress: Annotated[
        bool,
        typer.Option("--async-progress", help="The MPI answers rendezvous requests outside of MPI calls too."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing run.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Read an OTF2 archive, split every message into its causes, and write a run.

    Without --machine the machine recorded with the trace is taken (`logpost record --machine FILE`); where there is
    none, the LogGP parameters are estimated from the trace itself, and labelled so.

    Example: logpost analyze scorep_app_64_trace -o app.run --machine my-cluster.toml
    """
    from logpost.analyzer.request import Request, archive_name
    from logpost.analyzer.supervise import analyze
    from logpost.cli.progress import progress_bar

    if not archive.exists():
        raise InputError(f"{archive} does not exist; give the archive's anchor file (*.otf2) or its directory")
    archive = the_archive(archive)
    run = output or Path(f"{archive_name(archive)}.run")
    with progress_bar(quiet=quiet) as report:
        written = analyze(
            Request(str(archive), str(run), machine, threads, force, asynchronous_progress=async_progress), report
        )
    if not quiet:
        typer.echo(f"run: {written}\nnext: logpost report {written}")
