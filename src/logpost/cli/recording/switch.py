"""`--switch`: the file that switches recording on and off."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Switch = Annotated[
    Path | None,
    typer.Option(
        "--switch",
        metavar="FILE",
        help="Record while FILE says `on`: echo on > FILE, echo off > FILE, at any time; without FILE, off. Each "
        "process looks every 0.1 s. A program may switch by MPI_Pcontrol(1) and (0), too.",
    ),
]
