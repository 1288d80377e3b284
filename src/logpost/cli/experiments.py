"""`logpost experiments`: run the papers' experiments again, and set paper, formula and testbed side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from logpost.cli.output import print_json

if TYPE_CHECKING:
    from rich.console import Console

    from logpost.experiments.framework.runner import Outcome

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Run the papers' experiments again. Example: logpost experiments run em3d-order -o experiments",
)

JSON = typer.Option(False, "--json", help="Print one JSON object instead of text.")
QUIET = typer.Option(False, "--quiet", "-q", help="Print only the names, or only the paths of what was written.")
NAMES = typer.Argument(metavar="NAME...", help="Names of `logpost experiments list`, or all.")
OUTPUT = typer.Option(
    Path("experiments"), "--output", "-o", help="Folder for experiments.html, experiments.md and the runs."
)
HTML = typer.Option(False, "--html", help="Write only experiments.html, the paper's figures next to these.")
FORCE = typer.Option(False, "--force", help="Overwrite experiments.html and experiments.md.")
QUICK = typer.Option(False, "--quick", help="Run small sizes, in seconds, to check that everything works.")


@app.command("list")
def list_experiments(as_json: bool = JSON, quiet: bool = QUIET) -> None:
    """List the experiments: what each compares, from which paper, and what it needs.

    Example: logpost experiments list
    """
    from logpost.experiments.framework.needs import missing
    from logpost.experiments.framework.registry import experiments

    known = list(experiments().values())
    if as_json:
        rows: list[dict[str, Any]] = [
            {
                "name": one.name,
                "title": one.title,
                "paper": one.paper,
                "where": one.where,
                "needs": [need.name.lower() for need in one.needs],
                "missing": missing(one.needs) or None,
            }
            for one in known
        ]
        print_json({"experiments": rows}, ascii_only=False)
        return
    if quiet:
        print("\n".join(one.name for one in known))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Experiments (logpost experiments run NAME, or all)")
    for column in ("name", "compares", "paper", "needs"):
        table.add_column(column, overflow="fold", no_wrap=column == "name")
    for one in known:
        needs = ", ".join(need.name.lower() for need in one.needs) or "nothing"
        lacking = " (missing)" if missing(one.needs) else ""
        table.add_row(one.name, one.title, f"{one.paper} {one.where}", needs + lacking)
    Console().print(table)


@app.command()
def run(
    names: list[str] = NAMES,
    output: Path = OUTPUT,
    html: bool = HTML,
    quick: bool = QUICK,
    force: bool = FORCE,
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Run experiments, and write a page to compare with the papers.

    Each experiment keeps its archives and runs in FOLDER/runs/NAME. One that cannot run here (no SimGrid, say) is named
    with what it needs, and the others continue; the exit status is 2 if its name was given.

    Example: logpost experiments run all -o experiments --force

    Example: logpost experiments run diamond-dag --quick --html
    """
    from rich.console import Console

    from logpost.cli.ending import cleaned_up_on_signals
    from logpost.cli.progress import progress_bar
    from logpost.experiments.framework import runner, write
    from logpost.experiments.framework.json_results import as_json as object_of
    from logpost.experiments.framework.registry import chosen
    from logpost.whole_file import refuse_existing

    wanted = chosen(names)
    for page in ("experiments.html",) if html else ("experiments.html", "experiments.md"):
        refuse_existing(output / page, force=force)
    write.prepare(output)
    console = Console(stderr=True, highlight=False)
    said = not quiet and not as_json

    def finished(outcome: Outcome) -> None:
        if said:
            _say(outcome, console)

    with cleaned_up_on_signals(with_programs=True), progress_bar(quiet=quiet) as report:
        outcomes = runner.run(wanted, output, quick=quick, progress=report, finished=finished)
    options = [option for option, given in (("--html", html), ("--quick", quick)) if given]
    command = " ".join(["logpost", "experiments", "run", *names, *options])
    written = write.pages(outcomes, output, command, quick=quick, html=html)
    if as_json:
        print_json(object_of(outcomes, quick=quick, host=written.host), ascii_only=False)
    else:
        print("\n".join(map(str, written.paths)))
    for defect in (outcome.defect for outcome in outcomes if outcome.defect):
        raise defect
    failed = [outcome for outcome in outcomes if outcome.result is None]
    if failed and "all" not in names:
        if not said:
            for outcome in failed:
                _say(outcome, console)
        raise typer.Exit(2)


def _say(outcome: Outcome, console: Console) -> None:
    from logpost.experiments.framework.words import claims_text

    name = outcome.experiment.name
    if outcome.result is None:
        console.print(f"[yellow]{name}[/yellow] not run: ", end="")
        console.print(outcome.reason, markup=False, soft_wrap=True)
        return
    held = claims_text(outcome.result.claims)
    console.print(f"[green]{name}[/green] ({outcome.seconds:.1f} s; claims: {held})", soft_wrap=True)
    console.print(f"  {outcome.result.summary}", markup=False, soft_wrap=True)
