"""`logpost compare`: two runs side by side, and a gate for a CI job."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from logpost.cli.selection import FromOption, PhaseOption, RegionOption, ToOption, scoped, selection


def command(
    a: Annotated[Path, typer.Argument(help="The run before the change.")],
    b: Annotated[Path, typer.Argument(help="The run after the change.")],
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if",
            metavar="EXPR",
            help="Exit with status 1 if this holds: NAME > +5% (relative change), NAME > +3ms (change), NAME > 20% "
            "(share of B's time), NAME > 3ms. NAME: a category, contention, overhead, waiting, communication, an "
            "efficiency, wait_state.late_sender, ..., wall. May be repeated.",
        ),
    ] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Also write one self-contained HTML file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the HTML file.")] = False,
    top: Annotated[
        int | None,
        typer.Option(
            "--top", min=1, metavar="N", help="Show only the N regions that changed most, and N findings of a kind."
        ),
    ] = None,
    begin: FromOption = None,
    end: ToOption = None,
    region: RegionOption = None,
    phase: PhaseOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object; times in seconds.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the gates that fail.")] = False,
) -> None:
    """Compare two runs: category by category, region by region, wait states, findings that came or went.

    Exit status 1 if a gate holds.

    Example: logpost compare before.run after.run --fail-if 'contention > +5%'

    Example: logpost compare before.run after.run --region solve --html comparison.html --force
    """
    from logpost.analyzer.compare import compare
    from logpost.analyzer.reporting.gate import check, parse
    from logpost.analyzer.run import Run
    from logpost.whole_file import refuse_existing

    if html is not None:
        refuse_existing(html, force=force)
    gates = [parse(text) for text in fail_if or []]
    chosen = selection(begin, end, region, phase)
    before, after = scoped(Run.open(a), chosen), scoped(Run.open(b), chosen)
    comparison = compare(before, after)
    if html is not None:
        from logpost.dashboards.report.html import write_comparison

        write_comparison(before, after, html)
    verdicts = [check(gate, comparison) for gate in gates]
    if top is not None:
        comparison = replace(
            comparison,
            regions=comparison.regions[:top],
            gone=comparison.gone[:top],
            came=comparison.came[:top],
            stayed=comparison.stayed[:top],
        )
    if as_json:
        from logpost.analyzer.reporting.compare_json import as_json as object_of

        typer.echo(json.dumps(object_of(comparison, verdicts), indent=2, allow_nan=False))
    else:
        from rich.console import Console

        from logpost.analyzer.reporting.compare_text import print_comparison

        print_comparison(comparison, verdicts, Console(highlight=False), quiet=quiet)
    if any(verdict.holds for verdict in verdicts):
        raise typer.Exit(1)
