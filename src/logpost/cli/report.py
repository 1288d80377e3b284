"""`logpost report`: where the time of a run went, and why."""

from __future__ import annotations

import json
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from logpost.cli.selection import FromOption, PhaseOption, RegionOption, ToOption, scoped, selection

if TYPE_CHECKING:
    from logpost.analyzer.report.data import ModelFit


class View(str, Enum):
    """How the time of a run is divided."""

    categories = "categories"
    sens = "sens"


def command(
    run: Annotated[Path, typer.Argument(help="A run directory that `logpost analyze` wrote.")],
    html: Annotated[
        Path | None, typer.Option("--html", help="Write one self-contained HTML file instead of text.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the HTML file.")] = False,
    top: Annotated[
        int | None,
        typer.Option("--top", min=1, metavar="N", help="Show only the N largest findings and places in the code."),
    ] = None,
    models: Annotated[
        bool, typer.Option("--models", help="Split the messages under each model, too, and compare the models.")
    ] = False,
    view: Annotated[
        View, typer.Option("--view", help="Divide the time into categories, or into the four parts of SENS.")
    ] = View.categories,
    begin: FromOption = None,
    end: ToOption = None,
    region: RegionOption = None,
    phase: PhaseOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object; times in seconds.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only warnings, the conclusion and the findings' titles.")
    ] = False,
) -> None:
    """Say where the time of a run went, and why: findings first, then the figures behind them.

    Example: logpost report trace.run

    Example: logpost report trace.run --html report.html --force

    Example: logpost report trace.run --region solve --top 3

    Example: logpost report trace.run --models

    Example: logpost report trace.run --view sens
    """
    from rich.console import Console

    from logpost.analyzer.run.directory import Run
    from logpost.whole_file import refuse_existing

    if html is not None:
        refuse_existing(html, force=force)
    opened = scoped(Run.open(run), selection(begin, end, region, phase))
    fits: tuple[ModelFit, ...] = ()
    if models:
        from logpost.analyzer.explain.model_fits import model_fits
        from logpost.cli.progress import progress_bar

        with progress_bar(quiet=quiet or as_json) as progress:
            fits = model_fits(opened, progress)
    if html is not None:
        from logpost.dashboards.report.html import write_report

        write_report(opened, html, top, fits)
        if not quiet and not as_json:
            Console().print(f"report written to {html}", markup=False, highlight=False, soft_wrap=True)
        if not as_json:
            return
    from logpost.analyzer.report.build import build

    report = build(opened, fits)
    hidden = 0
    if top is not None:
        hidden = max(0, len(report.findings) - top)
        report = replace(
            report,
            findings=report.findings[:top],
            places=report.places[:top],
            critical_path=report.critical_path
            and replace(report.critical_path, places=report.critical_path.places[:top]),
            delays=report.delays and replace(report.delays, places=report.delays.places[:top]),
        )
    if as_json:
        from logpost.analyzer.render.report.json import as_json as object_of

        typer.echo(json.dumps(object_of(report), indent=2, allow_nan=False))
        return
    from logpost.analyzer.render.report.text import print_report

    console = Console(highlight=False)
    print_report(report, console, quiet=quiet, sens=view is View.sens)
    if hidden and not quiet:
        console.print(f"\n{hidden} smaller findings are not shown (--top {top})", markup=False, style="dim")
