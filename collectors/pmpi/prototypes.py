"""The table of prototypes, `prototypes.txt`: each MPI function with its number, parameters and what is noted of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from logpost.collectors import coarray
from logpost.collectors.shmem import generate as shmem_functions

TABLE = Path(__file__).with_name("prototypes.txt")

_LARGE = {"COUNT": "MPI_Count", "DISP": "MPI_Aint", "ACOUNT": "MPI_Count"}
_SMALL = {"COUNT": "int", "DISP": "int", "ACOUNT": "MPI_Aint"}
_WIDE = {"MPI_Count", "MPI_Aint", "MPI_Offset"}
_INTS = {"int", "MPI_Fint", "MPI_T_cb_safety", "MPI_T_source_order"}


@dataclass(frozen=True)
class Parameter:
    """One parameter: its name and how it travels through the wrapper."""

    name: str
    ctype: str


@dataclass(frozen=True)
class Function:
    """One MPI function: its number in the table, its prototype and what its wrapper notes."""

    number: int
    name: str
    returns: str
    parameters: tuple[Parameter, ...]
    role: str
    hook: str
    arguments: tuple[str, ...]
    large: bool


def _parameter(text: str, types: dict[str, str]) -> Parameter:
    if text == "...":
        return Parameter("...", "...")
    match = re.fullmatch(r"(.*?)(\w+)((?:\[[^\]]*\])*)", text)
    if match is None:
        raise ValueError(f"{TABLE.name}: cannot read the parameter {text!r}")
    ctype = match[1].replace("const ", "").strip()
    if "*" in ctype or match[3] or ctype.endswith("_function"):
        return Parameter(match[2], "void*")
    ctype = types.get(ctype, ctype)
    if ctype in _INTS:
        return Parameter(match[2], "int")
    return Parameter(match[2], "int64_t" if ctype in _WIDE else "lp_word")


@lru_cache(maxsize=1)
def functions() -> tuple[Function, ...]:
    """Read the table: each function once, its large-count form and its form `MPIX_` right after the plain one."""
    found: list[Function] = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        note, _, prototype = line.partition("|")
        role, hook, *arguments = note.split()
        match = re.fullmatch(r"\s*(\w+) MPI(\(X\))?_(\w+)\((.*)\)", prototype.rstrip())
        if match is None:
            raise ValueError(f"{TABLE.name}: cannot read {line!r}")
        returns, extension, stem, listed = match.groups()
        texts = [] if listed == "void" else [part.strip() for part in listed.split(",")]
        forms = [(f"MPI_{stem}", False)]
        if any(re.search(r"\b(COUNT|DISP|ACOUNT)\b", text) for text in texts):
            forms.append((f"MPI_{stem}_c", True))
        if extension:
            forms.append((f"MPIX_{stem}", False))
        for name, large in forms:
            found.append(
                Function(
                    number=len(found) + 1,
                    name=name,
                    returns=returns,
                    parameters=tuple(_parameter(text, _LARGE if large else _SMALL) for text in texts),
                    role=role,
                    hook=hook,
                    arguments=tuple(arguments),
                    large=large or stem.endswith("_c"),
                )
            )
    return tuple(found)


def first_of_shmem() -> int:
    """The number of the first function of OpenSHMEM: behind those of MPI and of coarrays."""
    return len(functions()) + len(coarray.functions()) + 1


def table_hash() -> int:
    """64-bit FNV-1a of the table: what the function numbers in a raw log refer to."""
    value = 0xCBF29CE484222325
    others = "\n".join(shmem_functions.rows(first_of_shmem()))
    for byte in TABLE.read_bytes() + coarray.TABLE.read_bytes() + others.encode():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def functions_text(program: str) -> str:
    """Return ``functions.txt``, which accompanies the raw logs: number, name, role and collective operation."""
    lines = [f"table {table_hash():016x} {program}"]
    for f in functions():
        operation = f.arguments[0] if f.hook in ("coll", "icoll", "coll_init") else "-"
        lines.append(f"{f.number} {f.name} {f.role} {operation}")
    lines += coarray.rows(len(functions()) + 1)
    lines += shmem_functions.rows(first_of_shmem())
    return "\n".join(lines) + "\n"
