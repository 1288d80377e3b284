"""The `logpost` command: registers the verbs and turns a user's mistake into one line and exit status 2."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from logpost import __version__
from logpost.errors import InputError

# Verb -> the line `logpost --help` shows. A verb's module (of the same name) is imported only when the verb runs, so
# that `logpost --help` and `logpost record` need no table library.
VERBS: dict[str, str] = {
    "record": "Run an unmodified MPI program and leave an OTF2 archive.",
    "analyze": "Read an OTF2 archive, split every message, write a run.",
    "report": "Say where the time of a run went, and why.",
    "compare": "Compare two runs; can gate a CI job.",
    "export": "Write a run as CSV or for Perfetto.",
    "calibrate": "Measure this machine and write its machine file.",
    "machines": "List, show and check machine files.",
    "models": "List the models and show their equations.",
    "predict": "Evaluate a model for parameters or a machine.",
    "workloads": "List, build and run the papers' applications.",
    "experiments": "Run the papers' experiments again; paper, formula, testbed side by side.",
    "testbed": "Run an MPI program in simulated time on a machine file.",
    "doctor": "Say what this machine has and what is missing.",
}


def _version(show: bool) -> None:
    if show:
        typer.echo(f"logpost {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Where every microsecond of an MPI program's communication went.

    Example: logpost record -o t -- mpirun -n 4 ./app && logpost analyze t -o app.run && logpost report app.run
    """


def _stub(line: str) -> Callable[[], None]:
    def verb() -> None:
        """Stands in the list of verbs only."""

    verb.__doc__ = line
    return verb


def build(wanted: str | None) -> typer.Typer:
    """The command line with the verb `wanted` imported and the others as lines of the help."""
    app = typer.Typer(
        add_completion=False, no_args_is_help=True, rich_markup_mode="rich", pretty_exceptions_enable=False
    )
    app.callback()(_options)
    for verb, line in VERBS.items():
        if importlib.util.find_spec(f"logpost.cli.{verb}") is None:
            continue
        if verb != wanted:
            app.command(name=verb)(_stub(line))
            continue
        module: Any = importlib.import_module(f"logpost.cli.{verb}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=verb)
        else:
            app.command(name=verb, **getattr(module, "COMMAND_SETTINGS", {}))(module.command)
    return app


def main() -> None:
    """Entry point. Exit status: 0 done, 1 a gate failed, 2 bad input or usage."""
    wanted = next((argument for argument in sys.argv[1:] if not argument.startswith("-")), None)
    try:
        build(wanted)()
    except InputError as error:
        print(f"logpost: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # `logpost report | head`: nothing is wrong, and Python must not complain while it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


if __name__ == "__main__":
    main()
