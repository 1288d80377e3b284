"""`logpost history`: runs of a program over time, in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from logpost.cli.output import print_json

app = typer.Typer(
    no_args_is_help=True,
    help="""Keep what each run of a program lost, and show the trend.

Example: logpost history add app.parquet app.run --label "$(git rev-parse --short HEAD)"

Example: logpost history show app.parquet --html trend.html --force
""",
)
File = Annotated[Path, typer.Argument(help="The history, a Parquet file.")]


@app.command()
def add(
    history: File,
    run: Annotated[Path, typer.Argument(help="A run directory that `logpost analyze` wrote.")],
    label: Annotated[str | None, typer.Option("--label", help="Of the run, e.g. a commit (default: its name).")] = None,
) -> None:
    """Append a run: its length, its categories and its first finding; the file is made where there is none.

    Example: logpost history add app.parquet app.run --label "$(git rev-parse --short HEAD)"
    """
    from logpost.analyzer.compare.history import add as append
    from logpost.analyzer.run.directory import Run

    append(history, Run.open(run), label or run.name)


@app.command()
def show(
    history: File,
    last: Annotated[int | None, typer.Option("--last", min=1, metavar="N", help="Only the last N runs.")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Also write one self-contained HTML file.")] = None,
    badge: Annotated[
        Path | None, typer.Option("--badge", help="Also write what the last run lost as an SVG badge.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the HTML file and the badge.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object; times in seconds.")] = False,
) -> None:
    """Show the share of lost time and of the largest categories from run to run.

    Example: logpost history show app.parquet --last 20

    Example: logpost history show app.parquet --html trend.html --badge lost.svg --force
    """
    from logpost.analyzer.compare.history import entries
    from logpost.whole_file import refuse_existing, write_whole

    for file in (html, badge):
        if file is not None:
            refuse_existing(file, force=force)
    found = entries(history)[-last if last else 0 :]
    if html is not None:
        from logpost.dashboards.report.history import write_history

        write_history(history.stem, found, html)
    if badge is not None:
        from logpost.analyzer.render.history.badge import badge as badge_of

        write_whole(badge, badge_of(found[-1]))
    if as_json:
        from logpost.analyzer.render.history.json import as_json as object_of

        print_json(object_of(found))
        return
    from rich.console import Console

    from logpost.analyzer.render.history.text import print_history

    print_history(found, Console(highlight=False))
