"""`logpost models [NAME]`: the models, their equations, symbols, sources and validity."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from logpost.cli.output import print_json

if TYPE_CHECKING:
    from logpost.replay.models.interface import Model, Parameter

NAME = typer.Argument(
    None, metavar="NAME", help="The model to show; without it, all models are listed.", show_default=False
)
JSON = typer.Option(False, "--json", help="Print JSON instead of text.")
QUIET = typer.Option(False, "--quiet", "-q", help="Print only the names of the models, or only the equations.")
PAPERS = typer.Option(None, "--papers", help="Write the page that compares the papers' numbers with logpost's to FILE.")

UNITS_OF_KINDS = {
    "time": "time",
    "time_per_byte": "time/byte",
    "bytes": "bytes",
    "count": "number",
    "ratio": "number",
    "choice": "choice",
    "table": "from a machine",
}


def command(name: str | None = NAME, as_json: bool = JSON, quiet: bool = QUIET, papers: Path | None = PAPERS) -> None:
    """List the models, or show one: equations, parameters with their units, source, validity.

    Example: logpost models loggp

    Example: logpost models --papers docs/papers.md
    """
    from logpost.replay.models.registry import MODELS, model

    if papers is not None:
        from logpost.replay.models.papers.page import page
        from logpost.whole_file import write_whole

        write_whole(papers, page())
        return
    chosen = list(MODELS.values()) if name is None else [model(name)]
    if as_json:
        details = [_details(one) for one in chosen]
        print_json({"models": details} if name is None else details[0], ascii_only=False)
    elif quiet:
        print("\n".join(one.name for one in chosen) if name is None else "\n".join(chosen[0].equations))
    elif name is None:
        _list(chosen)
    else:
        _show(chosen[0])


def _list(models: list[Model]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Models (details: logpost models NAME; evaluate: logpost predict NAME)")
    for column in ("name", "what it predicts", "needs"):
        table.add_column(column, overflow="fold", no_wrap=column == "name")
    for one in models:
        table.add_row(one.name, one.title, " ".join(p.name for p in one.parameters if _is_needed(p)))
    Console().print(table)


def _show(one: Model) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.print(f"[bold]{one.name}[/bold]  {one.title}\n", highlight=False)
    for line in one.equations:
        console.print(f"    {line}", markup=False, highlight=False, soft_wrap=True)
    console.print()
    parameters = Table(title="Parameters (logpost predict ... --set NAME=VALUE)")
    for column in ("name", "unit", "default", "meaning"):
        parameters.add_column(column, overflow="fold", no_wrap=column == "name")
    for p in one.parameters:
        meaning = p.meaning + (f": {', '.join(p.choices)}" if p.choices else "")
        parameters.add_row(p.name, UNITS_OF_KINDS[p.kind], _default(p), meaning)
    console.print(parameters)
    results = Table(title="Results")
    for column in ("name", "unit", "meaning"):
        results.add_column(column, overflow="fold", no_wrap=column == "name")
    for output in one.outputs:
        results.add_row(output.name, UNITS_OF_KINDS[output.kind], output.meaning)
    console.print(results)
    console.print(f"Source: {one.source}", markup=False, highlight=False)
    console.print(f"Valid for: {one.validity}", markup=False, highlight=False)
    for note in one.notes:
        console.print(f"Note: {note}", markup=False, highlight=False)


def _is_needed(p: Parameter) -> bool:
    return p.default is None and not p.optional


def _default(p: Parameter) -> str:
    if _is_needed(p):
        return "needed"
    if p.default is None:
        return "left out"
    return p.default if isinstance(p.default, str) else f"{p.default:g}"


def _details(one: Model) -> dict[str, Any]:
    return {
        "name": one.name,
        "title": one.title,
        "equations": list(one.equations),
        "source": one.source,
        "validity": one.validity,
        "notes": list(one.notes),
        "parameters": [
            {
                "name": p.name,
                "unit": UNITS_OF_KINDS[p.kind],
                "meaning": p.meaning,
                "needed": _is_needed(p),
                "default": None if p.default is None else (p.default if isinstance(p.default, str) else _default(p)),
                "choices": list(p.choices),
            }
            for p in one.parameters
        ],
        "results": [{"name": o.name, "unit": UNITS_OF_KINDS[o.kind], "meaning": o.meaning} for o in one.outputs],
    }
