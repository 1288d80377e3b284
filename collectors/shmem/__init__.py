"""OpenSHMEM programs: the functions of Open MPI's liboshmem, wrapped together with those of MPI by the same
interposer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from logpost.collectors import mpi
from logpost.errors import InputError

NATIVE = Path(__file__).parent / "native"


def library_of(target: mpi.Mpi) -> Path | None:
    """The OpenSHMEM library that an MPI brings with it, next to its own; nothing when it has none."""
    if target.abi != mpi.OPENMPI or target.library is None:
        return None
    folders = dict.fromkeys((target.library.parent, target.library.resolve().parent))
    return next((path for folder in folders for path in sorted(folder.glob("liboshmem.so*"))), None)


def refuse_others(command: Sequence[str]) -> None:
    """Raise InputError when a command's program uses an OpenSHMEM that is not Open MPI's, with no MPI beneath it."""
    for program in mpi.programs(command):
        for library in mpi.linked_libraries(program):
            if re.match(r"lib(sma|shmem)\.so", library.name):
                raise InputError(
                    f"{program} uses {library}; of OpenSHMEM libraries only Open MPI's (liboshmem) can be recorded: "
                    "build the program with its oshcc"
                )


def exported_names(library: Path) -> frozenset[str]:
    """What a library may define: the words of its tables of strings, where ``pshmem_x`` may stand for ``shmem_x``."""
    words = {word.decode("ascii") for word in library.read_bytes().split(b"\0") if word.isascii()}
    return frozenset(words | {word[1:] for word in words if word.startswith("psh") or word == "pstart_pes"})
