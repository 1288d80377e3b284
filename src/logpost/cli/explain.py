"""`logpost explain`: one message, or what a call sent, received, put, got or completed, split under each model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from logpost.cli.output import print_json
from logpost.replay.cost.message_models import MessageModel

SHOWN = 10
"""Messages and transfers of a call shown as text without --top: each is up to a screen."""


def command(
    run: Annotated[Path, typer.Argument(help="A run directory that `logpost analyze` wrote.")],
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="MESSAGE|CALL",
            help="A message as RECEIVER:NUMBER (recv_location and recv_number of the table messages), or the number "
            "of a call (table calls). Without it, the messages and transfers that are explained worst are listed, and "
            "the longest collective operations.",
        ),
    ] = None,
    machine: Annotated[
        str | None, typer.Option("--machine", "-m", metavar="NAME|FILE", help="Split on this machine, not the run's.")
    ] = None,
    model: Annotated[
        list[MessageModel] | None, typer.Option("--model", help="Only under this model. May be repeated.")
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top", min=1, metavar="N", help=f"Show only N messages and transfers (text: {SHOWN} without it)."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object; times in picoseconds.")] = False,
) -> None:
    """Show where the time of one message, or of a call's messages, transfers and collective operations went.

    Each model of the LogP family splits it, side by side. The split is computed again from the run, so that any machine
    can be tried in place. The parts add up to the measured time under every model.

    Example: logpost explain app.run

    Example: logpost explain app.run 3:17

    Example: logpost explain app.run 120 --machine cluster.toml --model loggp --json
    """
    from rich.console import Console

    from logpost.analyzer.explain.calls import longest_operations, worst_transfers
    from logpost.analyzer.explain.messages import candidates, explain
    from logpost.analyzer.render.explain.json import as_json as object_of
    from logpost.analyzer.render.explain.json import candidates_json
    from logpost.analyzer.render.explain.text import print_candidates, print_explanation
    from logpost.analyzer.run.directory import Run
    from logpost.cli.progress import progress_bar
    from logpost.errors import InputError

    opened = Run.open(run)
    used = opened.manifest.machine.label
    if target is None:
        if machine is not None or model:
            raise InputError("--machine and --model need a message or a call; name one, e.g. 3:17")
        count = top or SHOWN
        transfers, operations = worst_transfers(opened, count), longest_operations(opened, count)
        # Without anything else, that there is no message is an error.
        messages = candidates(opened, count) if opened.manifest.messages or not (transfers or operations) else []
        if as_json:
            print_json(candidates_json(messages, transfers, operations, str(run), used))
        else:
            print_candidates(messages, transfers, operations, str(run), used, Console(highlight=False))
        return
    most = top if top is not None or as_json else SHOWN
    with progress_bar(quiet=as_json) as report:
        found = explain(opened, target, machine=machine, models=model or tuple(MessageModel), most=most, report=report)
    if as_json:
        print_json(object_of(found))
    else:
        print_explanation(found, Console(highlight=False))
