"""Other libraries that interpose on MPI: profilers such as mpiP, which define `MPI_Send` and call `PMPI_Send`.

The interposer defines both names. In front of a profiler it would take the program's calls and hand them to the MPI
library: the profiler would see none. Behind it, the profiler's wrappers run as they do without the recorder, and what
they call reaches the interposer. So what the user preloads stays in front; a profiler that the program is linked to is
behind every preload, and is preloaded, too.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

from logpost.collectors import mpi

_SECTION = struct.Struct("=IIQQQQIIQQ")  # Elf64_Shdr
_SYMBOL = struct.Struct("=IBBHQQ")  # Elf64_Sym
_DYNSYM = 11  # SHT_DYNSYM of elf.h


def preloads(before: str | None, command: Sequence[str], ours: str) -> str:
    """LD_PRELOAD of a recorded command: the user's own, profilers that its programs are linked to, the interposer."""
    linked = [str(x) for program in mpi.programs(command) for x in linked_profilers(program)]
    return ":".join(dict.fromkeys([*(before or "").replace(" ", ":").strip(":").split(":"), *linked, ours])).strip(":")


def linked_profilers(program: Path) -> list[Path]:
    """Libraries that a program is linked to before the MPI library and that wrap its functions."""
    found: list[Path] = []
    for library in mpi.linked_libraries(program):
        if mpi.abi_of_soname(library.name):
            return [x for x in found if wraps_mpi(x)]
        found.append(library)
    return []


def wraps_mpi(library: Path) -> bool:
    """Whether a library defines a function `MPI_X` and calls `PMPI_X`."""
    defined, called = set(), set()
    for name, is_defined in _symbols(library.read_bytes()):
        if is_defined and name.startswith(b"MPI_"):
            defined.add(name)
        elif not is_defined and name.startswith(b"PMPI_"):
            called.add(name[1:])
    return not defined.isdisjoint(called)


def _symbols(elf: bytes) -> Iterator[tuple[bytes, bool]]:
    """Dynamic symbols of a 64-bit ELF file: name, whether it defines it; none of a damaged file."""
    if elf[:5] != b"\x7fELF\x02" or len(elf) < 64:
        return
    (at,) = struct.unpack_from("=Q", elf, 40)
    size, count = struct.unpack_from("=HH", elf, 58)
    if size != _SECTION.size or at + count * size > len(elf):
        return
    sections = [_SECTION.unpack_from(elf, at + i * size) for i in range(count)]
    for _, kind, _, _, begin, length, link, *_ in sections:
        if kind != _DYNSYM or link >= count or begin + length > len(elf):
            continue
        names = sections[link][4]
        for i in range(length // _SYMBOL.size):
            name, _, _, section, _, _ = _SYMBOL.unpack_from(elf, begin + i * _SYMBOL.size)
            yield elf[names + name : elf.find(b"\0", names + name)], section != 0
