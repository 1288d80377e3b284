"""`logpost report`: where the time of a run went, and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def command(
    run: Annotated[Path, typer.Argument(help="A run directory that `logpost analyze` wrote.")],
    html: Annotated[
        Path | None, typer.Option("--html", help="Write one self-contained HTML file instead of text.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object; times in seconds.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only warnings, the conclusion and what was found.")
    ] = False,
) -> None:
    """Say where the time of a run went, and why: findings first, then the figures behind them.

    Example: logpost report trace.run

    Example: logpost report trace.run --html report.html
    """
    from rich.console import Console

    from logpost.analyzer.run import Run

    opened = Run.open(run)
    if html is not None:
        from logpost.dashboards.html import write_report

        write_report(opened, html)
        if not quiet and not as_json:
            Console().print(f"report written to {html}", markup=False, highlight=False, soft_wrap=True)
        if not as_json:
            return
    from logpost.analyzer.reporting.build import build

    report = build(opened)
    if as_json:
        from logpost.analyzer.reporting.json_report import as_json as object_of

        typer.echo(json.dumps(object_of(report), indent=2, allow_nan=False))
        return
    from logpost.analyzer.reporting.text import print_report

    console = Console(highlight=False)
    print_report(report, console, quiet=quiet)
