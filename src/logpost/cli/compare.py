"""`logpost compare`: two runs side by side, or repeats of two versions, and a gate for a CI job."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from logpost.cli.output import print_json
from logpost.cli.selection import FromOption, PhaseOption, RegionOption, Selection, ToOption, scoped, selection
from logpost.cli.several_values import with_several_values
from logpost.cli.short_help import with_common_options
from logpost.errors import InputError

if TYPE_CHECKING:
    from logpost.analyzer.render.compare.gate import Gate

INCONCLUSIVE_STATUS = 3
"""Exit status where no gate fails, but the noise hides whether one would."""

COMMAND_SETTINGS: dict[str, Any] = {
    "cls": with_common_options(
        "--with", "--fail-if", "--html", "--force", "--top", "--region", "--json", base=with_several_values("--with")
    )
}


def command(
    runs: Annotated[
        list[Path], typer.Argument(metavar="A B | A [A2 ...]", help="The runs before and after the change.")
    ],
    others: Annotated[
        list[Path] | None,
        typer.Option(
            "--with",
            metavar="B [B2 ...]",
            help="The runs after the change, repeats of one program; all before --with are those before it. "
            "Two or more show the noise.",
        ),
    ] = None,
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
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Also write one self-contained HTML file; of repeats, the runs of median length."),
    ] = None,
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
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only the gates that fail or are inconclusive.")
    ] = False,
) -> None:
    """Compare two runs: category by category, region by region, wait states, findings that are new or gone.

    With repeats (--with), every change has a 95 % interval, and a gate fails, passes or is inconclusive.

    Exit status 1 if a gate holds, 3 if none does but one is inconclusive.

    Example: logpost compare before.run after.run --fail-if 'contention > +5%'

    Example: logpost compare a1.run a2.run a3.run --with b1.run b2.run b3.run --fail-if 'wall > +3%'

    Example: logpost compare before.run after.run --region solve --html comparison.html --force
    """
    from logpost.analyzer.render.compare.gate import parse
    from logpost.whole_file import refuse_existing

    _refuse_odd(runs, others)
    if html is not None:
        refuse_existing(html, force=force)
    gates = [parse(text) for text in fail_if or []]
    chosen = selection(begin, end, region, phase)
    show = _Shown(html, top, as_json, quiet)
    status = (
        _pair(runs[0], runs[1], chosen, gates, show) if others is None else _repeats(runs, others, chosen, gates, show)
    )
    if status:
        raise typer.Exit(status)


@dataclass(frozen=True)
class _Shown:
    """What is printed, and where to."""

    html: Path | None
    top: int | None
    as_json: bool
    quiet: bool


def _refuse_odd(runs: Sequence[Path], others: Sequence[Path] | None) -> None:
    """Raise InputError for a number of runs that cannot be divided into before and after."""
    if others is not None:
        given = [*runs, *others]
        double = next((path for i, path in enumerate(given) if path in given[:i]), None)
        if double is not None:
            raise InputError(f"{double} is given twice; a repeat is another run of the same program")
    elif len(runs) != 2:
        way = "add the run after the change" if len(runs) == 1 else "put --with before the first run after the change"
        raise InputError(f"compare takes two runs, or repeats around --with; got {len(runs)}: {way}")


def _pair(a: Path, b: Path, chosen: Selection, gates: Iterable[Gate], show: _Shown) -> int:
    from logpost.analyzer.compare.two_runs import compare
    from logpost.analyzer.render.compare.gate import check
    from logpost.analyzer.run.directory import Run

    before, after = scoped(Run.open(a), chosen), scoped(Run.open(b), chosen)
    comparison = compare(before, after)
    if show.html is not None:
        from logpost.dashboards.report.html import write_comparison

        write_comparison(before, after, show.html)
    verdicts = [check(gate, comparison) for gate in gates]
    if show.top is not None:
        comparison = replace(
            comparison,
            regions=comparison.regions[: show.top],
            gone=comparison.gone[: show.top],
            appeared=comparison.appeared[: show.top],
            stayed=comparison.stayed[: show.top],
        )
    if show.as_json:
        from logpost.analyzer.render.compare.json import as_json as object_of

        print_json(object_of(comparison, verdicts))
    else:
        from rich.console import Console

        from logpost.analyzer.render.compare.text import print_comparison

        print_comparison(comparison, verdicts, Console(highlight=False), quiet=show.quiet)
    return int(any(verdict.holds for verdict in verdicts))


def _repeats(a: Sequence[Path], b: Sequence[Path], chosen: Selection, gates: Iterable[Gate], show: _Shown) -> int:
    from logpost.analyzer.compare.repeats.compare import compare_repeats, median_run
    from logpost.analyzer.render.repeats.gate import FAILS, INCONCLUSIVE, decide
    from logpost.analyzer.run.directory import Run

    before, after = ([scoped(Run.open(path), chosen) for path in paths] for paths in (a, b))
    repeats = compare_repeats(before, after)
    decisions = [decide(gate, repeats) for gate in gates]
    if show.html is not None:
        from logpost.dashboards.report.html import write_comparison

        length = repeats.change("wall")
        assert length is not None
        write_comparison(median_run(before, length.a), median_run(after, length.b), show.html)
    if show.as_json:
        from logpost.analyzer.render.repeats.json import as_json as object_of

        print_json(object_of(repeats, decisions))
    else:
        from rich.console import Console

        from logpost.analyzer.render.repeats.text import print_repeats

        print_repeats(repeats, decisions, Console(highlight=False), quiet=show.quiet, top=show.top)
    outcomes = {decision.outcome for decision in decisions}
    return 1 if FAILS in outcomes else INCONCLUSIVE_STATUS if INCONCLUSIVE in outcomes else 0
