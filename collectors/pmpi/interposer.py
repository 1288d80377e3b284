"""The interposer for one MPI: compiled when it is first needed, then kept in the cache.

The cache key is binary interface, version, exported names and the sources' hash, so an update of either side makes a
new file and never a stale one. The library is linked to no MPI.
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from logpost.collectors import build as cache
from logpost.collectors import coarray, mpi, recorder, shmem
from logpost.collectors.calibration.build import PARTS, PROGRAMS
from logpost.collectors.pmpi import generate, one_sided, prototypes
from logpost.collectors.shmem import generate as shmem_functions
from logpost.errors import InputError

SOURCES = Path(__file__).parent / "native"
_FILES = ("resolve.c", "looked_up.c", "comm.c", "layout.c", "runtime.c", "windows.c")
_CALIBRATION = ("calibrate.c", "quick.c")
"""Compiled like the parts of the calibration programs that they share: with calls.h in front."""
_SHARED = (
    "harness/clock.c",
    "harness/measuring.c",
    "harness/output.c",
    "harness/place.c",
    "harness/statistics.c",
    "timed/late.c",
    "timed/layout.c",
    "timed/message.c",
    "timed/reduction.c",
    "timed/requests.c",
    "timed/stream.c",
    "timed/transfer.c",
)
_OPTIONS = (
    "-std=gnu11",
    "-D_GNU_SOURCE",
    "-O2",
    "-fPIC",
    "-fno-semantic-interposition",
    "-w",
    "-Wfatal-errors",
)


_LINKING = (
    "-shared",
    "-static-libgcc",  # the unwinder: no library that the program does not have
    "-Wl,--hash-style=both",  # looked_up.c counts its symbols by DT_HASH
)


def exported_names(library: Path | None, includes: tuple[str, ...]) -> frozenset[str]:
    """Return the MPI functions that a library defines; without one, those that its mpi.h and mpi-ext.h declare."""
    known = {f.name for f in prototypes.functions()}
    if library is not None and shutil.which("nm"):
        done = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=False)
        names = {line.split()[-1].partition("@")[0] for line in done.stdout.splitlines() if line.strip()}
        if "PMPI_Init" in names or "MPI_Init" in names:
            return frozenset(n for n in known if n in names or f"P{n}" in names)
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "probe.c"
        source.write_text("#include <mpi.h>\n#if __has_include(<mpi-ext.h>)\n#include <mpi-ext.h>\n#endif\n")
        command = [*cache.c_compiler(), "-E", "-P", *includes, str(source)]
        text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return frozenset(known & set(re.findall(r"\b(MPIX?_\w+)\s*\(", text)))


def refuse_other_c_libraries() -> None:
    """Raise InputError where calls on files are not known by the names that programs refer to them by."""
    if platform.machine() != "x86_64" or platform.libc_ver()[0] != "glibc":
        raise InputError(
            f"record --io needs x86-64 with glibc; this is {platform.machine()} with "
            f"{platform.libc_ver()[0] or 'another C library'}: record without --io"
        )


def build(target: mpi.Mpi, say: Callable[[str], None] = lambda text: None, *, io: bool = False) -> Path:
    """Return the interposer for an MPI, and the OpenSHMEM that it brings, compiling it when the cache has none.

    With ``io`` it also has the C library's calls on files.

    Raises InputError when it does not compile, with the first line of the compiler's complaint.
    """
    names = exported_names(target.library, target.includes)
    openshmem = shmem.library_of(target)
    others = shmem_functions.wrapped(shmem.exported_names(openshmem)) if openshmem else frozenset()
    files = [
        *SOURCES.glob("*.*"),
        *recorder.sources(),
        *coarray.NATIVE.glob("*.*"),
        coarray.TABLE,
        Path(coarray.__file__),
        prototypes.TABLE,
        Path(generate.__file__),
        Path(one_sided.__file__),
        *shmem.NATIVE.glob("*.*"),
        shmem_functions.TABLE,
        Path(shmem_functions.__file__),
    ]
    files += PROGRAMS.rglob("*.[ch]")
    reaches_files = recorder.IO_FILES if io else ()
    key = cache.key_of(sorted(files), [*_OPTIONS, *_LINKING, *reaches_files, *sorted(names | others)])
    version = re.sub(r"[^\w.]", "_", target.version)
    folder = cache.cache_directory() / f"pmpi-{target.abi}-{version}-{key}"
    path = folder / "liblogpost_pmpi.so"
    if path.exists():
        return path
    if re.search(r"[\s:]", str(path)):
        raise InputError(f"LD_PRELOAD cannot name {path}: set XDG_CACHE_HOME to a path without spaces and colons")
    say(f"building the interposer for {target} (once, within seconds)")

    def make(place: Path) -> None:
        complaint = f"the interposer for {target} does not compile"
        includes = [f"-I{folder}" for folder in (SOURCES, recorder.NATIVE, *(PROGRAMS / name for name in PARTS))]
        compiler = [*cache.c_compiler(), *_OPTIONS, *target.includes, *includes]
        with tempfile.TemporaryDirectory(dir=place.parent) as name:
            scratch = Path(name)
            (scratch / "wrappers.c").write_text(generate.wrappers(names))
            (scratch / "coarray_functions.h").write_text(coarray.header(len(prototypes.functions()) + 1))
            parts = [
                _Part("wrappers", [scratch / "wrappers.c"], ["-O1"]),  # they are calls and little else
                _Part(
                    "calibration",
                    [*(SOURCES / one for one in _CALIBRATION), *(PROGRAMS / one for one in _SHARED)],
                    ["-include", "calls.h"],
                ),
                _Part(
                    "rest",
                    [
                        *(SOURCES / one for one in _FILES),
                        *(recorder.NATIVE / one for one in (*recorder.FILES, *reaches_files)),
                        *coarray.NATIVE.glob("*.c"),
                    ],
                    [f"-I{scratch}"],
                ),
            ]
            if others:
                text = shmem_functions.wrappers(others, prototypes.first_of_shmem())
                (scratch / "shmem_wrappers.c").write_text(text)
                includes = [f"-I{shmem.NATIVE}"]
                parts.append(_Part("shmem_wrappers", [scratch / "shmem_wrappers.c"], [*includes, "-O1"]))
                parts.append(_Part("shmem", sorted(shmem.NATIVE.glob("*.c")), includes))
            objects = _compile(compiler, parts, scratch, complaint)
            command = [*cache.c_compiler(), *_LINKING, "-o", str(place / path.name), *objects]
            command += [f"-Wl,--version-script={SOURCES / 'export.map'}", "-ldl", "-lpthread", "-lm"]
            cache.run_compiler(command, complaint)

    return cache.kept(folder, make) / path.name


@dataclass(frozen=True)
class _Part:
    """C files that become one object, and their compiler options."""

    name: str
    sources: Sequence[Path]
    options: Sequence[str]


def _compile(compiler: Sequence[str], parts: Sequence[_Part], folder: Path, complaint: str) -> list[str]:
    """Compile parts at the same time, the longest first. Their objects."""

    def compile_one(part: _Part) -> str:
        made = str(folder / f"{part.name}.o")
        command = [*compiler, *part.options, "-r", "-nostdlib", "-o", made, *map(str, part.sources)]
        cache.run_compiler(command, complaint)
        return made

    with ThreadPoolExecutor() as pool:
        return list(pool.map(compile_one, parts))
