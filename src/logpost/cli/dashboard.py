"""`logpost dashboard`: runs in a browser, interactively."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    runs: Annotated[list[Path], typer.Argument(help="Run directories that `logpost analyze` wrote.")],
    host: Annotated[
        str,
        typer.Option(
            "--host", help="Address to serve on. Any but this machine's own demands the token that is printed."
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0: any that is free.")] = 8050,
    machine: Annotated[
        list[Path] | None, typer.Option("--machine", help="A machine file for what-if; may be given several times.")
    ] = None,
    token: Annotated[
        bool, typer.Option("--token", help="Demand a token on this machine, too: others are logged in here.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the address.")] = False,
) -> None:
    """Show runs in a browser: findings, timeline, messages, what-if. Ends with Ctrl-C.

    Example: logpost dashboard app.run

    Example: logpost dashboard before.run after.run --port 9000

    Example: logpost dashboard app.run --machine planned_cluster.toml
    """
    from logpost.errors import InputError

    try:
        import dash
        import dash_ag_grid
    except ImportError as error:
        raise InputError(
            f"the dashboard needs the Python package {error.name}; install it with: pip install 'logpost[dashboard]'"
        ) from error
    del dash, dash_ag_grid
    from logpost.dashboards.app.server import serve

    serve(
        runs, host, port, machines=machine or [], token=token, say=(lambda _line: None) if quiet else _say, address=_say
    )


def _say(line: str) -> None:
    """At once: a pipe's reader waits for the address, too."""
    print(line, flush=True)
