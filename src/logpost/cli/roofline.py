"""`logpost roofline`: each region's messages against the machine's own limits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from logpost.cli.output import print_json


def command(
    run: Annotated[Path, typer.Argument(help="A run directory that `logpost analyze` wrote.")],
    html: Annotated[Path | None, typer.Option("--html", help="Also write one self-contained HTML file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the HTML file.")] = False,
    top: Annotated[int | None, typer.Option("--top", min=1, metavar="N", help="Show only N regions.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object; times in seconds.")] = False,
) -> None:
    """Show how far each region's messages are from what the machine attains, and which limit is the roof.

    Limits: o (processors), g and G (NICs), L (one round of messages after another), bisection.

    Example: logpost roofline app.run

    Example: logpost roofline app.run --html roofline.html --force
    """
    from logpost.analyzer.predict.roofline import roofline
    from logpost.analyzer.run.directory import Run
    from logpost.whole_file import refuse_existing

    if html is not None:
        refuse_existing(html, force=force)
    opened = Run.open(run)
    found = roofline(opened)
    if html is not None:
        from logpost.dashboards.report.roofline import write_roofline

        write_roofline(opened, found, html)
    if as_json:
        from logpost.analyzer.render.roofline.json import as_json as object_of

        print_json(object_of(found))
        return
    from rich.console import Console

    from logpost.analyzer.render.roofline.text import print_roofline

    print_roofline(found, Console(highlight=False), top)
