"""`logpost report`: where the time of a run went, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from logpost.cli.output import print_json
from logpost.cli.selection import FromOption, PhaseOption, RegionOption, ToOption, scoped, selection
from logpost.cli.short_help import with_common_options

if TYPE_CHECKING:
    from logpost.analyzer.report.data import ModelFit

COMMAND_SETTINGS: dict[str, Any] = {
    "cls": with_common_options("--show", "--full", "--fail-if", "--html", "--force", "--top", "--region", "--json")
}


def command(
    run: Annotated[Path, typer.Argument(help="A run directory that `logpost analyze` wrote.")],
    show: Annotated[
        str | None,
        typer.Option(
            "--show",
            metavar="NAME,...",
            help="Show these sections instead of the screen: warnings, summary, findings, categories, sens, "
            "collectives, ranks, efficiencies, threads, waits, path, delays, regions, messages, network, models, "
            "machine, quality, limits.",
        ),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Show all sections.")] = False,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if",
            metavar="EXPR",
            help="Exit with status 1 if this holds: NAME > 20% (share of all ranks' time) or NAME > 3ms. NAME: lost, "
            "waiting, contention, a category, an efficiency, gain, ..., as for compare. May be repeated.",
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write one self-contained HTML file instead of text.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the HTML file.")] = False,
    top: Annotated[
        int | None,
        typer.Option("--top", min=1, metavar="N", help="Show only the N largest findings and places in the code."),
    ] = None,
    models: Annotated[
        bool,
        typer.Option("--models", help="Split the messages under each model, and compare: each part with its interval."),
    ] = False,
    begin: FromOption = None,
    end: ToOption = None,
    region: RegionOption = None,
    phase: PhaseOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object; times in seconds.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and the gates that fail.")] = False,
) -> None:
    """Say on one screen how much time a run loses, why, and what to do about it.

    Exit status 1 if a gate (--fail-if) holds.

    Example: logpost report trace.run

    Example: logpost report trace.run --show ranks,regions

    Example: logpost report trace.run --fail-if 'lost > 20%'

    Example: logpost report trace.run --html report.html --force

    Example: logpost report trace.run --region solve --full

    Example: logpost report trace.run --models
    """
    from rich.console import Console

    from logpost.analyzer.render.report.sections import SECTIONS, print_sections
    from logpost.analyzer.run.directory import Run
    from logpost.errors import InputError, suggestion
    from logpost.whole_file import refuse_existing

    names = show.split(",") if show is not None else []
    if unknown := [name for name in names if name not in SECTIONS]:
        raise InputError(
            f"--show {show}: there is no section {unknown[0]!r}; use some of {', '.join(SECTIONS)}"
            f"{suggestion(unknown[0], SECTIONS)}"
        )
    if html is not None:
        refuse_existing(html, force=force)
    chosen = selection(begin, end, region, phase)
    opened = scoped(Run.open(run), chosen)
    verdicts = []
    if fail_if:
        from logpost.analyzer.render.compare.gate import check_alone

        verdicts = check_alone(fail_if, opened)
    fits: tuple[ModelFit, ...] = ()
    if models or "models" in names:
        from logpost.analyzer.explain.model_fits import model_fits
        from logpost.cli.progress import progress_bar

        with progress_bar(quiet=quiet or as_json) as progress:
            fits = model_fits(opened, progress)
    console = Console(highlight=False)
    failed = [verdict for verdict in verdicts if verdict.holds]
    if html is not None:
        from logpost.dashboards.report.html import write_report

        write_report(opened, html, top, fits)
        if not quiet and not as_json:
            console.print(f"report written to {html}", markup=False, soft_wrap=True)
    if as_json or html is None:
        from logpost.analyzer.report.build import build

        report = build(opened, fits)
    if as_json:
        from logpost.analyzer.render.report.json import as_json as object_of

        gates = [{"expression": one.gate.text, "fails": one.holds, "sentence": one.sentence} for one in verdicts]
        print_json({**object_of(report, top), "gates": gates})
    elif html is None:
        if quiet:
            names = ["warnings"] if report.warnings else []
        if names or full:
            print_sections(report, console, names, top=top)
        elif not quiet:
            from logpost.analyzer.render.report.screen import FINDINGS, print_screen

            print_screen(report, console, top=top or FINDINGS, replays=chosen.everything)
            if fits:
                console.print()
                print_sections(report, console, ["models"])
    if not as_json:
        for verdict in failed if quiet else verdicts:
            console.print(verdict.sentence, markup=False, style="bold red" if verdict.holds else "")
    if failed:
        raise typer.Exit(1)
