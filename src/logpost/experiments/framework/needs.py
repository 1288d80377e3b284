"""What an experiment needs of the machine it runs on, and what to say where that is missing."""

from __future__ import annotations

import enum
import shutil
from collections.abc import Iterable


class Need(enum.Enum):
    """Something that may be missing."""

    TESTBED = "the virtual testbed (SimGrid)"
    MPI = "an MPI (mpicc, mpirun)"
    SHMEM = "an OpenSHMEM (oshcc, oshrun)"


_COMMANDS: dict[Need, tuple[tuple[str, ...], str]] = {
    Need.TESTBED: (("smpicc", "smpirun"), "install SimGrid (Debian: apt install libsimgrid-dev)"),
    Need.MPI: (("mpicc", "mpirun"), "install openmpi-bin and libopenmpi-dev, or load your site's MPI module"),
    Need.SHMEM: (("oshcc", "oshrun"), "install openmpi-bin and libopenmpi-dev, or load a module with OpenSHMEM"),
}


def missing(needs: Iterable[Need]) -> str:
    """Why these needs cannot be met here, with the way out, in one line; empty when they can."""
    for need in needs:
        commands, way_out = _COMMANDS[need]
        absent = [command for command in commands if shutil.which(command) is None]
        if absent:
            are = "is" if len(absent) == 1 else "are"
            return f"needs {need.value}, and {' and '.join(absent)} {are} not on PATH: {way_out}"
    return ""
