"""The interposer for one MPI: compiled when it is first needed, then kept in the cache.

The cache key is binary interface, version, exported names and the sources' hash, so an update of either side makes a
new file and never a stale one. The library is linked to no MPI.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from logpost.collectors import build as cache
from logpost.collectors import coarray, mpi, recorder, shmem
from logpost.collectors.calibration.build import PARTS, PROGRAMS
from logpost.collectors.pmpi import generate, one_sided
from logpost.collectors.shmem import generate as shmem_functions
from logpost.errors import InputError

SOURCES = Path(__file__).parent / "native"
_FILES = ("resolve.c", "comm.c", "layout.c", "runtime.c", "windows.c")
_CALIBRATION = ("calibrate.c", "quick.c")
"""Compiled like the parts of the calibration programs that they share: with calls.h in front."""
_SHARED = (
    "harness/clock.c",
    "harness/measuring.c",
    "harness/output.c",
    "harness/place.c",
    "harness/statistics.c",
    "timed/late.c",
    "timed/message.c",
    "timed/requests.c",
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


_LINKING = ("-shared", "-static-libgcc")  # the unwinder: no library that the program does not have


def exported_names(library: Path | None, includes: tuple[str, ...]) -> frozenset[str]:
    """Return the MPI functions that a library defines; without one, those that its mpi.h declares."""
    known = {f.name for f in generate.functions()}
    if library is not None and shutil.which("nm"):
        done = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=False)
        names = {line.split()[-1].partition("@")[0] for line in done.stdout.splitlines() if line.strip()}
        if "PMPI_Init" in names or "MPI_Init" in names:
            return frozenset(n for n in known if n in names or f"P{n}" in names)
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "probe.c"
        source.write_text("#include <mpi.h>\n")
        command = [*cache.c_compiler(), "-E", "-P", *includes, str(source)]
        text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return frozenset(known & set(re.findall(r"\b(MPI_\w+)\s*\(", text)))


def build(target: mpi.Mpi, say: Callable[[str], None] = lambda text: None) -> Path:
    """Return the interposer for an MPI, and the OpenSHMEM that it brings, compiling it when the cache has none.

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
        generate.TABLE,
        Path(generate.__file__),
        Path(one_sided.__file__),
        *shmem.NATIVE.glob("*.*"),
        shmem_functions.TABLE,
        Path(shmem_functions.__file__),
    ]
    files += PROGRAMS.rglob("*.[ch]")
    key = cache.key_of(sorted(files), [*_OPTIONS, *_LINKING, *sorted(names | others)])
    version = re.sub(r"[^\w.]", "_", target.version)
    folder = cache.cache_directory() / f"pmpi-{target.abi}-{version}-{key}"
    path = folder / "liblogpost_pmpi.so"
    if path.exists():
        return path
    if re.search(r"[\s:]", str(path)):
        raise InputError(f"LD_PRELOAD cannot name {path}: set XDG_CACHE_HOME to a path without spaces and colons")
    say(f"building the interposer for {target} (once, takes seconds)")

    def make(place: Path) -> None:
        complaint = f"the interposer for {target} does not compile"
        includes = [f"-I{folder}" for folder in (SOURCES, recorder.NATIVE, *(PROGRAMS / name for name in PARTS))]
        compiler = [*cache.c_compiler(), *_OPTIONS, *target.includes, *includes]
        with tempfile.TemporaryDirectory(dir=place.parent) as scratch:
            calibration = Path(scratch) / "calibration.o"
            sources = [*(SOURCES / name for name in _CALIBRATION), *(PROGRAMS / name for name in _SHARED)]
            _compile_together(compiler, ["-include", "calls.h"], sources, calibration, complaint)
            texts: dict[str, tuple[str, list[str]]] = {"wrappers.c": (generate.wrappers(names), [])}
            (Path(scratch) / "coarray_functions.h").write_text(coarray.header(len(generate.functions()) + 1))
            command = [*compiler, *_LINKING, "-o", str(place / path.name), str(calibration)]
            command += [f"-I{scratch}", *map(str, sorted(coarray.NATIVE.glob("*.c")))]
            if others:
                text = shmem_functions.wrappers(others, generate.first_of_shmem())
                texts["shmem_wrappers.c"] = (text, [f"-I{shmem.NATIVE}", "-O1"])  # they are calls and little else
                command += [f"-I{shmem.NATIVE}", *map(str, sorted(shmem.NATIVE.glob("*.c")))]
            command += _compile_beside(compiler, texts, Path(scratch), complaint)
            command += [*(str(SOURCES / name) for name in _FILES), *(str(recorder.NATIVE / n) for n in recorder.FILES)]
            command += [f"-Wl,--version-script={SOURCES / 'export.map'}", "-ldl", "-lpthread", "-lm"]
            cache.run_compiler(command, complaint)

    return cache.kept(folder, make) / path.name


def _compile_beside(
    compiler: Sequence[str], texts: dict[str, tuple[str, list[str]]], folder: Path, complaint: str
) -> list[str]:
    """Compile C texts, each with options of its own, at the same time: wrappers take long. Their objects."""

    def compile_one(name: str) -> str:
        source, (text, options) = folder / name, texts[name]
        source.write_text(text)
        cache.run_compiler([*compiler, *options, "-c", "-o", f"{source}.o", str(source)], complaint)
        return f"{source}.o"

    with ThreadPoolExecutor() as pool:
        return list(pool.map(compile_one, texts))


def _compile_together(
    compiler: Sequence[str], options: Sequence[str], sources: Sequence[Path], target: Path, complaint: str
) -> None:
    """Compile C files into one object."""
    parts = []
    for source in sources:
        parts.append(str(target.with_name(f"{source.stem}.o")))
        cache.run_compiler([*compiler, *options, "-c", "-o", parts[-1], str(source)], complaint)
    cache.run_compiler([*cache.c_compiler(), "-r", "-nostdlib", "-o", str(target), *parts], complaint)
