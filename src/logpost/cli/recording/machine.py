"""`--calibrate`, `--machine` and `--topology`: which machine and network are kept with the archive."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

Calibrate = Annotated[
    str | None,
    typer.Option(
        "--calibrate",
        metavar="quick|none|FILE",
        help="quick: measure the machine inside MPI_Init, at most 0.5 s; none; or a machine file "
        "(`logpost calibrate`) to keep with the archive. (default: quick)",
    ),
]

CalibrateLayouts = Annotated[
    float | None,
    typer.Option(
        "--calibrate-layouts",
        metavar="SECONDS",
        min=0.0,
        help="With --calibrate quick: inside MPI_Finalize, measure strided layouts that the program sent and that "
        "MPI_Init had not measured, and one-sided transfers, for at most so long; 0: none. (default: 0.5)",
    ),
]

Machine = Annotated[
    str | None,
    typer.Option("-m", "--machine", help="Machine file to keep with the archive; the same as --calibrate FILE."),
]

Topology = Annotated[
    Path | None,
    typer.Option(
        "--topology",
        metavar="FILE",
        help="The network to keep with the archive: output of `scontrol show topology` or ibnetdiscover. (default: "
        "what Slurm states)",
    ),
]


@dataclass(frozen=True)
class Source:
    """Where the machine is from.

    Attributes:
        measured: it is measured inside MPI_Init.
        file: machine file that is kept with the archive.
    """

    measured: bool
    file: Path | None


def source(machine: str | None, calibrate: str | None) -> Source:
    """What both options say. Raises InputError for both at once, and for a machine file that is faulty."""
    from logpost.errors import InputError

    if machine is not None and calibrate is not None:
        raise InputError(
            f"--machine {machine} and --calibrate {calibrate} both say where the machine comes from; keep one"
        )
    named = machine if machine is not None else None if calibrate in (None, "quick", "none") else calibrate
    if named is None:
        return Source(calibrate != "none", None)
    from logpost.machines.schema.load import find_machine_file, load_machine_file

    file = find_machine_file(named)
    load_machine_file(file)  # before the program runs: a faulty file must not cost a recording
    return Source(False, file)


def layouts_s(given: float | None, source: Source) -> float:
    """The time of MPI_Finalize. Raises InputError where it is given and the machine is not measured."""
    from logpost.collectors.calibration.within_init import LAYOUTS_S
    from logpost.errors import InputError

    if given and not source.measured:
        raise InputError(
            f"--calibrate-layouts {given:g} measures in addition to --calibrate quick, and no machine is measured; "
            "leave one of the options out"
        )
    return LAYOUTS_S if given is None else given


def topology_text(file: Path | None) -> str | None:
    """The text of `--topology`. Raises InputError where it is no network: a faulty file must not cost a recording."""
    if file is None:
        return None
    from logpost.errors import InputError
    from logpost.machines.site.topology import parse_text

    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"--topology {file} cannot be read: {error.strerror}") from error
    parse_text(text, str(file))
    return text
