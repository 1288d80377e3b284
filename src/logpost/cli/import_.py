"""`logpost import`: make an OTF2 archive of traces that other tools wrote in their formats."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from logpost.cli.output import print_json

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Make an OTF2 archive of another tool's traces.\n\nExample: logpost import gasnet trace-* -o traces",
)

FILES = typer.Argument(help="GASNet's trace files of one run, one per process (GASNET_TRACEFILE=trace-%).")
OUTPUT = typer.Option(..., "--output", "-o", help="Directory for the archive.", show_default=False)
FORCE = typer.Option(False, "--force", help="Overwrite an archive that is there.")
JSON = typer.Option(False, "--json", help="Print what was imported as JSON.")
QUIET = typer.Option(False, "--quiet", "-q", help="Print only problems.")


@app.callback()
def group() -> None:
    """Keep `gasnet` a verb of its own though it is the only one."""


@app.command()
def gasnet(
    files: list[Path] = FILES, output: Path = OUTPUT, force: bool = FORCE, as_json: bool = JSON, quiet: bool = QUIET
) -> None:
    """Make an archive of a UPC, UPC++ or Chapel program's GASNet trace files.

    GASNet writes them when it is built with --enable-trace and the program runs with GASNET_TRACEFILE=trace-% and
    GASNET_TRACEMASK=GPRSWBA. Lines that are not understood are counted.

    Example: logpost import gasnet trace-* -o traces && logpost analyze traces -o app.run
    """
    from logpost.cli.next_step import analyze_next
    from logpost.collectors.gasnet.importing import import_gasnet

    def say(text: str) -> None:
        print(f"logpost: {text}", file=sys.stderr, flush=True)

    made = import_gasnet(files, output, force=force, say=lambda text: None if quiet else say(text))
    for warning in made.warnings:
        say(warning)
    if as_json:
        print_json({"archive": str(made.path), **made.summary})
    elif not quiet:
        s = made.summary
        say(
            f"{s['recorded']} of {s['processes']} processes, {s['lines']} lines: {s['puts']} puts, {s['gets']} gets, "
            f"{s['atomics']} atomics, {s['messages_sent']} active messages, {s['barriers']} barriers; "
            f"clocks aligned within {s['clock_error_us']} \N{MICRO SIGN}s"
        )
        say(analyze_next(made.path))
