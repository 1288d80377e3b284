"""`--mpi`, `--stack`, `--sample`, `--io`, `--functions` and `--window`: what is recorded, with which path."""

from __future__ import annotations

from typing import Annotated

import typer

Mpi = Annotated[
    str | None, typer.Option("--mpi", help="Path of your MPI's mpicc, or openmpi, mpich, abi (default: detected).")
]

Stack = Annotated[
    int,
    typer.Option("--stack", min=0, max=64, help="Callers to keep per call; 1: only the direct caller, 0: none."),
]

Sample = Annotated[
    float,
    typer.Option(
        "--sample",
        min=0,
        max=1000,
        metavar="HZ",
        help="How often each second of a thread's processor time to note which code it is in between calls; 0: never. "
        "x86-64, from Linux 5.11 and glibc 2.35 on.",
    ),
]

Io = Annotated[
    bool,
    typer.Option(
        "--io",
        help="Name the files that are read and written.",
    ),
]

Functions = Annotated[
    bool,
    typer.Option(
        "--functions",
        help="Functions that were compiled with -finstrument-functions become regions. They are the call path "
        "then: no stacks are kept.",
    ),
]

Window = Annotated[
    int, typer.Option("--window", min=64, max=1 << 20, help="Mapped memory per thread that calls MPI, in KiB.")
]
