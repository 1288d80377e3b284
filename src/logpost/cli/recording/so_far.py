"""`--hang` and `--dump-signal`: when an archive of the run so far is made."""

from __future__ import annotations

from typing import Annotated

import typer

Hang = Annotated[
    str | None,
    typer.Option(
        "--hang",
        metavar="TIME",
        help="When a rank of this host sits in one call for so long (90s, 10min, 1h): make an archive of the run "
        "so far, once. The program continues.",
    ),
]

DumpSignal = Annotated[
    str | None,
    typer.Option(
        "--dump-signal",
        metavar="USR1|USR2",
        help="When record gets this signal: make an archive of the run so far. The program does not get it. "
        "(default: USR2 with --keep)",
    ),
]


def hang_seconds(hang: str | None) -> float | None:
    """After so many seconds in one call; None: never."""
    from logpost.collectors.watch import seconds

    return None if hang is None else seconds(hang)


def number(dump_signal: str | None, *, ring: bool) -> int | None:
    """The signal, which a flight recorder has by default; None: none."""
    from logpost.collectors.watch import signal_number

    return signal_number(dump_signal or "USR2") if dump_signal or ring else None
