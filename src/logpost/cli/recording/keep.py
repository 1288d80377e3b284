"""`--keep`, `--keep-in` and `--limit`: how much of a long recording is kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from logpost.collectors.keep import Keep as Bounds

Keep = Annotated[
    str | None,
    typer.Option(
        "--keep",
        metavar="TIME|SIZE",
        help="Flight recorder: each process keeps its last 60s, 10min, 500MB (or 10min,2GB) in a ring; what is "
        "overwritten is counted, and every report says so. Sets --dump-signal USR2. A time alone: at most 500MB.",
    ),
]

KeepIn = Annotated[
    Path | None,
    typer.Option(
        "--keep-in", metavar="DIR", help="Where the rings are, such as /dev/shm (default: the archive's folder)."
    ),
]

Limit = Annotated[
    int | None,
    typer.Option("--limit", min=1, help="Stop recording a thread when its raw log reaches this many MiB."),
]


def bounds(keep: str | None, keep_in: Path | None, limit: int | None) -> Bounds | None:
    """The bounds of each ring; None: all is kept. Raises InputError for options that contradict each other."""
    from logpost.collectors.keep import keep as parsed
    from logpost.errors import InputError

    if keep is not None and limit is not None:
        raise InputError(f"--limit {limit} stops a recording that --keep {keep} is to bound; leave one out")
    if keep_in is not None and keep is None:
        raise InputError(f"--keep-in {keep_in} is about rings; write --keep 10min, too, or leave it out")
    return None if keep is None else parsed(keep)
