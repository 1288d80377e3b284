"""`--with scorep`, `--memory` and `--filter`: measure with Score-P."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

With = Annotated[
    str | None,
    typer.Option(
        "--with", metavar="scorep", help="Measure with your site's Score-P; the program must be instrumented."
    ),
]

Memory = Annotated[
    str | None,
    typer.Option("--memory", metavar="SIZE", help="Score-P's memory per process, as in 500M (default: estimated)."),
]

Filter = Annotated[
    Path | None, typer.Option("--filter", help="Score-P's filter file; `logpost scorep filter` proposes one.")
]


def refuse_unknown(measure_with: str | None, memory: str | None, filter_file: Path | None) -> None:
    """Raise InputError for another tool, and for Score-P's options without it."""
    from logpost.errors import InputError

    if measure_with not in (None, "scorep"):
        raise InputError(f"--with {measure_with} is not known; write --with scorep, or leave it out")
    if measure_with is None and (memory is not None or filter_file is not None):
        raise InputError(f"{'--memory' if memory else '--filter'} is Score-P's; write --with scorep, too")


def refuse_ours(given: dict[str, bool]) -> None:
    """Raise InputError for the first option that is given and is the recorder's alone."""
    from logpost.errors import InputError

    for option, is_given in given.items():
        if is_given:
            raise InputError(
                f"{option} is not for Score-P, which has a separate recorder; leave out it or --with scorep"
            )
