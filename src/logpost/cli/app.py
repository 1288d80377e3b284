"""The `logpost` command: registers the verbs and turns a user's mistake into one line and exit status 2."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from typing import Any

import click
import typer
import typer.core

from logpost import __version__
from logpost.errors import InputError

# Verb -> (module in this package, the line `logpost --help` shows). A module is imported only when its verb runs, so
# that `logpost --help` and `logpost record` need no table library.
VERBS: dict[str, tuple[str, str]] = {
    "record": ("record", "Run an unmodified MPI program and leave an OTF2 archive."),
    "analyze": ("analyze", "Read an OTF2 archive, split every message, write a run."),
    "report": ("report", "Say where the time of a run went, and why."),
    "compare": ("compare", "Compare two runs; can gate a CI job."),
    "export": ("export", "Write a run as CSV or for Perfetto."),
    "machines": ("machines", "List, show and check machine files."),
    "models": ("models", "List the models and show their equations."),
    "predict": ("predict", "Evaluate a model for parameters or a machine."),
    "workloads": ("workloads", "List, build and run the papers' applications."),
    "doctor": ("doctor", "Say what this machine has and what is missing."),
}


class LazyVerbs(typer.core.TyperGroup):
    """A group whose verbs are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs that this installation has, in the order of a day's work."""
        return [verb for verb, (module, _) in VERBS.items() if _exists(module)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The click command of a verb, from `cli/<module>.py`'s `app` (a group) or `command` (one function)."""
        if cmd_name not in VERBS or not _exists(VERBS[cmd_name][0]):
            return None
        module: Any = importlib.import_module(f"logpost.cli.{VERBS[cmd_name][0]}")
        if hasattr(module, "app"):
            return typer.main.get_command(module.app)
        wrapper = typer.Typer(add_completion=False, rich_markup_mode="rich")
        wrapper.command(name=cmd_name, **getattr(module, "COMMAND_SETTINGS", {}))(module.command)
        return typer.main.get_command(wrapper)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of verbs, without importing any of them."""
        with formatter.section("Verbs"):
            formatter.write_dl([(verb, VERBS[verb][1]) for verb in self.list_commands(ctx)])

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Plain help; the rich renderer would import every verb for one line each."""
        click.Group.format_help(self, ctx, formatter)


def _exists(module: str) -> bool:
    return importlib.util.find_spec(f"logpost.cli.{module}") is not None


app = typer.Typer(cls=LazyVerbs, add_completion=False, no_args_is_help=True, rich_markup_mode="rich")


def _version(show: bool) -> None:
    if show:
        typer.echo(f"logpost {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version."
    ),
) -> None:
    """Where every microsecond of an MPI program's communication went.

    Example: logpost record -o trace -- mpirun -n 4 ./app && logpost analyze trace && logpost report trace.run
    """


def main() -> None:
    """Entry point. Exit status: 0 done, 1 a gate failed, 2 bad input or usage."""
    try:
        app(standalone_mode=True)
    except InputError as error:
        print(f"logpost: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # `logpost report | head`: nothing is wrong, and Python must not complain while it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


if __name__ == "__main__":
    main()
