"""Fortran coarrays: gfortran's coarray library (OpenCoarrays), wrapped together with MPI by the same interposer."""

from __future__ import annotations

import mmap
import re
from collections.abc import Sequence
from pathlib import Path

NATIVE = Path(__file__).parent / "native"
TABLE = Path(__file__).with_name("functions.txt")
_PREFIX = "_gfortran_caf_"


def functions() -> list[tuple[str, str, str]]:
    """Name behind ``_gfortran_caf_``, OTF2 role and collective operation of each function that is wrapped."""
    rows = [line.split() for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return [(name, role, operation) for name, role, operation in rows]


def rows(first: int) -> list[str]:
    """The rows for ``functions.txt``, numbered from ``first``; reductions to one image go by the name of all."""
    return [
        f"{number} {_PREFIX}{name.removesuffix('_to')} {role} {operation}"
        for number, (name, role, operation) in enumerate(functions(), first)
    ]


def header(first: int) -> str:
    """The numbers of the functions, for C."""
    numbers = "".join(f"    LPF_{name} = {number},\n" for number, (name, _, _) in enumerate(functions(), first))
    return f"/* Made from functions.txt. */\nenum lp_coarray_function {{\n{numbers}}};\n"


def static_program(command: Sequence[str]) -> Path | None:
    """The program of a command that holds the coarray library in itself, as the ``caf`` wrapper links it.

    Its coarray functions are no dynamic symbols, so they cannot be wrapped: MPI beneath them is what can be seen.
    """
    for word in command:
        path = Path(word)
        try:
            if not path.is_file() or path.stat().st_size == 0:
                continue
            with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
                if (
                    text[:4] == b"\x7fELF"
                    and text.find(b"_gfortran_caf_init") >= 0
                    and not re.search(rb"libcaf\w*\.so", text)
                ):
                    return path
        except OSError:
            continue
    return None
