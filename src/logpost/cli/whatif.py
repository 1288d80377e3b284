"""`logpost whatif`: what a run would have taken on another machine, or with other computation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def command(
    run: Annotated[Path, typer.Argument(help="The run to replay.")],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            "-s",
            metavar="NAME=VALUE",
            help="Change a parameter: L, o, o_s, o_r, g, G, eager_limit, as a value (L=5us, G=10GB/s) or a factor "
            "(L=x2), of all localities or one (other_node.L=x2); or progress=asynchronous, layout=contiguous, "
            "network=ideal. May be repeated.",
        ),
    ] = None,
    machine: Annotated[
        str | None, typer.Option("--machine", "-m", metavar="NAME|FILE", help="Replay on this machine.")
    ] = None,
    scale_compute: Annotated[
        list[str] | None,
        typer.Option(
            "--scale-compute",
            metavar="[WHERE=]F",
            help="Multiply the time between calls: 0.5 everywhere, solve=0.5 in a region, rank:3=0.5 on a rank. "
            "May be repeated.",
        ),
    ] = None,
    sweep: Annotated[
        str | None,
        typer.Option(
            "--sweep",
            metavar="NAME=A:B:N",
            help="Replay N values of a parameter, e.g. L=1us:100us:11 or L=x0.1:x10:11 (geometric; :lin for even "
            "steps), and say how much of it the program bears.",
        ),
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, metavar="N", help="Show the N regions that change most.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object; times in picoseconds.")] = False,
) -> None:
    """Predict what a run would have taken on another network, another machine, or with faster computation.

    The recorded messages, their order and the control flow stay as they are. With nothing changed, the replay gives
    back the measured times.

    Example: logpost whatif app.run --set L=x2

    Example: logpost whatif app.run --machine cluster.toml --scale-compute solve=0.5

    Example: logpost whatif app.run --sweep L=x0.1:x100:13
    """
    from logpost.analyzer.run import Run
    from logpost.analyzer.whatif import Ask, predict

    found = predict(
        Run.open(run),
        Ask(tuple(settings or ()), machine, tuple(scale_compute or ()), sweep),
    )
    if as_json:
        from logpost.analyzer.reporting.whatif_json import as_json as object_of

        typer.echo(json.dumps(object_of(found), indent=2, allow_nan=False))
    else:
        from rich.console import Console

        from logpost.analyzer.reporting.whatif_text import print_prediction

        print_prediction(found, Console(highlight=False), top=top)
