"""`logpost scale`: how a program's time grows with its ranks, from runs on several numbers of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from logpost.cli.output import print_json


def command(
    runs: Annotated[list[Path], typer.Argument(help="Runs of one program on at least two numbers of ranks.")],
    to: Annotated[int, typer.Option("--to", min=2, metavar="RANKS", help="The number of ranks to predict.")],
    html: Annotated[Path | None, typer.Option("--html", help="Also write one self-contained HTML file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the HTML file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object; times in seconds.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Predict each category's time on more ranks, with an interval, and which one will dominate.

    Where ranks talk to neighbours on a grid, the program is replayed at the larger size. Three runs or more narrow the
    intervals; two can only bound them.

    Example: logpost scale app64.run app128.run app256.run --to 4096

    Example: logpost scale app64.run app128.run app256.run --to 4096 --html scale.html --force
    """
    from logpost.analyzer.predict.scale import scale
    from logpost.analyzer.run.directory import Run
    from logpost.cli.progress import progress_bar
    from logpost.whole_file import refuse_existing

    if html is not None:
        refuse_existing(html, force=force)
    with progress_bar(quiet=quiet or as_json) as report:
        found = scale([Run.open(run) for run in runs], to, report)
    if html is not None:
        from logpost.dashboards.report.scaling import write_scaling

        write_scaling(found, html)
    if as_json:
        from logpost.analyzer.render.scale.json import as_json as object_of

        print_json(object_of(found))
        return
    from rich.console import Console

    from logpost.analyzer.render.scale.text import print_scaling

    print_scaling(found, Console(highlight=False))
